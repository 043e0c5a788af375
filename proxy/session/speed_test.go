//go:build !race

// The race detector makes pools drop what they are given.

package session

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/tiergrid/tiergrid/proxy/grid"
)

// quickGrid answers every GET with value and everything else with OK.
type quickGrid struct {
	*fakeGrid
	value []byte
}

func (g *quickGrid) Run(_ context.Context, b *grid.Batch) error {
	for i := range b.Requests {
		r := &b.Requests[i]
		if r.Cmd.Name == "get" {
			b.Out.Bulk(g.value)
		} else {
			b.Out.Status("OK")
		}
		r.Elapsed = 1
	}
	b.Done = len(b.Requests)
	return b.Out.Err()
}

func (g *quickGrid) RunTogether(batches []*grid.Batch) {
	for _, b := range batches {
		_ = g.Run(context.Background(), b) // nothing is written
	}
}

// exchange sends a packet and reads a reply of a known length, without garbage.
func exchange(t testing.TB, conn net.Conn, packet, reply []byte) {
	if _, err := conn.Write(packet); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, reply); err != nil {
		t.Fatal(err)
	}
}

var (
	value100 = strings.Repeat("v", 100)
	getOne   = "*2\r\n$3\r\nGET\r\n$8\r\nkey:0001\r\n"
	setOne   = "*3\r\n$3\r\nSET\r\n$8\r\nkey:0001\r\n$100\r\n" + value100 + "\r\n"
	gotOne   = "$100\r\n" + value100 + "\r\n"
)

func quick(t testing.TB) net.Conn {
	srv := serve(t, func(c *Config) { c.Grid = &quickGrid{newFakeGrid(), []byte(value100)} })
	return dial(t, srv.addr)
}

// A session allocates nothing for a data command, alone or in a pipeline, with or
// without restricted permissions.
func TestDataCommandsDoNotAllocate(t *testing.T) {
	open := quick(t)
	people := withPeople(t)
	srv := serve(t, func(c *Config) {
		c.Grid = &quickGrid{newFakeGrid(), []byte(value100)}
		c.Auth = people
	})
	limited := dial(t, srv.addr)
	expect(t, limited, "AUTH app app\r\n", "+OK\r\n")
	for _, c := range []struct{ name, send, reply string }{
		{"GET", getOne, gotOne},
		{"SET", setOne, "+OK\r\n"},
		{"16 GETs", strings.Repeat(getOne, 16), strings.Repeat(gotOne, 16)},
		{"SET and GET by turns", strings.Repeat(setOne+getOne, 16), strings.Repeat("+OK\r\n"+gotOne, 16)},
		{"PING", "*1\r\n$4\r\nPING\r\n", "+PONG\r\n"},
	} {
		for who, conn := range map[string]net.Conn{"open": open, "limited": limited} {
			send, reply := []byte(c.send), make([]byte, len(c.reply))
			allocs := testing.AllocsPerRun(500, func() { exchange(t, conn, send, reply) })
			if string(reply) != c.reply {
				t.Fatalf("%s answered %.40q", c.name, reply)
			}
			if allocs >= 1 {
				t.Errorf("%s (%s): %.0f allocations, want none", c.name, who, allocs)
			}
		}
	}
}

func benchmarkExchange(b *testing.B, n int) {
	conn := quick(b)
	conn.SetDeadline(farFuture)
	send, reply := []byte(strings.Repeat(getOne, n)), make([]byte, n*len(gotOne))
	b.ReportAllocs()
	for b.Loop() {
		exchange(b, conn, send, reply)
	}
}

func BenchmarkGet(b *testing.B)            { benchmarkExchange(b, 1) }
func BenchmarkGetPipeline(b *testing.B)    { benchmarkExchange(b, 16) }
func BenchmarkGetPipeline128(b *testing.B) { benchmarkExchange(b, 128) }
