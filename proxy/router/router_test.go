package router

import (
	"context"
	"strings"
	"testing"

	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/node/resp"
	"github.com/tiergrid/tiergrid/proxy/grid"
)

// fake is a grid that notes which table a batch was routed by.
type fake struct {
	grid.Grid
	table *topology.Table
	runs  []*topology.Table
}

func (f *fake) Table() *topology.Table { return f.table }

func (f *fake) Run(_ context.Context, b *grid.Batch) error {
	f.runs = append(f.runs, b.Table)
	return nil
}

func members(n int) *topology.Table {
	return &topology.Table{Members: make([]topology.Member, n)}
}

func TestABatchIsRoutedByTheCurrentTable(t *testing.T) {
	f := &fake{table: members(1)}
	r := New(f)
	for range 2 {
		if err := r.Run(context.Background(), &grid.Batch{Out: resp.NewWriter(nil, 2)}); err != nil {
			t.Fatal(err)
		}
		f.table = members(1)
	}
	if len(f.runs) != 2 || f.runs[0] == f.runs[1] || f.runs[0] == nil {
		t.Errorf("routed by %p", f.runs)
	}
}

// TestSeveralMembersAreRefused shows that data commands on a grid of several
// members answer a clear error, one for each command or one for a transaction.
func TestSeveralMembersAreRefused(t *testing.T) {
	for _, transaction := range []bool{false, true} {
		f := &fake{table: members(3)}
		out := resp.NewWriter(nil, 2)
		b := &grid.Batch{Out: out, Transaction: transaction, Requests: make([]grid.Request, 2)}
		if err := New(f).Run(context.Background(), b); err != nil {
			t.Fatal(err)
		}
		want := 2
		if transaction {
			want = 1
		}
		if got := strings.Count(string(out.Bytes()), "-CLUSTERDOWN the grid has 3 members"); got != want || len(f.runs) != 0 {
			t.Errorf("transaction %v: %q, run %d times", transaction, out.Bytes(), len(f.runs))
		}
		for i := range b.Requests {
			if b.Requests[i].Error == "" && b.Error == "" {
				t.Errorf("transaction %v: nothing says that request %d was refused", transaction, i)
			}
		}
	}
}
