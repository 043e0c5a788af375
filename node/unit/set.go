package unit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/node/record"
	"github.com/tiergrid/tiergrid/tiers"
)

// Config is what a Set works on.
type Config struct {
	// Stack is the tiers that hold the rows; the Set does not close it.
	Stack *tiers.Stack
	// Table is the first table to work by.
	Table *topology.Table
	// Clock is the wall time in Unix milliseconds; nil is the system's.
	Clock func() int64
	// SweepInterval is the pause between two looks for expired entries, 0 for
	// 100 ms; negative turns the sweeper off.
	SweepInterval time.Duration
	// SaveInterval is how often position rows are brought up to date and the
	// journal cut, 0 for 1 s.
	SaveInterval time.Duration
	Logger       *slog.Logger
}

func (c *Config) setDefaults() {
	if c.Clock == nil {
		c.Clock = func() int64 { return time.Now().UnixMilli() }
	}
	if c.SweepInterval == 0 {
		c.SweepInterval = 100 * time.Millisecond
	}
	if c.SaveInterval == 0 {
		c.SaveInterval = time.Second
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
}

// units are those of one placement group, indexed by partition.
type units [topology.Partitions]*Unit

// Set is all units of a node. Its methods may be called by any goroutine.
type Set struct {
	config Config
	stack  *tiers.Stack
	txns   sync.Pool // *Txn

	// table is the newest one; groups and totals are copied when they change.
	table    atomic.Pointer[topology.Table]
	groups   atomic.Pointer[map[topology.GroupID]*units]
	totals   atomic.Pointer[map[topology.CacheID]*Totals]
	adopting sync.Mutex

	// now never falls: the newest time that was seen or stored (R23).
	now     atomic.Int64
	journal journal

	// unsynced says that something was applied since the last sync.
	unsynced atomic.Bool
	lastSync atomic.Int64 // Unix milliseconds

	hits, misses, expired atomic.Int64

	sweeper sweeper

	stop context.CancelFunc
	done sync.WaitGroup
}

// Totals are the counters of one cache over all units.
type Totals struct {
	Entries, Bytes, Deadlines, Collections atomic.Int64
}

func (t *Totals) add(c *record.Counters) {
	t.Entries.Add(c.Entries)
	t.Bytes.Add(c.Bytes)
	t.Deadlines.Add(c.Deadlines)
	t.Collections.Add(c.Collections)
}

// Open reads how far each unit has come and starts the background work.
func Open(config Config) (*Set, error) {
	config.setDefaults()
	s := &Set{config: config, stack: config.Stack}
	s.txns.New = func() any { return newTxn(s) }
	s.groups.Store(&map[topology.GroupID]*units{})
	s.totals.Store(&map[topology.CacheID]*Totals{})
	if err := s.recover(); err != nil {
		return nil, fmt.Errorf("unit: recover positions: %w", err)
	}
	s.Adopt(config.Table)
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.every(ctx, fixed(config.SaveInterval), s.savePositions)
	if config.SweepInterval > 0 {
		s.every(ctx, fixed(config.SweepInterval), s.sweep)
	}
	s.syncLoop(ctx)
	return s, nil
}

// Close stops the background work, saves all positions and syncs. No Txn may be
// open any more.
func (s *Set) Close() error {
	s.stop()
	s.done.Wait()
	return errors.Join(s.savePositionsNow(), s.sync())
}

// every runs f again and again in a goroutine that Close waits for. The pause is
// asked for anew each time.
func (s *Set) every(ctx context.Context, pause func() time.Duration, f func(context.Context)) {
	s.done.Go(func() {
		timer := time.NewTimer(pause())
		defer timer.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-timer.C:
				f(ctx)
				timer.Reset(pause())
			}
		}
	})
}

// fixed is a pause that never changes.
func fixed(d time.Duration) func() time.Duration { return func() time.Duration { return d } }

// Adopt makes the Set work by a table if it is newer than the one it has: it
// learns of new caches, placement groups and epochs. Whoever brings a request
// calls it with the table that the request was routed by.
func (s *Set) Adopt(table *topology.Table) {
	if have := s.table.Load(); have == table || (have != nil && have.Index >= table.Index) {
		return
	}
	s.adopting.Lock()
	defer s.adopting.Unlock()
	if have := s.table.Load(); have != nil && have.Index >= table.Index {
		return
	}
	for i := range table.Groups {
		group := &table.Groups[i]
		held := s.unitsOf(group.ID)
		for partition := range group.Units {
			held[partition].epoch.Store(group.Units[partition].Epoch)
		}
	}
	for i := range table.Caches {
		s.totalsOf(table.Caches[i].ID)
	}
	s.table.Store(table)
}

// unitsOf returns the units of a group, made if they are new. The caller holds
// adopting, or is Open.
func (s *Set) unitsOf(id topology.GroupID) *units {
	groups := *s.groups.Load()
	if held := groups[id]; held != nil {
		return held
	}
	held := new(units)
	for partition := range held {
		held[partition] = &Unit{group: id, partition: uint16(partition)}
	}
	s.groups.Store(with(groups, id, held))
	return held
}

// totalsOf returns the totals of a cache, made if they are new, under the same
// rule as unitsOf.
func (s *Set) totalsOf(id topology.CacheID) *Totals {
	totals := *s.totals.Load()
	if t := totals[id]; t != nil {
		return t
	}
	t := new(Totals)
	s.totals.Store(with(totals, id, t))
	return t
}

// with returns a copy of m with one more element.
func with[K comparable, V any](m map[K]V, key K, value V) *map[K]V {
	out := make(map[K]V, len(m)+1)
	for k, v := range m {
		out[k] = v
	}
	out[key] = value
	return &out
}

// Now is the time of the units: the wall clock, but never behind a time that was
// given out before or that a mutation carries (R23).
func (s *Set) Now() int64 { return s.notBefore(s.config.Clock()) }

func (s *Set) notBefore(now int64) int64 {
	for {
		last := s.now.Load()
		if now <= last {
			return last
		}
		if s.now.CompareAndSwap(last, now) {
			return now
		}
	}
}

// Totals returns the counters of a cache, or nil where the Set has none.
func (s *Set) Totals(cache topology.CacheID) *Totals { return (*s.totals.Load())[cache] }

// Counts are what the Set has counted since it was opened.
type Counts struct {
	Hits, Misses, Expired int64
	LastSync              time.Time
	// Ahead is how far the units' time is before the wall clock: it never falls,
	// so it waits there after the clock was set back (R23).
	Ahead time.Duration
}

// Counts returns the counts.
func (s *Set) Counts() Counts {
	return Counts{
		Hits: s.hits.Load(), Misses: s.misses.Load(), Expired: s.expired.Load(),
		LastSync: time.UnixMilli(s.lastSync.Load()),
		Ahead:    time.Duration(max(0, s.now.Load()-s.config.Clock())) * time.Millisecond,
	}
}

// Stalled tells whether writers have to wait for the store now.
func (s *Set) Stalled() bool { return s.stack.Stalled() }

// Room tells whether a command that brings n bytes may grow the data.
func (s *Set) Room(n int) error { return s.stack.Room(n) }
