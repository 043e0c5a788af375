// Package grid is the contract between the proxy and the storage behind it:
// Grid, with the Batch, Request, Watch and Stats of package wire. A driver
// implements Grid; grid/native stands before our own nodes.
//
// A Batch belongs to the session that made it until Run returns; a driver keeps
// nothing of it. A driver may be used by any number of sessions at once.
package grid

import (
	"context"

	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/node/wire"
)

// What passes between a proxy and a node.
type (
	Request    = wire.Request
	Batch      = wire.Batch
	Watch      = wire.Watch
	Stats      = wire.Stats
	CacheStats = wire.CacheStats
)

// Grid is the storage as a proxy sees it.
type Grid interface {
	// Run runs a batch in order and appends one reply for each request (for a
	// transaction: one for all) to its Out. Errors of commands are replies. Run
	// returns an error only if the connection of Out broke, in which case the
	// session ends. When it returns, every reply appended may be seen.
	Run(ctx context.Context, b *Batch) error
	// RunTogether runs batches of several sessions, none of them a transaction, as
	// far as that is possible without waiting for anything: each up to its first
	// request that would have to wait (Batch.Done), with the replies of those
	// before appended, which may be seen. Nothing is flushed. What is left over is
	// for Run.
	RunTogether(batches []*Batch)
	// Watch registers keys of a database and returns what EXEC compares.
	Watch(ctx context.Context, database int, keys [][]byte) ([]Watch, error)
	// SwapDatabases exchanges two database numbers everywhere.
	SwapDatabases(ctx context.Context, a, b int) error
	// Stats is at most one second old.
	Stats(ctx context.Context) (Stats, error)
	// Table is the current snapshot.
	Table() *topology.Table
	// Ready is nil when commands can be served, and says why not otherwise.
	Ready() error
}
