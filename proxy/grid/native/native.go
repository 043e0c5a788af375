// Package native is the driver for grids of our own nodes. So far the grid is the
// node in the own process, and the link to it a function call.
//
// A Driver may be used by any number of goroutines; it starts none.
package native

import (
	"context"
	"errors"
	"fmt"

	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/node/wire"
	"github.com/tiergrid/tiergrid/proxy/grid"
)

// Node is what the driver needs of the node in its process.
type Node interface {
	Run(ctx context.Context, b *wire.Batch) error
	RunTogether(batches []*wire.Batch)
	Watch(ctx context.Context, table *topology.Table, database int, keys [][]byte) ([]wire.Watch, error)
	Stats() wire.Stats
	Keyspace(table *topology.Table) []wire.CacheStats
}

// Control is what the driver needs of the control state.
type Control interface {
	Table() *topology.Table
	// SwapDatabases returns when the change holds.
	SwapDatabases(ctx context.Context, a, b int) error
}

// Config is what a Driver stands before.
type Config struct {
	Node    Node
	Control Control
}

// Driver implements grid.Grid.
type Driver struct {
	node    Node
	control Control
}

var _ grid.Grid = (*Driver)(nil)

// New returns a Driver.
func New(config Config) (*Driver, error) {
	if config.Node == nil || config.Control == nil {
		return nil, errors.New("native: a driver needs a node and the control state")
	}
	return &Driver{node: config.Node, control: config.Control}, nil
}

// Run implements grid.Grid.
func (d *Driver) Run(ctx context.Context, b *grid.Batch) error { return d.node.Run(ctx, b) }

// RunTogether implements grid.Grid.
func (d *Driver) RunTogether(batches []*grid.Batch) { d.node.RunTogether(batches) }

// Watch implements grid.Grid.
func (d *Driver) Watch(ctx context.Context, database int, keys [][]byte) ([]grid.Watch, error) {
	return d.node.Watch(ctx, d.control.Table(), database, keys)
}

// SwapDatabases implements grid.Grid. Caches of different policies are not
// swapped: clients that count on the durability of a number would silently get
// another one.
func (d *Driver) SwapDatabases(ctx context.Context, a, b int) error {
	table := d.control.Table()
	one, other := table.Database(a), table.Database(b)
	if one != nil && other != nil && one.Policy != other.Policy {
		return fmt.Errorf("caches %s and %s have different policies, so their databases %d and %d cannot be swapped",
			one.Name, other.Name, a, b)
	}
	return d.control.SwapDatabases(ctx, a, b)
}

// Stats implements grid.Grid.
func (d *Driver) Stats(context.Context) (grid.Stats, error) {
	stats := d.node.Stats()
	stats.Keyspace = d.node.Keyspace(d.control.Table())
	return stats, nil
}

// Table implements grid.Grid.
func (d *Driver) Table() *topology.Table { return d.control.Table() }

// Ready implements grid.Grid.
func (d *Driver) Ready() error { return nil }
