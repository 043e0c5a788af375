// Package server runs the commands that reach a node: it takes batches from the
// links of proxies, finds the units of their keys, runs the command functions of
// package exec over a unit.Txn, and appends the replies in order.
//
// A Server may be used by any number of goroutines; each batch is run in the
// goroutine that brings it. Nothing is written to a client, and no fsync is waited
// for, while the lock of a unit is held.
package server

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/node/command"
	"github.com/tiergrid/tiergrid/node/record"
	"github.com/tiergrid/tiergrid/node/unit"
	"github.com/tiergrid/tiergrid/node/wire"
)

// Config is what a Server works on.
type Config struct {
	Units  *unit.Set
	Logger *slog.Logger
}

// Server runs batches of commands.
type Server struct {
	units  *unit.Set
	logger *slog.Logger
	runs   sync.Pool // *run

	crossSlot atomic.Int64
}

// New returns a Server.
func New(config Config) *Server {
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{units: config.Units, logger: config.Logger}
	s.runs.New = func() any { return &run{server: s} }
	return s
}

// Run runs a batch; see grid.Grid.
func (s *Server) Run(_ context.Context, b *wire.Batch) error {
	s.units.Adopt(b.Table)
	r := s.runs.Get().(*run)
	r.begin(b.Table)
	defer r.end()
	b.Done = 0
	r.enter(b)
	b.Done = len(b.Requests)
	if b.Transaction {
		return r.transaction()
	}
	return r.pipeline()
}

// RunTogether runs batches that were routed by one table; see grid.Grid.
func (s *Server) RunTogether(batches []*wire.Batch) {
	s.units.Adopt(batches[0].Table)
	r := s.runs.Get().(*run)
	r.begin(batches[0].Table)
	defer r.end()
	r.together(batches)
}

// Watch returns the state of keys that a session watches.
func (s *Server) Watch(_ context.Context, table *topology.Table, database int, keys [][]byte) ([]wire.Watch, error) {
	cache := table.Database(database)
	if cache == nil {
		return nil, command.ErrDatabaseRange
	}
	s.units.Adopt(table)
	t := s.units.Begin(table)
	defer t.End()
	watches := make([]wire.Watch, len(keys))
	for i, name := range keys {
		key := record.MakeKey(&table.HashKey, cache.ID, name)
		if err := t.Acquire(t.UnitOf(&key)); err != nil {
			return nil, err
		}
		t.StartWrite()
		w := t.Watch(&key)
		if err := t.FinishWrite(); err != nil {
			return nil, err
		}
		watches[i] = wire.Watch{
			Database: database, Cache: cache.ID, Key: name,
			Version: w.Version, Token: w.Token, Epoch: w.Epoch,
		}
	}
	return watches, t.Commit()
}

// CrossSlot is how many commands were run whose keys lie in several slots: those
// that a grid of several members would refuse.
func (s *Server) CrossSlot() int64 { return s.crossSlot.Load() }

// clock measures commands that follow one another with one reading each.
type clock struct{ last time.Time }

func (c *clock) start() { c.last = time.Now() }

func (c *clock) lap() time.Duration {
	now := time.Now()
	d := now.Sub(c.last)
	c.last = now
	return d
}
