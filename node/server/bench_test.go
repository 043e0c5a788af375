package server_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/tiergrid/tiergrid/node/resp"
	"github.com/tiergrid/tiergrid/node/wire"
)

// startOnDisk is a fixture with a large memory tier over a store on disk.
func startOnDisk(b *testing.B) *fixture {
	return start(b, options{table: databases(1), dir: filepath.Join(b.TempDir(), "store"), memory: 256 << 20})
}

func benchmarkRun(b *testing.B, n int, args func(i int) []string) {
	f := startOnDisk(b)
	out := resp.NewWriter(nil, 2)
	batch := &wire.Batch{Table: f.table, Out: out}
	for i := range n {
		batch.Requests = append(batch.Requests, do(args(i)...).request(b))
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i += n {
		out.Reset()
		for k := range batch.Requests {
			a := batch.Requests[k].Args
			copy(a[1], fmt.Sprintf("key:%012d", (i+k)%100000))
		}
		if err := f.server.Run(context.Background(), batch); err != nil {
			b.Fatal(err)
		}
	}
}

func value(n int) string { return string(make([]byte, n)) }

func BenchmarkSet100(b *testing.B) {
	for _, n := range []int{1, 16, 128} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			benchmarkRun(b, n, func(int) []string { return []string{"set", "key:000000000000", value(100)} })
		})
	}
}

func BenchmarkGet(b *testing.B) {
	for _, n := range []int{1, 16} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			benchmarkRun(b, n, func(int) []string { return []string{"get", "key:000000000000"} })
		})
	}
}
