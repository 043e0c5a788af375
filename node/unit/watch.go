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
// is dropped as soon as the key is written.
type absentWatches struct {
	tokens map[absentKey]uint64
	last   uint64
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
	if len(w.tokens) >= maxAbsentWatches {
		w.dropOldest()
	}
	w.last++
	w.tokens[key] = w.last
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

func (w *absentWatches) dropOldest() {
	var oldest absentKey
	lowest := w.last + 1
	for key, token := range w.tokens {
		if token < lowest {
			oldest, lowest = key, token
		}
	}
	delete(w.tokens, oldest)
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
