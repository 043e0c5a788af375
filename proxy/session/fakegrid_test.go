package session

import (
	"bytes"
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/node/command"
	"github.com/tiergrid/tiergrid/node/resp"
	"github.com/tiergrid/tiergrid/proxy/grid"
)

type hook func(ctx context.Context, r *grid.Request)

// fakeGrid keeps strings in maps: enough of a grid to talk to a session.
type fakeGrid struct {
	mu      sync.Mutex
	data    [topology.Databases]map[string][]byte
	version [topology.Databases]map[string]uint64
	clock   uint64
	turns   atomic.Int64 // of RunTogether
	stats   grid.Stats
	// hook, if set, is called for every data command before it runs.
	hook atomic.Pointer[hook]
}

func (g *fakeGrid) onRequest(h hook) { g.hook.Store(&h) }

func newFakeGrid() *fakeGrid {
	g := &fakeGrid{}
	for i := range g.data {
		g.data[i], g.version[i] = map[string][]byte{}, map[string]uint64{}
	}
	return g
}

// clear forgets all keys.
func (g *fakeGrid) clear() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.data {
		clear(g.data[i])
		clear(g.version[i])
	}
}

func (g *fakeGrid) Run(ctx context.Context, b *grid.Batch) error {
	if b.Transaction {
		return g.transaction(ctx, b)
	}
	for i := range b.Requests {
		g.runOne(ctx, &b.Requests[i], b.Out)
		if b.Out.Due() {
			if err := b.Out.Flush(); err != nil {
				return err
			}
		}
	}
	return b.Out.Err()
}

func (g *fakeGrid) transaction(ctx context.Context, b *grid.Batch) error {
	if g.touched(b.Watches) {
		b.Out.NullArray()
		return nil
	}
	b.Out.Array(len(b.Requests))
	for i := range b.Requests {
		r := &b.Requests[i]
		if r.Local != nil {
			b.Out.ResetError()
			r.Local(b.Out)
			r.Elapsed, r.Error = 1, b.Out.LastError()
			continue
		}
		g.runOne(ctx, r, b.Out)
	}
	return nil
}

func (g *fakeGrid) touched(watches []grid.Watch) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, w := range watches {
		if g.version[w.Cache][string(w.Key)] != w.Version {
			return true
		}
	}
	return false
}

func (g *fakeGrid) runOne(ctx context.Context, r *grid.Request, out *resp.Writer) {
	if hook := g.hook.Load(); hook != nil {
		(*hook)(ctx, r)
	}
	start := time.Now()
	out.ResetError()
	g.mu.Lock()
	g.apply(r, out)
	g.mu.Unlock()
	r.Error = out.LastError()
	r.Elapsed = max(1, time.Since(start))
}

func (g *fakeGrid) apply(r *grid.Request, out *resp.Writer) {
	data := g.data[r.Database]
	args := r.Args
	switch r.Cmd.Name {
	case "get":
		v, ok := data[string(args[1])]
		if !ok {
			out.Null()
			return
		}
		out.Bulk(v)
	case "set":
		g.put(r.Database, args[1], args[2])
		out.Status("OK")
	case "mget":
		out.Array(len(args) - 1)
		for _, k := range args[1:] {
			if v, ok := data[string(k)]; ok {
				out.Bulk(v)
			} else {
				out.Null()
			}
		}
	case "del":
		n := 0
		for _, k := range args[1:] {
			if _, ok := data[string(k)]; ok {
				n++
				delete(data, string(k))
				g.touch(r.Database, k)
			}
		}
		out.Int(int64(n))
	case "incr":
		n, err := strconv.ParseInt(string(or(data[string(args[1])], "0")), 10, 64)
		if err != nil {
			out.Error(string(command.ErrNotInteger))
			return
		}
		g.put(r.Database, args[1], strconv.AppendInt(nil, n+1, 10))
		out.Int(n + 1)
	case "append":
		v := append(bytes.Clone(data[string(args[1])]), args[2]...)
		g.put(r.Database, args[1], v)
		out.Int(int64(len(v)))
	case "restore":
		if _, ok := data[string(args[1])]; ok {
			out.Error(string(command.ErrBusyKey))
			return
		}
		out.Error(string(command.ErrBadPayload))
	case "dbsize":
		out.Int(int64(len(data)))
	case "flushall":
		for i := range g.data {
			for k := range g.data[i] {
				g.touch(i, []byte(k))
			}
			clear(g.data[i])
		}
		out.Status("OK")
	default:
		out.Error("ERR the fake grid has no " + r.Cmd.Name)
	}
}

func or(b []byte, byDefault string) []byte {
	if b == nil {
		return []byte(byDefault)
	}
	return b
}

func (g *fakeGrid) put(database int, key, value []byte) {
	m := g.data[database]
	if old, ok := m[string(key)]; ok && len(old) == len(value) {
		copy(old, value)
	} else {
		m[string(key)] = bytes.Clone(value)
	}
	g.touch(database, key)
}

func (g *fakeGrid) touch(database int, key []byte) {
	g.clock++
	m := g.version[database]
	if _, ok := m[string(key)]; ok {
		m[string(key)] = g.clock
		return
	}
	m[string(bytes.Clone(key))] = g.clock
}

func (g *fakeGrid) Watch(_ context.Context, database int, keys [][]byte) ([]grid.Watch, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var list []grid.Watch
	for _, k := range keys {
		list = append(list, grid.Watch{Cache: topology.CacheID(database), Key: k, Version: g.version[database][string(k)]})
	}
	return list, nil
}

func (g *fakeGrid) SwapDatabases(_ context.Context, a, b int) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.data[a], g.data[b] = g.data[b], g.data[a]
	for _, db := range []int{a, b} {
		for k := range g.data[db] {
			g.touch(db, []byte(k))
		}
	}
	return nil
}

func (g *fakeGrid) Stats(context.Context) (grid.Stats, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	st := g.stats
	for i := range g.data {
		st.Keyspace = append(st.Keyspace, grid.CacheStats{Name: strconv.Itoa(i), Database: i, Entries: int64(len(g.data[i]))})
	}
	return st, nil
}

func (g *fakeGrid) Table() *topology.Table { return nil }

func (g *fakeGrid) Ready() error { return nil }

// RunTogether leaves every other request to Run.
func (g *fakeGrid) RunTogether(batches []*grid.Batch) {
	for _, b := range batches {
		for b.Done = 0; b.Done < len(b.Requests); b.Done++ {
			if g.turns.Add(1)%2 == 0 {
				break
			}
			g.runOne(context.Background(), &b.Requests[b.Done], b.Out)
		}
	}
}
