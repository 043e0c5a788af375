package unit

import (
	"context"
	"time"

	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/node/record"
)

const (
	// sweepKeys is how many keys of one cache a unit's lock is held for at most.
	sweepKeys = 64
	// sweepShare bounds the part of the time that is spent sweeping: one in
	// sweepShare, as much as Redis gives its own cycle.
	sweepShare = 4
)

// sweep deletes entries whose deadline has passed though nobody asks for them. It
// reads the deadline index, a bucket a second, and gives up when its share of the
// interval is used; the next round goes on where it stopped, so that no unit
// starves while others have much to expire.
func (s *Set) sweep(ctx context.Context) {
	until := time.Now().Add(s.config.SweepInterval / sweepShare)
	table := s.table.Load()
	for range table.Caches {
		cache := &table.Caches[s.sweeper.cache%len(table.Caches)]
		totals := s.Totals(cache.ID)
		if totals != nil && totals.Deadlines.Load() > 0 && !s.sweepCache(ctx, table, cache, until) {
			return
		}
		s.sweeper.cache++
	}
}

// sweeper is where the sweeper goes on; its goroutine owns it.
type sweeper struct{ cache, partition int }

// sweepCache looks at all units and tells whether it had the time to.
func (s *Set) sweepCache(ctx context.Context, table *topology.Table, cache *topology.Cache, until time.Time) bool {
	held := (*s.groups.Load())[cache.Group]
	for range held {
		u := held[s.sweeper.partition%len(held)]
		for u.deadlines(cache.ID) > 0 && s.sweepUnit(table, u, cache.ID) == sweepKeys {
			if time.Now().After(until) || ctx.Err() != nil {
				s.sweeper.partition++
				return false
			}
		}
		s.sweeper.partition++
	}
	return true
}

// deadlines is how many entries with a deadline a unit has of a cache.
func (u *Unit) deadlines(id topology.CacheID) int64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.counter(id).Deadlines
}

// sweepUnit deletes up to sweepKeys due entries and returns how many it looked at.
func (s *Set) sweepUnit(table *topology.Table, u *Unit, id topology.CacheID) int {
	due, err := s.due(u, id)
	if err != nil {
		s.config.Logger.Error("cannot read the deadline index", "partition", u.partition, "error", err)
		return 0
	}
	if len(due) == 0 {
		return 0
	}
	t := s.Begin(table)
	defer t.End()
	if err := t.Acquire(u); err != nil {
		return 0
	}
	t.StartWrite()
	for i := range due {
		t.lookup(&due[i], false)
	}
	if err = t.FinishWrite(); err == nil {
		err = t.Commit()
	}
	if err != nil {
		s.config.Logger.Error("cannot delete expired entries", "partition", u.partition, "error", err)
	}
	return len(due)
}

// due lists keys in buckets that have passed entirely.
func (s *Set) due(u *Unit, id topology.CacheID) ([]record.Key, error) {
	second := (s.Now() - 1) / 1000
	iter, err := s.stack.NewIter(
		record.AppendDeadlineBound(nil, id, u.partition, 0),
		record.AppendDeadlineBound(nil, id, u.partition, (second+1)*1000))
	if err != nil {
		return nil, err
	}
	var keys []record.Key
	for ok := iter.First(); ok && len(keys) < sweepKeys; ok = iter.Next() {
		row := append([]byte(nil), iter.Key()...)
		if key, valid := record.ParseDeadline(row); valid {
			keys = append(keys, key)
		}
	}
	return keys, iter.Close()
}
