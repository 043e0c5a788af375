package native

import (
	"context"
	"testing"

	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/node/wire"
	"github.com/tiergrid/tiergrid/proxy/grid"
)

type fakeNode struct {
	batches []*wire.Batch
	watched []*topology.Table
}

func (n *fakeNode) Run(_ context.Context, b *wire.Batch) error {
	n.batches = append(n.batches, b)
	return nil
}

func (n *fakeNode) RunTogether(batches []*wire.Batch) {
	n.batches = append(n.batches, batches...)
}

func (n *fakeNode) Watch(_ context.Context, t *topology.Table, _ int, keys [][]byte) ([]wire.Watch, error) {
	n.watched = append(n.watched, t)
	return make([]wire.Watch, len(keys)), nil
}

func (n *fakeNode) Stats() wire.Stats { return wire.Stats{MemoryMax: 7} }

func (n *fakeNode) Keyspace(t *topology.Table) []wire.CacheStats {
	return []wire.CacheStats{{Name: t.Caches[0].Name}}
}

type fakeControl struct {
	table *topology.Table
	swaps [][2]int
}

func (c *fakeControl) Table() *topology.Table { return c.table }

func (c *fakeControl) SwapDatabases(_ context.Context, a, b int) error {
	c.swaps = append(c.swaps, [2]int{a, b})
	return nil
}

func TestDriver(t *testing.T) {
	node, control := &fakeNode{}, &fakeControl{table: &topology.Table{Caches: []topology.Cache{{Name: "0"}}}}
	d, err := New(Config{Node: node, Control: control})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	batch := &grid.Batch{}
	if err := d.Run(ctx, batch); err != nil || len(node.batches) != 1 || node.batches[0] != batch {
		t.Errorf("Run: %v, %v", node.batches, err)
	}
	if d.RunTogether([]*grid.Batch{batch, batch}); len(node.batches) != 3 {
		t.Errorf("RunTogether: %v", node.batches)
	}
	watches, err := d.Watch(ctx, 0, [][]byte{[]byte("a"), []byte("b")})
	if err != nil || len(watches) != 2 || node.watched[0] != control.table {
		t.Errorf("Watch: %v, %v", watches, err)
	}
	if err := d.SwapDatabases(ctx, 1, 2); err != nil || control.swaps[0] != [2]int{1, 2} {
		t.Errorf("SwapDatabases: %v, %v", control.swaps, err)
	}
	stats, err := d.Stats(ctx)
	if err != nil || stats.MemoryMax != 7 || stats.Keyspace[0].Name != "0" {
		t.Errorf("Stats: %+v, %v", stats, err)
	}
	if d.Table() != control.table || d.Ready() != nil {
		t.Error("table or readiness")
	}
}

func TestADriverNeedsItsParts(t *testing.T) {
	for _, c := range []Config{{}, {Node: &fakeNode{}}, {Control: &fakeControl{}}} {
		if _, err := New(c); err == nil {
			t.Errorf("New(%+v) succeeds", c)
		}
	}
}

// TestCachesOfOtherPoliciesAreNotSwapped: a client that counts on the durability
// of a database keeps it.
func TestCachesOfOtherPoliciesAreNotSwapped(t *testing.T) {
	always := topology.DefaultPolicy()
	always.Durability = topology.DurabilityAlways
	table := &topology.Table{Caches: []topology.Cache{
		{Name: "0", Policy: topology.DefaultPolicy()}, {Name: "ledger", Policy: always}, {Name: "2", Policy: topology.DefaultPolicy()},
	}}
	table.Numbered[1], table.Numbered[2] = 1, 2
	control := &fakeControl{table: table}
	d, err := New(Config{Node: &fakeNode{}, Control: control})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.SwapDatabases(context.Background(), 0, 1); err == nil || len(control.swaps) > 0 {
		t.Errorf("swapped: %v", control.swaps)
	}
	if err := d.SwapDatabases(context.Background(), 0, 2); err != nil || len(control.swaps) != 1 {
		t.Errorf("not swapped: %v", err)
	}
}
