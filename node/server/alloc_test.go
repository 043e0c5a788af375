//go:build !race

package server_test

import (
	"context"
	"strings"
	"testing"

	"github.com/tiergrid/tiergrid/node/resp"
	"github.com/tiergrid/tiergrid/node/wire"
)

// TestAllocations keeps the hot path within its ceilings.
func TestAllocations(t *testing.T) {
	f := start(t, options{memory: 64 << 20})
	f.client().do("set", "key", strings.Repeat("x", 100))
	for _, test := range []struct {
		c    cmd
		most float64
	}{
		{do("get", "key"), 0}, {do("exists", "key"), 0}, {do("set", "key", strings.Repeat("y", 100)), 1}, {do("incr", "n"), 1},
	} {
		batch := &wire.Batch{Table: f.table, Out: resp.NewWriter(nil, 2), Requests: []wire.Request{test.c.request(t)}}
		allocations := testing.AllocsPerRun(500, func() {
			batch.Out.Reset()
			if err := f.server.Run(context.Background(), batch); err != nil {
				t.Fatal(err)
			}
		})
		if allocations > test.most {
			t.Errorf("%s allocates %v times, want at most %v", test.c.args[0], allocations, test.most)
		}
	}
}
