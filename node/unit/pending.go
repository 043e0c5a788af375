package unit

import (
	"bytes"

	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/node/record"
)

// pendingEntry is a change that a Txn has collected: what later commands of the
// same Txn see of the key instead of what the tiers hold.
type pendingEntry struct {
	hash  uint64
	cache topology.CacheID
	slot  uint16
	name  []byte

	cleared bool // all keys of the cache were removed; no key
	present bool
	stored  bool // the payload is the one the tiers hold
	head    record.Head
	payload []byte

	previous int32 // the entry before it of the same hash, or -1
}

// indexFrom is from how many entries on they are found through an index.
const indexFrom = 24

// pendingEntries are the changes of a Txn in order; the last one of a key counts.
type pendingEntries struct {
	list []pendingEntry
	// index has the last entry of each hash; empty below indexFrom entries.
	index map[uint64]int32
	// clears are the places of entries that clear a cache.
	clears []int32
}

func (p *pendingEntries) add(e pendingEntry) {
	if e.cleared {
		p.clears = append(p.clears, int32(len(p.list)))
	}
	p.list = append(p.list, e)
	switch n := len(p.list); {
	case n == indexFrom:
		p.reindex()
	case n > indexFrom:
		p.indexLast(n - 1)
	}
}

func (p *pendingEntries) reindex() {
	if p.index == nil {
		p.index = make(map[uint64]int32, 4*indexFrom)
	}
	for i := range p.list {
		p.indexLast(i)
	}
}

func (p *pendingEntries) indexLast(i int) {
	e := &p.list[i]
	e.previous = -1
	if before, ok := p.index[e.hash]; ok {
		e.previous = before
	}
	p.index[e.hash] = int32(i)
}

// truncate drops all but the first n entries.
func (p *pendingEntries) truncate(n int) {
	if n == len(p.list) {
		return
	}
	clear(p.list[n:])
	p.list = p.list[:n]
	for len(p.clears) > 0 && int(p.clears[len(p.clears)-1]) >= n {
		p.clears = p.clears[:len(p.clears)-1]
	}
	clear(p.index)
	if n >= indexFrom {
		p.reindex()
	}
}

// find returns the last change of a key, or nil where the Txn has none. A cleared
// cache is a change of each of its keys.
func (p *pendingEntries) find(k *record.Key) *pendingEntry {
	if len(p.list) == 0 {
		return nil
	}
	at := p.lastOf(k)
	for i := len(p.clears) - 1; i >= 0 && int(p.clears[i]) > at; i-- {
		if e := &p.list[p.clears[i]]; e.cache == k.Cache {
			return e
		}
	}
	if at < 0 {
		return nil
	}
	return &p.list[at]
}

// lastOf returns the place of the last change of the key itself, or -1.
func (p *pendingEntries) lastOf(k *record.Key) int {
	if len(p.list) < indexFrom {
		for i := len(p.list) - 1; i >= 0; i-- {
			if p.list[i].isOf(k) {
				return i
			}
		}
		return -1
	}
	i, ok := p.index[k.Hash]
	for ok && i >= 0 && !p.list[i].isOf(k) {
		i = p.list[i].previous
	}
	if !ok {
		return -1
	}
	return int(i)
}

func (e *pendingEntry) isOf(k *record.Key) bool {
	return e.hash == k.Hash && e.cache == k.Cache && !e.cleared && bytes.Equal(e.name, k.Name)
}

// key is the key that the entry is of.
func (e *pendingEntry) key() record.Key {
	return record.Key{Cache: e.cache, Slot: e.slot, Hash: e.hash, Name: e.name}
}

// unsyncedKey is a key of a batch on its way to disk.
type unsyncedKey struct {
	unit   *Unit
	hash   uint64
	before *fsync // what the key was listed for when this batch listed it
}

// keys lists what a durable commit has to list as unsynced.
func (p *pendingEntries) keys(t *Txn) []unsyncedKey {
	keys := make([]unsyncedKey, 0, len(p.list))
	for i := range p.list {
		e := &p.list[i]
		if e.cleared {
			for _, u := range t.place(e.cache).units {
				keys = append(keys, unsyncedKey{unit: u, hash: wholeUnit})
			}
			continue
		}
		k := e.key()
		keys = append(keys, unsyncedKey{unit: t.UnitOf(&k), hash: e.hash})
	}
	return keys
}
