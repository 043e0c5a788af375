package unit

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/tiergrid/tiergrid/node/record"
)

// counted is what all units of a Set say together, and how far each has come.
type counted struct {
	versions [256]uint64
	entries  int64
}

func (s *subject) counted() counted {
	var c counted
	for i, u := range (*s.groups.Load())[1] {
		u.mu.Lock()
		c.versions[i] = u.version
		c.entries += u.counter(1).Entries
		u.mu.Unlock()
	}
	return c
}

// TestPositionsSurviveAnyCrash: positions are saved beside writers, and a crash at
// any point leaves counters that are those of the rows (I8) and versions that are
// never used again (I11).
func TestPositionsSurviveAnyCrash(t *testing.T) {
	s := fresh(t)
	stop := make(chan struct{})
	var busy sync.WaitGroup
	for i := range 3 {
		busy.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(i)))
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				name := fmt.Sprint("k", random.IntN(100))
				_ = s.write(name, func(t *Txn, k *record.Key) {
					if random.IntN(3) == 0 {
						t.Delete(k)
						return
					}
					t.Put(k, record.Head{}, []byte(name))
				})
			}
		})
	}
	busy.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				s.savePositions(context.Background())
			}
		}
	})
	for i := range 12 {
		left := s.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: []int{0, 100, 60}[i%3], RNG: rand.New(rand.NewPCG(2, uint64(i)))})
		if i%4 == 3 {
			if err := s.stack.Sync(); err != nil {
				t.Fatal(err)
			}
		}
		crashed := open(t, left, s.clock, oneCache(2))
		before := crashed.counted()
		if rows := crashed.rows(record.SpaceHead); int64(rows) != before.entries || crashed.Totals(1).Entries.Load() != before.entries {
			t.Errorf("crash %d: %d entries are counted, %d are there", i, before.entries, rows)
		}
		crashed.put("k1", "v", 0)
		if head, _ := crashed.get("k1"); head.Version != record.Version(2, 1) {
			t.Errorf("crash %d: the next version is %x", i, head.Version)
		}
		crashed.close()
	}
	close(stop)
	busy.Wait()
}

// TestSavingCutsTheJournal: it does not grow with the writes, and nothing is lost
// by the cut, nor by a save that fails.
func TestSavingCutsTheJournal(t *testing.T) {
	s := fresh(t)
	for i := range 20 {
		s.put(fmt.Sprint("k", i), "v", 0)
	}
	s.store.fails.Store(true)
	s.savePositions(context.Background())
	s.store.fails.Store(false)
	if got := s.rows(record.SpaceJournal); got != 20 {
		t.Errorf("a save that failed has left %d rows", got)
	}
	s.savePositions(context.Background())
	if got := s.rows(record.SpaceJournal); got != 0 {
		t.Errorf("the cut has left %d rows", got)
	}
	s.put("k0", "v2", 0)
	want := s.counted()
	if err := s.stack.Sync(); err != nil {
		t.Fatal(err)
	}
	crashed := s.again(true)
	if got := crashed.counted(); got != want {
		t.Errorf("after the crash there is %v, want %v", got, want)
	}
	stopped := crashed.again(false)
	defer stopped.close()
	if got := stopped.counted(); got != want {
		t.Errorf("after the stop there is %v, want %v", got, want)
	}
}

// TestAFailedBatchLeavesNoGap: a sequence exists only when its batch is applied
// (R12), and a new epoch starts anew above all older versions (I11).
func TestAFailedBatchLeavesNoGap(t *testing.T) {
	s := fresh(t)
	s.put("k", "1", 0)
	s.store.fails.Store(true)
	err := s.write("k", func(t *Txn, k *record.Key) { t.Put(k, record.Head{}, []byte("2")) })
	s.store.fails.Store(false)
	if err == nil {
		t.Error("a batch that failed was committed")
	}
	s.put("k", "3", 0)
	if head, _ := s.get("k"); head.Version != record.Version(1, 2) {
		t.Errorf("the version is %x", head.Version)
	}
	s.Adopt(oneCache(7))
	s.Adopt(oneCache(3)) // older: nothing
	s.put("k", "4", 0)
	if head, _ := s.get("k"); head.Version != record.Version(7, 1) {
		t.Errorf("the version is %x", head.Version)
	}
}
