package resp

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
)

// reluctant takes a random part of what is written to it, sometimes nothing.
type reluctant struct {
	got    bytes.Buffer
	random *rand.Rand
	broken error
}

func (r *reluctant) TryWrite(p []byte) (int, error) { return r.TryWriteBuffers([][]byte{p}) }

func (r *reluctant) TryWriteBuffers(pieces [][]byte) (int, error) {
	if r.broken != nil {
		return 0, r.broken
	}
	all := bytes.Join(pieces, nil)
	n := len(all)
	switch r.random.IntN(4) {
	case 0:
		n = 0
	case 1, 2:
		n = r.random.IntN(len(all) + 1)
	}
	r.got.Write(all[:n])
	return n, nil
}

func (r *reluctant) WriteBuffers(pieces [][]byte) (int64, error) {
	n, err := r.Write(bytes.Join(pieces, nil))
	return int64(n), err
}

func (r *reluctant) Write(p []byte) (int, error) {
	if r.broken != nil {
		return 0, r.broken
	}
	return r.got.Write(p)
}

// TestNonblocking: whatever a destination takes when, it gets everything once and in
// order, and what was counted as written is what it has.
func TestNonblocking(t *testing.T) {
	count, _ := BuffersInUse()
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 1))
		dst := &reluctant{random: random}
		w := NewWriter(dst, 2)
		var want bytes.Buffer
		bulk := func(size int) []byte {
			b := bytes.Repeat([]byte{byte('a' + random.IntN(26))}, size)
			fmt.Fprintf(&want, "$%d\r\n%s\r\n", size, b)
			return b
		}
		for range 40 {
			switch random.IntN(6) {
			case 0:
				w.Status("OK")
				want.WriteString("+OK\r\n")
			case 1:
				w.Bulk(bulk(random.IntN(40_000)))
			case 2:
				buf := GetBuffer(random.IntN(40_000))
				buf.B = append(buf.B, bulk(cap(buf.B))...)
				w.BulkOwned(buf.B, buf)
			case 3:
				payload := bulk(random.IntN(200_000))
				w.BulkNow(payload)
				clear(payload) // it may not be kept
			case 4:
				mark := w.Mark()
				w.Bulk(make([]byte, random.IntN(40_000)))
				if !w.Truncate(mark) {
					t.Fatalf("seed %d: nothing was written, and truncating failed", seed)
				}
			default:
				if all, err := w.TryFlush(); err != nil || all != (w.Pending() == 0) {
					t.Fatalf("seed %d: TryFlush: %v, %v with %d bytes left", seed, all, err, w.Pending())
				}
			}
			if w.Written() != int64(dst.got.Len()) || w.Pending() != want.Len()-dst.got.Len() {
				t.Fatalf("seed %d: %d written and %d pending of %d, of which %d have come",
					seed, w.Written(), w.Pending(), want.Len(), dst.got.Len())
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(dst.got.Bytes(), want.Bytes()) {
			t.Fatalf("seed %d: the output differs", seed)
		}
	}
	if left, _ := BuffersInUse(); left != count {
		t.Errorf("%d buffers are still in use", left-count)
	}
}

// TestNonblockingBreaks: after an error nothing is written any more, and all memory is
// given back.
func TestNonblockingBreaks(t *testing.T) {
	count, _ := BuffersInUse()
	broken := errors.New("broken")
	for name, write := range map[string]func(w *Writer) error{
		"TryFlush": func(w *Writer) error {
			w.Bulk(make([]byte, 20_000))
			_, err := w.TryFlush()
			return err
		},
		"BulkNow": func(w *Writer) error {
			w.BulkNow(make([]byte, 20_000))
			return w.Err()
		},
	} {
		dst := &reluctant{broken: broken}
		w := NewWriter(dst, 2)
		w.Bulk(make([]byte, 30_000))
		if err := write(w); !errors.Is(err, broken) {
			t.Errorf("%s: %v, want the error of the destination", name, err)
		}
		dst.broken = nil
		w.Bulk(make([]byte, 30_000))
		if all, err := w.TryFlush(); !all || err == nil || dst.got.Len() > 0 || w.CanSend() {
			t.Errorf("%s: afterwards %v, %v, %d bytes have come", name, all, err, dst.got.Len())
		}
	}
	if left, _ := BuffersInUse(); left != count {
		t.Errorf("%d buffers are still in use", left-count)
	}
}
