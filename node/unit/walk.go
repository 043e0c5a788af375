package unit

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/node/record"
	"github.com/tiergrid/tiergrid/tiers"
)

// walkRows bounds how many rows one iterator visits: it pins memory and disk
// space while it is open.
const walkRows = 4096

// Cursors: slot and hash of the first key to visit, in one number of 53 bits.
func cursorOf(slot uint16, hash uint64) uint64 { return uint64(slot)<<record.HashBits | hash }

func splitCursor(cursor uint64) (slot int, hash uint64) {
	return int(cursor >> record.HashBits), cursor & (1<<record.HashBits - 1)
}

// endCursor is behind the last key.
const endCursor = topology.Slots << record.HashBits

type visitFunc = func(name []byte, h *record.Head) bool

// Walk implements exec.View.
func (t *Txn) Walk(cache topology.CacheID, cursor uint64, visit visitFunc) uint64 {
	defer t.waitForAll(cache)
	w := walk{txn: t, cache: cache, visit: visit, changes: t.changesOf(cache)}
	for !w.stopped && cursor < endCursor && t.command.err == nil {
		cursor = w.slice(cursor)
	}
	if cursor >= endCursor || t.command.err != nil {
		return 0
	}
	return cursor
}

// changesOf returns the pending changes of a cache, in walking order, the last
// one of each key only.
func (t *Txn) changesOf(cache topology.CacheID) []pendingEntry {
	var list []pendingEntry
	for i := range t.pending.list {
		e := &t.pending.list[i]
		switch {
		case e.cache != cache:
		case e.cleared:
			list = append(list[:0], *e)
		default:
			list = append(list, *e)
		}
	}
	slices.SortStableFunc(list, func(a, b pendingEntry) int {
		if a.cleared != b.cleared {
			return cmp.Compare(boolInt(b.cleared), boolInt(a.cleared))
		}
		return compareKeys(&a, b.slot, b.hash, b.name)
	})
	last := list[:0]
	for i := range list {
		if n := len(last); n > 0 && !last[n-1].cleared && compareKeys(&last[n-1], list[i].slot, list[i].hash, list[i].name) == 0 {
			last[n-1] = list[i]
			continue
		}
		last = append(last, list[i])
	}
	return last
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func compareKeys(e *pendingEntry, slot uint16, hash uint64, name []byte) int {
	return cmp.Or(cmp.Compare(e.slot, slot), cmp.Compare(e.hash, hash), bytes.Compare(e.name, name))
}

// walk is one walk over a cache: the rows of the store with the pending changes
// of the Txn merged in.
type walk struct {
	txn     *Txn
	cache   topology.CacheID
	visit   visitFunc
	changes []pendingEntry
	cleared bool

	group   uint64 // cursor of the keys being visited
	stop    bool   // visit has asked to stop after this group
	stopped bool
}

// slice walks from a cursor with one iterator and returns where to go on.
func (w *walk) slice(cursor uint64) uint64 {
	slot, hash := splitCursor(cursor)
	lower := record.AppendHashBound(nil, w.cache, slot, hash)
	upper := record.AppendSlotBound(nil, record.SpaceHead, w.cache, topology.Slots)
	iter, err := w.txn.set.stack.NewIter(lower, upper)
	if err != nil {
		w.txn.fail(fmt.Errorf("walk over a cache: %w", err))
		return endCursor
	}
	w.seek(cursor)
	next := w.rows(iter, cursor)
	if err := iter.Close(); err != nil {
		w.txn.fail(fmt.Errorf("walk over a cache: %w", err))
	}
	return next
}

// seek drops the changes before a cursor.
func (w *walk) seek(cursor uint64) {
	if len(w.changes) > 0 && w.changes[0].cleared {
		w.cleared = true
		w.changes = w.changes[1:]
	}
	for len(w.changes) > 0 && cursorOf(w.changes[0].slot, w.changes[0].hash) < cursor {
		w.changes = w.changes[1:]
	}
}

// rows visits rows and changes in one order until a group ends that was asked to
// be the last one, or walkRows are visited and a group ends.
func (w *walk) rows(iter tiers.Iter, cursor uint64) uint64 {
	w.group = cursor
	visited := 0
	for ok := iter.First() && !w.cleared; ok || len(w.changes) > 0; {
		var key record.Key
		if ok {
			key, _ = record.ParseHead(iter.Key())
		}
		order := -1
		if ok && len(w.changes) > 0 {
			order = compareKeys(&w.changes[0], key.Slot, key.Hash, key.Name)
		} else if ok {
			order = 1
		}
		if order <= 0 {
			key = w.changes[0].key()
		}
		if at := cursorOf(key.Slot, key.Hash); at != w.group {
			if w.stop || visited >= walkRows {
				w.stopped = w.stop
				return at
			}
			w.group = at
		}
		visited++
		if order <= 0 {
			w.change()
		} else {
			w.row(iter, &key)
		}
		if order >= 0 {
			ok = iter.Next()
		}
	}
	return endCursor
}

func (w *walk) change() {
	e := &w.changes[0]
	if e.present && !e.head.Expired(w.txn.command.now) {
		w.show(e.name, &e.head)
	}
	w.changes = w.changes[1:]
}

func (w *walk) row(iter tiers.Iter, key *record.Key) {
	value, err := iter.Value()
	if err == nil {
		var head record.Head
		if head, _, err = record.ParseHeadRow(value); err == nil {
			if !head.Expired(w.txn.command.now) {
				w.show(key.Name, &head)
			}
			return
		}
	}
	w.txn.fail(fmt.Errorf("walk over a cache: %w", err))
	w.stop = true
}

func (w *walk) show(name []byte, h *record.Head) {
	if !w.visit(name, h) {
		w.stop = true
	}
}

// Random implements exec.View: the first entry behind a random point in the order
// of (slot, hash). It favours entries behind gaps, by little, as hashes are
// spread evenly.
func (t *Txn) Random(cache topology.CacheID) ([]byte, bool) {
	var name []byte
	found := false
	take := func(n []byte, _ *record.Head) bool {
		name, found = t.arena.copy(n), true
		return false
	}
	start := rand.Uint64N(endCursor)
	t.Walk(cache, start, take)
	if !found && t.command.err == nil {
		t.Walk(cache, 0, take)
	}
	return name, found
}
