package unit

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/tiergrid/tiergrid/node/record"
)

// collide is a key whose slot and hash are chosen, as no client could.
func collide(slot uint16, hash uint64, name string) record.Key {
	return record.Key{Cache: 1, Slot: slot, Hash: hash, Name: []byte(name)}
}

// scan walks step by step, count keys at a time, and returns how often each key
// was shown. Cursors must grow and stay within 53 bits.
func scan(t interface{ Errorf(string, ...any) }, txn *Txn, count int) map[string]int {
	shown := map[string]int{}
	cursor := uint64(0)
	for {
		left := count
		next := txn.Walk(1, cursor, func(name []byte, _ *record.Head) bool {
			shown[string(name)]++
			left--
			return left > 0
		})
		if next == 0 {
			return shown
		}
		if next <= cursor || next >= 1<<53 {
			t.Errorf("cursor %x follows %x", next, cursor)
			return shown
		}
		cursor = next
	}
}

// TestWalksMergeWhatIsPending: a walk within a transaction shows what it has
// changed, each key once, and keys of one slot and hash are never divided.
func TestWalksMergeWhatIsPending(t *testing.T) {
	s := fresh(t)
	rapid.Check(t, func(r *rapid.T) {
		want := map[string]int{}
		txn := s.Begin(s.table.Load())
		defer txn.End()
		if err := txn.Acquire(txn.UnitsOf(nil, 1)...); err != nil {
			r.Fatal(err)
		}
		txn.StartWrite()
		txn.Clear(1)
		if err := txn.FinishWrite(); err != nil {
			r.Fatal(err)
		}
		change := func() {
			for range rapid.IntRange(0, 12).Draw(r, "changes") {
				n := rapid.IntRange(0, 20).Draw(r, "key")
				key := collide(uint16(n%3*7000), uint64(n%5), fmt.Sprint("k", n))
				switch rapid.IntRange(0, 9).Draw(r, "kind") {
				case 0:
					txn.Clear(1)
					clear(want)
				case 1, 2, 3:
					txn.Delete(&key)
					delete(want, string(key.Name))
				default:
					txn.Put(&key, record.Head{}, []byte("v"))
					want[string(key.Name)] = 1
				}
			}
		}
		txn.StartWrite()
		change()
		if err := txn.FinishWrite(); err != nil {
			r.Fatal(err)
		}
		if err := txn.Commit(); err != nil {
			r.Fatal(err)
		}
		if err := txn.Acquire(txn.UnitsOf(nil, 1)...); err != nil {
			r.Fatal(err)
		}
		txn.Transaction()
		txn.StartWrite()
		change()
		for _, count := range []int{1, 2, 1000} {
			if got := scan(r, txn, count); !maps.Equal(got, want) {
				r.Fatalf("a walk by %d shows %v, want %v", count, got, want)
			}
		}
		if got := txn.Entries(1); got != int64(len(want)) {
			r.Fatalf("%d entries are counted, want %d", got, len(want))
		}
		name, found := txn.Random(1)
		if found != (len(want) > 0) || found && want[string(name)] == 0 {
			r.Fatalf("a random key is %q, %v", name, found)
		}
	})
}

// TestLongWalksUseSeveralIterators: nothing is lost or shown twice where one ends.
func TestLongWalksUseSeveralIterators(t *testing.T) {
	s := fresh(t)
	const keys = 2*walkRows + 100
	txn := s.Begin(s.table.Load())
	defer txn.End()
	if err := txn.Acquire(txn.UnitsOf(nil, 1)...); err != nil {
		t.Fatal(err)
	}
	txn.StartWrite()
	for i := range keys {
		key := collide(9000, uint64(i/3), fmt.Sprint(i))
		txn.Put(&key, record.Head{}, nil)
	}
	if err := txn.FinishWrite(); err != nil {
		t.Fatal(err)
	}
	if err := txn.Commit(); err != nil {
		t.Fatal(err)
	}
	txn.StartRead()
	for _, count := range []int{keys + 1, 3000} {
		shown := scan(t, txn, count)
		for name, n := range shown {
			if n != 1 {
				t.Errorf("%s is shown %d times", name, n)
			}
		}
		if len(shown) != keys {
			t.Errorf("%d keys of %d are shown", len(shown), keys)
		}
	}
}

// TestScansShowWhatStays: a key that is there during the whole of a scan is shown,
// whatever comes and goes meanwhile.
func TestScansShowWhatStays(t *testing.T) {
	s := fresh(t)
	const stay = 200
	for i := range stay {
		s.put(fmt.Sprint("stay", i), "v", 0)
	}
	stop := make(chan struct{})
	var busy sync.WaitGroup
	busy.Go(func() {
		random := rand.New(rand.NewPCG(1, 1))
		for {
			select {
			case <-stop:
				return
			default:
			}
			s.put(fmt.Sprint("come", random.IntN(50)), "v", 0)
			_ = s.write(fmt.Sprint("come", random.IntN(50)), func(t *Txn, k *record.Key) { t.Delete(k) })
		}
	})
	txn := s.Begin(s.table.Load())
	defer txn.End()
	for range 5 {
		txn.StartRead()
		shown := scan(t, txn, 7)
		for i := range stay {
			if n := shown[fmt.Sprint("stay", i)]; n != 1 {
				t.Errorf("stay%d is shown %d times", i, n)
			}
		}
	}
	close(stop)
	busy.Wait()
}
