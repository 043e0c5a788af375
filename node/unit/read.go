package unit

import (
	"errors"
	"fmt"

	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/node/exec"
	"github.com/tiergrid/tiergrid/node/record"
	"github.com/tiergrid/tiergrid/node/resp"
)

// ErrTorn is returned for an entry whose payload rows do not fit its head.
var ErrTorn = errors.New("unit: the rows of an entry do not fit each other")

// maxBriskPayload is the longest payload that is read by a brisk Txn: to copy it
// takes time too.
const maxBriskPayload = 256 << 10

var _ exec.View = (*Txn)(nil)

// rowReader takes rows out of the stack. Its functions are bound once, so
// that a read allocates nothing.
type rowReader struct {
	onHead, onPayload, onSend func([]byte)

	txn  *Txn
	head record.Head
	// want asks for the inline payload, which goes to inline.
	want   bool
	inline []byte
	err    error

	// part of the payload: the rows read so far are appended to b, from the
	// offset skip of the next row on and up to its capacity.
	b    []byte
	skip int

	out *resp.Writer // of sendPayload
}

func (r *rowReader) bind() {
	r.onHead, r.onPayload, r.onSend = r.readHead, r.readPayload, r.sendPayload
}

func (r *rowReader) readHead(row []byte) {
	head, inline, err := record.ParseHeadRow(row)
	r.head, r.err = head, err
	if r.want && len(inline) > 0 {
		r.inline = r.txn.arena.copy(inline)
	}
}

func (r *rowReader) readPayload(row []byte) {
	row = row[min(r.skip, len(row)):]
	r.b = append(r.b, row[:min(len(row), cap(r.b)-len(r.b))]...)
}

// Head implements exec.View.
func (t *Txn) Head(k *record.Key) (record.Head, bool) {
	h, _, ok := t.lookup(k, false)
	t.countLookup(ok)
	return h, ok
}

// Load implements exec.View.
func (t *Txn) Load(k *record.Key) (record.Head, exec.Payload, bool) {
	h, inline, ok := t.lookup(k, true)
	t.countLookup(ok)
	if !ok || !h.Split() || inline != nil {
		return h, exec.Payload{B: inline}, ok
	}
	return t.loadSplit(k, h)
}

// loadSplit reads a payload that has rows of its own.
func (t *Txn) loadSplit(k *record.Key, h record.Head) (record.Head, exec.Payload, bool) {
	if t.brisk && h.Length > maxBriskPayload {
		t.command.waiting = true
		t.fail(errWaiting)
		return record.Head{}, exec.Payload{}, false
	}
	buf := resp.GetBuffer(int(h.Length))
	buf.B = t.readRange(k, &h, 0, int64(h.Length), buf.B)
	if len(buf.B) != int(h.Length) {
		buf.Release()
		return record.Head{}, exec.Payload{}, false
	}
	return h, exec.Payload{B: buf.B, Buf: buf}, true
}

// Send implements exec.View.
func (t *Txn) Send(k *record.Key, out *resp.Writer) (h record.Head, p exec.Payload, found, sent bool) {
	h, inline, found := t.lookup(k, true)
	t.countLookup(found)
	switch {
	case !found || !h.Split() || inline != nil:
		return h, exec.Payload{B: inline}, found, false
	case t.sendable(&h) && out.CanSend() && t.send(k, &h, out):
		return h, p, true, true
	}
	h, p, found = t.loadSplit(k, h)
	return h, p, found, false
}

// What is sent from where it lies: shorter payloads are cheaper to copy, and longer
// ones would keep others from the row for too long.
const (
	minSent = 16 << 10
	maxSent = 256 << 10
)

// sendable tells whether a reply may leave before its command has ended: nothing that
// was shown so far waits for a commit, and no lock is held.
func (t *Txn) sendable(h *record.Head) bool {
	return h.Type == record.TypeString && h.Length >= minSent && h.Length <= maxSent &&
		!t.command.writes && !t.command.again && len(t.held) == 0 && len(t.waits) == 0
}

// send writes the payload of a head just read to out, if the row is still of the same
// moment when it is at hand.
func (t *Txn) send(k *record.Key, h *record.Head, out *resp.Writer) bool {
	r := &t.row
	r.head, r.out = *h, out
	_, err := t.get(k.AppendPayload(t.arena.space(rowKeySize(k)), 0), r.onSend)
	r.out = nil
	if err != nil && !t.command.sent {
		t.command.waiting = false // loadSplit says what is wrong
	}
	return t.command.sent
}

func (r *rowReader) sendPayload(row []byte) {
	if len(row) == int(r.head.Length) && r.txn.unchanged() {
		r.txn.command.sent = true
		r.out.BulkNow(row)
	}
}

// Range implements exec.View.
func (t *Txn) Range(k *record.Key, h *record.Head, from, to int64) []byte {
	if from >= to {
		return nil
	}
	var b []byte
	if payload, at := t.payloadAtHand(k, h); at {
		b = payload[min(from, int64(len(payload))):min(to, int64(len(payload)))]
	} else {
		b = t.readRange(k, h, from, to, t.windowOf(int(to-from)))
	}
	if int64(len(b)) != to-from {
		return make([]byte, to-from) // the command runs again, or fails
	}
	return b
}

// payloadAtHand returns a payload that needs no row of its own to be read: one
// that is pending in this Txn, or an inline one.
func (t *Txn) payloadAtHand(k *record.Key, h *record.Head) ([]byte, bool) {
	if e := t.pending.find(k); e != nil && (!e.stored || e.payload != nil) {
		return e.payload, true
	}
	if h.Split() {
		return nil, false
	}
	_, payload, _ := t.lookup(k, true)
	return payload, true
}

// windowOf returns an empty slice with room for n bytes that is good until the
// next one: a command that goes over a long payload needs no more memory at once.
func (t *Txn) windowOf(n int) []byte {
	if t.window == nil || cap(t.window.B) < n {
		t.window.Release()
		t.window = resp.GetBuffer(n)
	}
	return t.window.B[:0:n] // readRange stops at the capacity
}

// Alloc implements exec.View.
func (t *Txn) Alloc(n int) []byte { return t.arena.alloc(n) }

// Keep implements exec.View.
func (t *Txn) Keep(p *exec.Payload) {
	t.arena.keep(p.Buf)
	p.Buf = nil
}

func (t *Txn) countLookup(ok bool) {
	if ok {
		t.command.hits++
	} else {
		t.command.misses++
	}
}

// lookup returns an entry's head, and its payload too if that is wanted and at
// hand: inline, or pending in this Txn. An entry past its deadline is absent, and
// is deleted before anyone is told so (R23).
func (t *Txn) lookup(k *record.Key, want bool) (record.Head, []byte, bool) {
	h, payload, ok := t.current(k, want)
	t.waits = t.UnitOf(k).unsynced.of(t.waits, k)
	if !ok || !h.Expired(t.command.now) {
		return h, payload, ok
	}
	if t.command.writes {
		t.remove(k, &h)
		t.set.expired.Add(1)
	} else {
		t.command.again = true
	}
	return record.Head{}, nil, false
}

// current is lookup without regard to deadlines.
func (t *Txn) current(k *record.Key, want bool) (record.Head, []byte, bool) {
	if e := t.pending.find(k); e != nil {
		return e.head, e.payload, e.present
	}
	t.observe(k)
	r := &t.row
	*r = rowReader{onHead: r.onHead, onPayload: r.onPayload, onSend: r.onSend, txn: t, want: want}
	row := k.AppendHead(t.arena.space(rowKeySize(k)))
	found, err := t.get(row, r.onHead)
	if err == nil {
		err = r.err
	}
	if err != nil {
		if err != errWaiting {
			err = fmt.Errorf("read the head of a key: %w", err)
		}
		t.fail(err)
		return record.Head{}, nil, false
	}
	return r.head, r.inline, found
}

// errWaiting ends a command of a brisk Txn that needs the store.
var errWaiting = errors.New("unit: the row is not in memory")

// get reads a row.
func (t *Txn) get(key []byte, fn func([]byte)) (bool, error) {
	if !t.brisk {
		return t.set.stack.Get(key, fn)
	}
	found, err := t.set.stack.GetMemory(key, fn)
	if err == nil && !found {
		t.command.waiting = true
		err = errWaiting
	}
	return found, err
}

// observe notes the state of a key's rows, for commands that hold no lock.
func (t *Txn) observe(k *record.Key) {
	if t.command.writes {
		return
	}
	token, quiet := t.set.stack.Observe(k.Stripe())
	if !quiet {
		t.command.again = true
	}
	t.command.observed = append(t.command.observed, token)
}

// readRange appends the bytes [from, to) of a split payload to b, which has room
// for them.
func (t *Txn) readRange(k *record.Key, h *record.Head, from, to int64, b []byte) []byte {
	length := record.ChunkLength(int64(h.Length))
	r := &t.row
	r.b = b
	key := k.AppendPayload(t.arena.space(rowKeySize(k)), 0)
	for at := from; at < to; at = from + int64(len(r.b)-len(b)) {
		chunk := at / length
		r.skip = int(at - chunk*length)
		key = record.SetChunk(key, uint32(chunk))
		before := len(r.b)
		found, err := t.get(key, r.onPayload)
		if err != nil {
			if err != errWaiting {
				err = fmt.Errorf("read the payload of a key: %w", err)
			}
			t.fail(err)
			break
		}
		if !found || len(r.b) == before {
			t.torn()
			break
		}
	}
	b, r.b = r.b, nil
	return b
}

// torn is met where payload rows are missing or short: without a lock because
// they were overwritten since the head was read, otherwise because the store is
// damaged.
func (t *Txn) torn() {
	if t.command.writes {
		t.fail(ErrTorn)
	}
	t.command.again = true
}

func (t *Txn) fail(err error) {
	if t.command.err == nil {
		t.command.err = err
	}
}

// rowKeySize is room enough for any row key of an entry.
func rowKeySize(k *record.Key) int { return record.MaxRowKeyOverhead + len(k.Name) }

// Entries implements exec.View.
func (t *Txn) Entries(cache topology.CacheID) int64 {
	n := t.place(cache).totals.Entries.Load()
	t.waitForAll(cache)
	for i := range t.held {
		for j := range t.held[i].by {
			if c := &t.held[i].by[j]; c.Cache == cache {
				n += c.Entries
			}
		}
	}
	return n
}

// waitForAll makes the replies wait for all that is on its way to disk, as they
// have looked at the whole of a cache. It comes after that look: what was applied
// before the look is listed unless it has reached the disk since.
func (t *Txn) waitForAll(cache topology.CacheID) {
	for _, u := range t.place(cache).units {
		t.waits = u.unsynced.all(t.waits)
	}
}
