// Package router gives each batch of a session the snapshot of the topology that
// it is routed by, and sends it to where the owners of its keys are.
//
// A batch is routed by exactly one snapshot, so that all its commands see the same
// caches and epochs; a transaction that began under an older one compares what it
// watched under the new one. As long as the grid is a single server, its node
// owns all units and a batch goes there whole, whichever slots its keys have.
//
// A Router may be used by any number of goroutines; it starts none and waits for
// nothing but the grid.
package router

import (
	"context"
	"fmt"

	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/node/command"
	"github.com/tiergrid/tiergrid/proxy/grid"
)

// Router stands between sessions and a grid. It implements grid.Grid itself, so
// that a session need not know whether anything is routed.
type Router struct{ grid.Grid }

var _ grid.Grid = (*Router)(nil)

// New returns a Router before a grid.
func New(g grid.Grid) *Router { return &Router{g} }

// Run routes a batch by the current snapshot and runs it.
func (r *Router) Run(ctx context.Context, b *grid.Batch) error {
	b.Table = r.Table()
	if err := single(b.Table); err != nil {
		refuse(b, err)
		return nil
	}
	return r.Grid.Run(ctx, b)
}

// RunTogether routes all batches by the current snapshot and runs them.
func (r *Router) RunTogether(batches []*grid.Batch) {
	table := r.Table()
	if single(table) != nil {
		return // Run answers
	}
	for _, b := range batches {
		b.Table = table
	}
	r.Grid.RunTogether(batches)
}

// single returns an error for a grid of several members, whose data commands are
// not served before its members replicate.
func single(t *topology.Table) error {
	if len(t.Members) > 1 {
		return fmt.Errorf("the grid has %d members, data commands need a single server", len(t.Members))
	}
	return nil
}

// refuse answers every request of a batch that was not run.
func refuse(b *grid.Batch, err error) {
	text := string(command.ClusterDown(err.Error()))
	if b.Transaction {
		b.Error = text
		b.Out.Error(text)
		return
	}
	for i := range b.Requests {
		b.Requests[i].Error = text
		b.Out.Error(text)
	}
}
