package unit

import (
	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/node/record"
)

// Put implements exec.View.
func (t *Txn) Put(k *record.Key, h record.Head, payload []byte) {
	held, version := t.edit(k)
	old, _, found := t.current(k, false)
	if t.command.err != nil {
		return
	}
	h.Version, h.Length = version, uint32(len(payload))
	t.setHeadRow(k, &h, payload)
	t.setPayloadRows(k, &h, payload)
	t.dropPayloadRows(k, h.Chunks(), old.Chunks())
	t.moveDeadline(k, old.Deadline, h.Deadline)
	t.count(held, k, &old, &h, found, true)
	if !found {
		t.held[held].unit.absent.touched(k.Cache, k.Name)
	}
	t.pend(k, pendingEntry{present: true, head: h, payload: payload})
}

// PutHead implements exec.View.
func (t *Txn) PutHead(k *record.Key, h record.Head) {
	held, version := t.edit(k)
	old, payload, found := t.current(k, true)
	if !found || t.command.err != nil {
		return
	}
	stored := true
	if e := t.pending.find(k); e != nil {
		stored = e.stored
	}
	h.Version, h.Length = version, old.Length
	t.setHeadRow(k, &h, payload)
	t.moveDeadline(k, old.Deadline, h.Deadline)
	t.count(held, k, &old, &h, true, true)
	t.pend(k, pendingEntry{present: true, head: h, payload: payload, stored: stored})
}

// Patch implements exec.View. Only a payload in chunks is changed in place, and
// not within a transaction, because later commands of the same Txn could not see
// the change; so the Txn must then be committed before another command.
func (t *Txn) Patch(k *record.Key, h record.Head, at int64, data []byte) {
	length := max(int64(h.Length), at+int64(len(data)))
	if h.Length <= record.ChunkedSize || t.command.atomic || t.pending.find(k) != nil {
		t.rewrite(k, h, at, data, length)
		return
	}
	held, version := t.edit(k)
	old := h
	h.Version, h.Length = version, uint32(length)
	t.patchChunks(k, &old, at, data, length)
	if t.command.err != nil {
		return
	}
	t.setHeadRow(k, &h, nil)
	t.count(held, k, &old, &h, true, true)
	t.pend(k, pendingEntry{present: true, head: h, stored: true})
	t.command.alone = true
}

// rewrite patches by writing the whole payload anew.
func (t *Txn) rewrite(k *record.Key, h record.Head, at int64, data []byte, length int64) {
	_, p, ok := t.Load(k)
	t.Keep(&p)
	if !ok {
		return
	}
	payload := t.Alloc(int(length))
	clear(payload[copy(payload, p.B):])
	copy(payload[at:], data)
	t.Put(k, h, payload)
}

// patchChunks rewrites the chunks that change: those the data lies in, and those
// from the old end up to it.
func (t *Txn) patchChunks(k *record.Key, old *record.Head, at int64, data []byte, length int64) {
	end := at + int64(len(data))
	for chunk := min(at, int64(old.Length)) / record.ChunkSize; chunk*record.ChunkSize < end; chunk++ {
		start := chunk * record.ChunkSize
		row := t.Alloc(int(min(record.ChunkSize, length-start)))
		kept := copy(row, t.Range(k, old, start, min(start+int64(len(row)), int64(old.Length))))
		clear(row[kept:])
		from, to := max(at, start), min(end, start+int64(len(row)))
		if from < to {
			copy(row[from-start:], data[from-at:to-at])
		}
		t.ops.Set(k.AppendPayload(t.arena.space(rowKeySize(k)), uint32(chunk)), row)
	}
}

// Delete implements exec.View.
func (t *Txn) Delete(k *record.Key) bool {
	h, _, ok := t.lookup(k, false)
	if ok && t.command.err == nil {
		t.remove(k, &h)
	}
	return ok
}

// remove deletes all rows of an entry whose head is h.
func (t *Txn) remove(k *record.Key, h *record.Head) {
	held, _ := t.edit(k)
	t.ops.Delete(k.AppendHead(t.arena.space(rowKeySize(k))))
	t.dropPayloadRows(k, 0, h.Chunks())
	t.moveDeadline(k, h.Deadline, 0)
	t.count(held, k, h, nil, true, false)
	t.pend(k, pendingEntry{})
}

func (t *Txn) pend(k *record.Key, e pendingEntry) {
	e.cache, e.slot, e.hash, e.name = k.Cache, k.Slot, k.Hash, k.Name
	t.pending.add(e)
}

func (t *Txn) setHeadRow(k *record.Key, h *record.Head, payload []byte) {
	if h.Split() {
		payload = nil
	}
	row := record.AppendHead(t.arena.space(record.HeadSize+len(payload)), h)
	t.ops.Set(k.AppendHead(t.arena.space(rowKeySize(k))), append(row, payload...))
}

func (t *Txn) setPayloadRows(k *record.Key, h *record.Head, payload []byte) {
	length := int(record.ChunkLength(int64(len(payload))))
	for chunk := range h.Chunks() {
		part := payload[:min(length, len(payload))]
		t.ops.Set(k.AppendPayload(t.arena.space(rowKeySize(k)), chunk), part)
		payload = payload[len(part):]
	}
}

// dropPayloadRows deletes the rows of a payload in had chunks that one in has
// chunks does not overwrite.
func (t *Txn) dropPayloadRows(k *record.Key, has, had uint32) {
	for chunk := has; chunk < had; chunk++ {
		t.ops.Delete(k.AppendPayload(t.arena.space(rowKeySize(k)), chunk))
	}
}

// moveDeadline keeps the deadline index, which the sweeper reads.
func (t *Txn) moveDeadline(k *record.Key, old, deadline int64) {
	if old == deadline {
		return
	}
	if old != 0 {
		t.ops.DeleteBelow(k.AppendDeadline(t.arena.space(rowKeySize(k)), old))
	}
	if deadline != 0 {
		t.ops.SetBelow(k.AppendDeadline(t.arena.space(rowKeySize(k)), deadline), nil)
	}
}

// count notes how the counters change when an entry goes from one head to another.
func (t *Txn) count(held int, k *record.Key, old, h *record.Head, was, is bool) {
	var by record.Counters
	if was {
		c := countersOf(k, old)
		by.Add(&c, -1)
	}
	if is {
		c := countersOf(k, h)
		by.Add(&c, 1)
	}
	if by == (record.Counters{}) {
		return
	}
	t.countDelta(delta{held: held, cache: k.Cache, by: by})
}

func (t *Txn) countDelta(d delta) {
	t.held[d.held].add(d.cache, &d.by, 1)
	t.command.deltas = append(t.command.deltas, d)
}

// countersOf is what one entry counts for.
func countersOf(k *record.Key, h *record.Head) record.Counters {
	c := record.Counters{Entries: 1, Bytes: int64(len(k.Name)) + int64(h.Length)}
	if h.Deadline != 0 {
		c.Deadlines = 1
	}
	return c
}

// Clear implements exec.View. All units of the cache must be held. What is
// pending for the cache stays in the batch before the ranges, which remove it.
func (t *Txn) Clear(cache topology.CacheID) {
	place := t.place(cache)
	for _, u := range place.units {
		i := t.holds(u)
		if i < 0 {
			panic("unit: a cache is cleared whose units are not held")
		}
		t.clearUnit(i, cache)
	}
	t.pending.add(pendingEntry{cache: cache, cleared: true})
}

func (t *Txn) clearUnit(i int, cache topology.CacheID) {
	h := &t.held[i]
	counters := *h.unit.counter(cache)
	for j := range h.by {
		if h.by[j].Cache == cache {
			counters.Add(&h.by[j].Counters, 1)
		}
	}
	if counters.Entries == 0 && !t.pendingIn(h.unit, cache) {
		return
	}
	any := record.Key{Cache: cache, Slot: h.unit.partition * topology.SlotsPerPartition}
	t.edit(&any)
	first := int(any.Slot)
	for _, space := range [...]byte{record.SpaceHead, record.SpacePayload} {
		t.ops.DeleteRange(
			record.AppendSlotBound(t.arena.space(8), space, cache, first),
			record.AppendSlotBound(t.arena.space(8), space, cache, first+topology.SlotsPerPartition))
	}
	from := record.AppendDeadlineBound(t.arena.space(16), cache, h.unit.partition, 0)
	to := record.AppendPartitionEnd(t.arena.space(16), cache, h.unit.partition)
	t.ops.DeleteRangeBelow(from, to)
	var by record.Counters
	by.Add(&counters, -1)
	t.countDelta(delta{held: i, cache: cache, by: by})
}

// pendingIn tells whether the Txn has changes of a cache in a unit.
func (t *Txn) pendingIn(u *Unit, cache topology.CacheID) bool {
	for i := range t.pending.list {
		e := &t.pending.list[i]
		if e.cache == cache && !e.cleared && topology.Partition(e.slot) == u.partition {
			return true
		}
	}
	return false
}
