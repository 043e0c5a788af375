package unit

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/tiergrid/tiergrid/node/record"
)

// TestTheDeadlinesMillisecondDecides: an entry lives in that of its deadline and
// is gone in the next.
func TestTheDeadlinesMillisecondDecides(t *testing.T) {
	s := fresh(t)
	s.put("k", "v", 1_000_500)
	for now, want := range map[int64]bool{1_000_499: true, 1_000_500: true} {
		s.clock.Store(now)
		if _, found := s.get("k"); found != want {
			t.Errorf("at %d it is there: %v", now, found)
		}
	}
	s.clock.Store(1_000_501)
	if _, found := s.get("k"); found {
		t.Error("it outlives its deadline")
	}
}

// TestGoneMeansDeleted: before a key is answered as gone its delete is ordered
// (R23). A reader without locks may not answer at all.
func TestGoneMeansDeleted(t *testing.T) {
	s := fresh(t)
	s.put("k", "v", 1_000_001)
	s.clock.Store(1_000_002)
	txn := s.Begin(s.table.Load())
	key := keyOf("k")
	txn.StartRead()
	if _, found := txn.Head(&key); found {
		t.Error("an expired key is there")
	}
	if ok, err := txn.FinishRead(); ok || err != nil {
		t.Errorf("a reader without locks may answer: %v, %v", ok, err)
	}
	txn.End()
	if s.rows(record.SpaceHead) != 1 {
		t.Error("a reader without locks has deleted the key")
	}
	version := s.unitOf("k").version
	if _, found := s.get("k"); found {
		t.Error("an expired key is there")
	}
	if s.rows(record.SpaceHead)+s.rows(record.SpaceDeadline) != 0 || s.unitOf("k").version != version+1 {
		t.Error("the delete was not ordered")
	}
	if s.Counts().Expired != 1 {
		t.Errorf("%d keys are counted as expired", s.Counts().Expired)
	}
}

func (s *subject) unitOf(name string) *Unit {
	txn := s.Begin(s.table.Load())
	defer txn.End()
	key := keyOf(name)
	return txn.UnitOf(&key)
}

// TestAClockThatWasSetBackIsTold: the units' time waits for it (R23).
func TestAClockThatWasSetBackIsTold(t *testing.T) {
	s := fresh(t)
	s.Now()
	if ahead := s.Counts().Ahead; ahead != 0 {
		t.Errorf("%v ahead of a clock that goes on", ahead)
	}
	s.clock.Add(-3_000)
	if ahead := s.Counts().Ahead; ahead != 3*time.Second {
		t.Errorf("%v ahead of a clock that was set back by 3 s", ahead)
	}
}

// TestTimeNeverFalls: a clock that is set back changes nothing, not even after a
// crash as far as a mutation has told the time (R23).
func TestTimeNeverFalls(t *testing.T) {
	s := fresh(t)
	s.clock.Store(2_000_000)
	s.put("k", "v", 0)
	s.clock.Store(1_500_000)
	if got := s.Now(); got != 2_000_000 {
		t.Errorf("now is %d", got)
	}
	if err := s.stack.Sync(); err != nil {
		t.Fatal(err)
	}
	crashed := s.again(true)
	defer crashed.close()
	if got := crashed.Now(); got != 2_000_000 {
		t.Errorf("after the crash now is %d", got)
	}
}

// TestTheSweeperDeletesWhatNobodyAsksFor: more than one slice of a unit, and
// nothing that is not due.
func TestTheSweeperDeletesWhatNobodyAsksFor(t *testing.T) {
	s := fresh(t)
	s.config.SweepInterval = 1 << 40 // its share of the time is not what is tested
	const due = 3*sweepKeys + 5
	for i := range due {
		s.put(fmt.Sprint("{tag}", i), "v", 1_000_001+int64(i))
	}
	s.put("{tag}later", "v", 1_005_000)
	s.put("{tag}ever", "v", 0)
	s.sweep(context.Background())
	if s.Counts().Expired != 0 {
		t.Errorf("%d were deleted before their time", s.Counts().Expired)
	}
	s.clock.Store(1_002_000)
	s.sweep(context.Background())
	if got := s.Counts().Expired; got != due {
		t.Errorf("%d of %d were deleted", got, due)
	}
	totals := s.Totals(1)
	if totals.Entries.Load() != 2 || totals.Deadlines.Load() != 1 || s.rows(record.SpaceHead) != 2 || s.rows(record.SpaceDeadline) != 1 {
		t.Errorf("what is left: %d entries, %d with a deadline", totals.Entries.Load(), totals.Deadlines.Load())
	}
}

// TestTheSweeperSurvivesErrors: what it could not delete it deletes later.
func TestTheSweeperSurvivesErrors(t *testing.T) {
	s := fresh(t)
	s.put("k", "v", 1_000_001)
	s.clock.Store(1_003_000)
	s.store.fails.Store(true)
	s.sweep(context.Background())
	s.store.fails.Store(false)
	if s.rows(record.SpaceHead) != 1 || s.Totals(1).Entries.Load() != 1 {
		t.Error("a delete that failed counts")
	}
	s.sweep(context.Background())
	if s.rows(record.SpaceHead) != 0 || s.Totals(1).Entries.Load() != 0 {
		t.Error("the key is there still")
	}
}
