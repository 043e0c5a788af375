package exec

import (
	"bytes"
	"fmt"
	"slices"
	"sort"

	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/node/record"
	"github.com/tiergrid/tiergrid/node/resp"
)

// fakeView is a keyspace in a map. It checks what functions promise a View and
// panics when they break it: no change after an error was answered, heads that
// are those it gave out, bounds that lie within. What it returned is overwritten
// when the command is over, and so is what it was given, once applied.
type fakeView struct {
	table   *topology.Table
	entries map[fakeKey]*fakeEntry
	version uint64

	// Of the command that runs.
	now     int64
	out     *resp.Writer
	changes int
	window  []byte   // returned by the last Range
	lent    [][]byte // returned by Load and Range, dead after the command
	kept    []*resp.Buffer
	pending []*fakeEntry // hold memory of the command until they are applied
}

type fakeKey struct {
	cache topology.CacheID
	name  string
}

type fakeEntry struct {
	key     record.Key
	head    record.Head
	payload []byte
}

func newFakeView(table *topology.Table) *fakeView {
	return &fakeView{table: table, entries: map[fakeKey]*fakeEntry{}}
}

// begin starts a command, finish ends it.
func (v *fakeView) begin(now int64, out *resp.Writer) {
	v.now, v.out, v.changes = now, out, 0
}

// finish applies the changes and then overwrites all memory that dies. args are
// overwritten by the caller.
func (v *fakeView) finish() {
	for _, e := range v.pending {
		e.payload = bytes.Clone(e.payload)
	}
	for _, b := range v.kept {
		b.Release()
	}
	for _, b := range v.lent {
		poison(b)
	}
	v.pending, v.kept, v.lent, v.window = nil, nil, nil, nil
}

func poison(b []byte) {
	for i := range b {
		b[i] = 0xdb
	}
}

func (v *fakeView) at(k *record.Key) *fakeEntry {
	want := record.MakeKey(&v.table.HashKey, k.Cache, k.Name)
	if k.Slot != want.Slot || k.Hash != want.Hash {
		panic(fmt.Sprintf("key %q has slot %d and hash %x", k.Name, k.Slot, k.Hash))
	}
	e := v.entries[fakeKey{k.Cache, string(k.Name)}]
	if e == nil || e.head.Expired(v.now) {
		return nil
	}
	return e
}

// same returns the entry whose head h must be, apart from what may be changed.
func (v *fakeView) same(k *record.Key, h record.Head) *fakeEntry {
	e := v.at(k)
	if e == nil || e.head.Length != h.Length || e.head.Version != h.Version || e.head.Type != h.Type {
		panic(fmt.Sprintf("head %+v of key %q was not read through this view", h, k.Name))
	}
	return e
}

// change starts a change of an entry.
func (v *fakeView) change() uint64 {
	if v.out.LastError() != "" {
		panic("a change after the error " + v.out.LastError())
	}
	v.changes++
	v.version++
	return v.version
}

func (v *fakeView) Head(k *record.Key) (record.Head, bool) {
	if e := v.at(k); e != nil {
		return e.head, true
	}
	return record.Head{}, false
}

func (v *fakeView) Send(k *record.Key, _ *resp.Writer) (record.Head, Payload, bool, bool) {
	h, p, found := v.Load(k)
	return h, p, found, false
}

func (v *fakeView) Load(k *record.Key) (record.Head, Payload, bool) {
	e := v.at(k)
	if e == nil {
		return record.Head{}, Payload{}, false
	}
	if !e.head.Split() {
		return e.head, Payload{B: v.lend(e.payload)}, true
	}
	buf := resp.GetBuffer(len(e.payload))
	buf.B = append(buf.B, e.payload...)
	return e.head, Payload{B: buf.B, Buf: buf}, true
}

func (v *fakeView) lend(b []byte) []byte {
	b = bytes.Clone(b)
	v.lent = append(v.lent, b)
	return b
}

func (v *fakeView) Range(k *record.Key, h *record.Head, from, to int64) []byte {
	e := v.same(k, *h)
	if from < 0 || from > to || to > int64(len(e.payload)) {
		panic(fmt.Sprintf("range [%d, %d) of %d bytes", from, to, len(e.payload)))
	}
	poison(v.window) // it was good until now
	v.window = v.lend(e.payload[from:to])
	return v.window
}

func (v *fakeView) Alloc(n int) []byte {
	b := make([]byte, n)
	poison(b) // it is not zeroed
	return b
}

func (v *fakeView) Keep(p *Payload) {
	if p.Buf != nil {
		v.kept = append(v.kept, p.Buf)
		p.Buf = nil
		return
	}
	v.lent = slices.DeleteFunc(v.lent, func(b []byte) bool { return len(b) > 0 && len(p.B) > 0 && &b[0] == &p.B[0] })
}

func (v *fakeView) Put(k *record.Key, h record.Head, payload []byte) {
	h.Version, h.Length = v.change(), uint32(len(payload))
	if h.Expired(v.now) || len(payload) > record.MaxPayload || int64(len(payload)) > v.table.Cache(k.Cache).Policy.MaxEntrySize {
		panic(fmt.Sprintf("put of %d bytes with deadline %d", len(payload), h.Deadline))
	}
	key := *k
	key.Name = bytes.Clone(k.Name)
	e := &fakeEntry{key: key, head: h, payload: payload}
	v.entries[fakeKey{k.Cache, string(k.Name)}] = e
	v.pending = append(v.pending, e)
}

func (v *fakeView) PutHead(k *record.Key, h record.Head) {
	e := v.same(k, h)
	h.Version = v.change()
	e.head = h
}

func (v *fakeView) Patch(k *record.Key, h record.Head, at int64, data []byte) {
	e := v.same(k, h)
	end := at + int64(len(data))
	if at < 0 || len(data) == 0 || end > v.table.Cache(k.Cache).Policy.MaxEntrySize {
		panic(fmt.Sprintf("patch of %d bytes at %d", len(data), at))
	}
	e.payload = append(bytes.Clone(e.payload), make([]byte, max(0, end-int64(len(e.payload))))...)
	copy(e.payload[at:], data)
	h.Version, h.Length = v.change(), uint32(len(e.payload))
	e.head = h
}

func (v *fakeView) Delete(k *record.Key) bool {
	if v.at(k) == nil {
		return false
	}
	v.change()
	delete(v.entries, fakeKey{k.Cache, string(k.Name)})
	return true
}

// sorted returns the entries of a cache in disk order.
func (v *fakeView) sorted(cache topology.CacheID) []*fakeEntry {
	var out []*fakeEntry
	for k, e := range v.entries {
		if k.cache == cache && !e.head.Expired(v.now) {
			out = append(out, e)
		}
	}
	sort.Slice(out, func(i, j int) bool {
		if a, b := out[i].cursor(), out[j].cursor(); a != b {
			return a < b
		}
		return string(out[i].key.Name) < string(out[j].key.Name)
	})
	return out
}

func (e *fakeEntry) cursor() uint64 { return uint64(e.key.Slot)<<record.HashBits | e.key.Hash }

func (v *fakeView) Entries(cache topology.CacheID) int64 { return int64(len(v.sorted(cache))) }

func (v *fakeView) Walk(cache topology.CacheID, cursor uint64, visit func(name []byte, h *record.Head) bool) uint64 {
	name := make([]byte, 0, 64)
	stopped, last := false, uint64(0)
	for _, e := range v.sorted(cache) {
		if e.cursor() < cursor {
			continue
		}
		if stopped && e.cursor() != last {
			return e.cursor()
		}
		name = append(name[:0], e.key.Name...) // overwritten by the next one
		h := e.head
		stopped = !visit(name, &h) || stopped
		last = e.cursor()
	}
	poison(name)
	return 0
}

func (v *fakeView) Random(cache topology.CacheID) ([]byte, bool) {
	for k, e := range v.entries {
		if k.cache == cache && !e.head.Expired(v.now) {
			return v.lend([]byte(k.name)), true
		}
	}
	return nil, false
}

func (v *fakeView) Clear(cache topology.CacheID) {
	v.change()
	for k := range v.entries {
		if k.cache == cache {
			delete(v.entries, k)
		}
	}
}
