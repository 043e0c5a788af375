// Package node assembles a storage member: the tiers that hold the rows, the
// units that order writes, and the server that runs commands on them.
//
// A Node is opened in two steps, because the control state must know the store
// before it can say what this member owns: Open finds or makes the store, Start
// begins to serve by a table. Close ends it in order and leaves the mark of a
// clean stop. Run, Watch and Stats may be called by any number of goroutines
// between Start and Close. The package knows no proxy and no administration.
package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"

	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/node/record"
	"github.com/tiergrid/tiergrid/node/server"
	"github.com/tiergrid/tiergrid/node/unit"
	"github.com/tiergrid/tiergrid/node/wire"
	"github.com/tiergrid/tiergrid/tiers"
	"github.com/tiergrid/tiergrid/tiers/memory"
	"github.com/tiergrid/tiergrid/tiers/ssd"
)

// StoreDir is where a data directory keeps the store.
func StoreDir(data string) string { return filepath.Join(data, "store") }

// Config is what a Node is made of.
type Config struct {
	// Data is the data directory; the store is its folder "store".
	Data string
	// MemoryMax bounds the memory tier in bytes; 0 is none at all.
	MemoryMax int64
	// SSD configures the store. Dir and Logger are filled in.
	SSD    ssd.Config
	Logger *slog.Logger
}

// Node is one storage member.
type Node struct {
	config Config
	store  *ssd.Store
	stack  *tiers.Stack
	clean  bool

	units  *unit.Set
	server *server.Server

	closing sync.Once
	closed  error
	// inUse counts calls that may touch the store, so that Close can wait.
	inUse users
}

// Open opens or makes the store of a data directory.
func Open(config Config) (*Node, error) {
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	n := &Node{config: config}
	if err := n.openTiers(); err != nil {
		return nil, err
	}
	clean, err := takeCleanMark(config.Data)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("node: take the mark of the last stop: %w", err), n.stack.Close())
	}
	n.clean = clean
	return n, nil
}

func (n *Node) openTiers() error {
	config := n.config.SSD
	config.Dir, config.Logger = StoreDir(n.config.Data), n.config.Logger
	store, err := ssd.Open(config)
	if err != nil {
		return err
	}
	var copies tiers.Tier
	if n.config.MemoryMax > 0 {
		tier, err := memory.New(memory.Config{MaxSize: n.config.MemoryMax, Domain: record.Domain})
		if err != nil {
			return errors.Join(err, store.Close())
		}
		copies = tier
	}
	n.store = store
	n.stack, err = tiers.New(tiers.Config{Memory: copies, Store: store, Stripe: record.Stripe})
	return err
}

// StoreID names the store: one life of the data directory (R1).
func (n *Node) StoreID() string { return n.store.ID().String() }

// Clean tells whether the start before this one ended in order (R1).
func (n *Node) Clean() bool { return n.clean }

// Holding tells whether the store holds anything at all.
func (n *Node) Holding() (bool, error) {
	iter, err := n.stack.NewIter(nil, nil)
	if err != nil {
		return false, err
	}
	return iter.First(), iter.Close()
}

// Start begins to serve by a table.
func (n *Node) Start(table *topology.Table) error {
	units, err := unit.Open(unit.Config{Stack: n.stack, Table: table, Logger: n.config.Logger})
	if err != nil {
		return err
	}
	n.units = units
	n.server = server.New(server.Config{Units: units, Logger: n.config.Logger})
	return nil
}

// Holds tells whether a cache holds entries.
func (n *Node) Holds(id topology.CacheID) bool {
	totals := n.units.Totals(id)
	return totals != nil && totals.Entries.Load() > 0
}

// Run runs a batch of commands; see grid.Grid.
func (n *Node) Run(ctx context.Context, b *wire.Batch) error {
	if !n.inUse.enter() {
		return tiers.ErrClosed
	}
	defer n.inUse.leave()
	return n.server.Run(ctx, b)
}

// RunTogether runs batches of several sessions as far as that needs no waiting; see
// grid.Grid.
func (n *Node) RunTogether(batches []*wire.Batch) {
	if !n.inUse.enter() {
		return // Run answers
	}
	defer n.inUse.leave()
	n.server.RunTogether(batches)
}

// Watch returns the state of keys that a session watches; see grid.Grid.
func (n *Node) Watch(ctx context.Context, table *topology.Table, database int, keys [][]byte) ([]wire.Watch, error) {
	if !n.inUse.enter() {
		return nil, tiers.ErrClosed
	}
	defer n.inUse.leave()
	return n.server.Watch(ctx, table, database, keys)
}

// Close waits for the batches under way, saves and syncs everything, and marks
// the stop as clean. A node that was not started leaves the mark as it found it.
func (n *Node) Close() error {
	n.closing.Do(func() { n.closed = n.close() })
	return n.closed
}

func (n *Node) close() error {
	n.inUse.close()
	var err error
	clean := n.clean
	if n.units != nil {
		err = n.units.Close()
		clean = err == nil
	}
	// The mark is left while the store is still locked: a process that opens it
	// next must not find a mark that appears under its feet. Everything is synced
	// by now; only if the store cannot be closed in order the mark is taken back.
	if clean {
		err = leaveCleanMark(n.config.Data)
	}
	if closeErr := n.stack.Close(); closeErr != nil {
		_, markErr := takeCleanMark(n.config.Data)
		err = errors.Join(err, closeErr, markErr)
	}
	return err
}

// Stats are the figures of this node.
func (n *Node) Stats() wire.Stats {
	tier, counts := n.stack.Stats(), n.units.Counts()
	return wire.Stats{
		MemoryMax: tier.Memory.MaxBytes, MemoryUsed: tier.Memory.Bytes, MemoryEntries: tier.Memory.Entries,
		MemoryHits: tier.Memory.Hits, MemoryMisses: tier.Memory.Misses,
		MemoryEvicted: tier.Memory.Evictions, MemoryBypassed: tier.Memory.Bypass,
		DiskMax: tier.Store.MaxBytes, DiskUsed: tier.Store.Bytes, DiskAvailable: tier.Store.FreeBytes,
		DiskFull: tier.Store.Full, WriteStalls: tier.Store.Stalls,
		KeyspaceHits: counts.Hits, KeyspaceMisses: counts.Misses, ExpiredKeys: counts.Expired,
		CrossSlot: n.server.CrossSlot(), LastSave: counts.LastSync, ClockAhead: counts.Ahead,
	}
}

// Keyspace returns the figures of the caches of a table.
func (n *Node) Keyspace(table *topology.Table) []wire.CacheStats {
	list := make([]wire.CacheStats, 0, len(table.Caches))
	for i := range table.Caches {
		cache := &table.Caches[i]
		stats := wire.CacheStats{Name: cache.Name, Database: cache.Database}
		if totals := n.units.Totals(cache.ID); totals != nil {
			stats.Entries = totals.Entries.Load()
			stats.Deadlines = totals.Deadlines.Load()
			stats.Bytes = totals.Bytes.Load()
		}
		list = append(list, stats)
	}
	return list
}

// users counts who is inside, and closes the door.
type users struct {
	mu     sync.RWMutex
	closed bool
}

// enter lets somebody in, who holds the door open until leave.
func (u *users) enter() bool {
	u.mu.RLock()
	if u.closed {
		u.mu.RUnlock()
		return false
	}
	return true
}

func (u *users) leave() { u.mu.RUnlock() }

// close waits until nobody is inside and lets nobody in any more.
func (u *users) close() {
	u.mu.Lock()
	u.closed = true
	u.mu.Unlock()
}
