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
// interval is used; the next round goes on with the oldest buckets.
func (s *Set) sweep(ctx context.Context) {
	until := time.Now().Add(s.config.SweepInterval / sweepShare)
	table := s.table.Load()
	for i := range table.Caches {
		cache := &table.Caches[i]
		if totals := s.Totals(cache.ID); totals != nil && totals.Deadlines.Load() > 0 {
			s.sweepCache(ctx, table, cache, until)
		}
	}
}

func (s *Set) sweepCache(ctx context.Context, table *topology.Table, cache *topology.Cache, until time.Time) {
	for _, u := range (*s.groups.Load())[cache.Group] {
		for u.deadlines(cache.ID) > 0 && s.sweepUnit(table, u, cache.ID) == sweepKeys {
			if time.Now().After(until) || ctx.Err() != nil {
				return
			}
		}
	}
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
