package unit

import (
	"bytes"
	"testing"

	"github.com/tiergrid/tiergrid/node/record"
	"github.com/tiergrid/tiergrid/node/resp"
)

// TestALongPayloadIsReadInOneWindow: a command that goes over a payload window by
// window holds one window (I14), also where the Txn has changed the entry's head.
func TestALongPayloadIsReadInOneWindow(t *testing.T) {
	const length, window = 16 << 20, 250_000
	s := fresh(t)
	if err := s.write("k", func(txn *Txn, k *record.Key) {
		txn.Put(k, record.Head{}, bytes.Repeat([]byte{7}, length))
	}); err != nil {
		t.Fatal(err)
	}
	for _, changed := range []bool{false, true} {
		if err := s.write("k", func(txn *Txn, k *record.Key) {
			h, _ := txn.Head(k)
			if changed {
				h.Deadline = txn.Now() + 1_000_000
				txn.PutHead(k, h)
				h, _ = txn.Head(k)
			}
			_, before := resp.BuffersInUse()
			for from := int64(0); from+window <= length; from += window {
				b := txn.Range(k, &h, from, from+window)
				if len(b) != window || b[0] != 7 || b[window-1] != 7 {
					t.Fatalf("the window at %d is wrong", from)
				}
				if _, now := resp.BuffersInUse(); now > before+2*window {
					t.Fatalf("%d bytes are held at %d, head changed: %v", now-before, from, changed)
				}
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
}
