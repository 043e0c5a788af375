package unit

import (
	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/node/record"
)

// maxAbsentWatches bounds the registrations of one unit.
const maxAbsentWatches = 1024

type absentKey struct {
	cache topology.CacheID
	name  string
}

// absentWatches are the absent keys that sessions watch (R24): an absent key has
// no version to compare, so it is registered under a token, and the registration
// is dropped as soon as the key is written. Nobody takes a registration back: those
// that are not needed any more are pushed out by newer ones.
type absentWatches struct {
	tokens map[absentKey]uint64
	last   uint64
	// order has the registrations from the oldest to the newest, and some that
	// were dropped since.
	order []registration
}

type registration struct {
	key   absentKey
	token uint64
}

// register returns the token of an absent key.
func (w *absentWatches) register(cache topology.CacheID, name []byte) uint64 {
	key := absentKey{cache, string(name)}
	if token, ok := w.tokens[key]; ok {
		return token
	}
	if w.tokens == nil {
		w.tokens = make(map[absentKey]uint64)
	}
	w.last++
	w.tokens[key] = w.last
	w.order = append(w.order, registration{key, w.last})
	for len(w.tokens) > maxAbsentWatches || len(w.order) > 2*maxAbsentWatches {
		w.dropOldest()
	}
	return w.last
}

// holds tells whether the key was untouched since it was registered.
func (w *absentWatches) holds(cache topology.CacheID, name []byte, token uint64) bool {
	return w.tokens[absentKey{cache, string(name)}] == token
}

// touched forgets a key that is being written.
func (w *absentWatches) touched(cache topology.CacheID, name []byte) {
	if len(w.tokens) > 0 {
		delete(w.tokens, absentKey{cache, string(name)})
	}
}

// dropOldest forgets the oldest registration, or what is left of one.
func (w *absentWatches) dropOldest() {
	oldest := w.order[0]
	w.order[0] = registration{}
	w.order = w.order[1:]
	if w.tokens[oldest.key] == oldest.token {
		delete(w.tokens, oldest.key)
	}
}

// Watched is what EXEC compares of a watched key (R24).
type Watched struct {
	Version uint64
	Token   uint64
	Epoch   uint32
}

// Watch returns the state of a key, and registers it where it is absent. The
// key's unit must be acquired and a write started.
func (t *Txn) Watch(k *record.Key) Watched {
	u := t.UnitOf(k)
	h, ok := t.Head(k)
	w := Watched{Version: h.Version, Epoch: u.epoch.Load()}
	if !ok {
		w.Token = u.absent.register(k.Cache, k.Name)
	}
	return w
}

// Untouched tells whether a watched key is as it was, under the same conditions.
func (t *Txn) Untouched(k *record.Key, w Watched) bool {
	u := t.UnitOf(k)
	h, ok := t.Head(k)
	switch {
	case u.epoch.Load() != w.Epoch:
		return false
	case ok:
		return h.Version == w.Version
	}
	return w.Version == 0 && u.absent.holds(k.Cache, k.Name, w.Token)
}
