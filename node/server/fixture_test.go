package server_test

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.uber.org/goleak"

	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/node/command"
	"github.com/tiergrid/tiergrid/node/record"
	"github.com/tiergrid/tiergrid/node/resp"
	"github.com/tiergrid/tiergrid/node/server"
	"github.com/tiergrid/tiergrid/node/unit"
	"github.com/tiergrid/tiergrid/node/wire"
	"github.com/tiergrid/tiergrid/tiers"
	"github.com/tiergrid/tiergrid/tiers/memory"
	"github.com/tiergrid/tiergrid/tiers/ssd"
)

// TestMain makes every run the same and short, unless the flags of rapid say
// otherwise.
func TestMain(m *testing.M) {
	preset := map[string]string{"rapid.seed": "1", "rapid.checks": "8", "rapid.steps": "30"}
	flag.Parse()
	if testing.Short() { // rapid itself divides the checks by five then
		preset["rapid.checks"], preset["rapid.steps"] = "10", "8"
	}
	flag.Visit(func(f *flag.Flag) { delete(preset, f.Name) })
	for name, value := range preset {
		if err := flag.Set(name, value); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	goleak.VerifyTestMain(m)
}

// rounds is n, or less where time is short: the race detector makes large values
// many times as slow.
func rounds(n int) int {
	if testing.Short() {
		return (n + 9) / 10
	}
	return n
}

// databases is a table of one group and n numbered caches.
func databases(n int) *topology.Table {
	policy := topology.DefaultPolicy()
	t := &topology.Table{
		Index: 1, HashKey: [16]byte{1, 2, 3},
		Groups: []topology.Group{{ID: 1, Units: make([]topology.Unit, topology.Partitions)}},
	}
	for i := range t.Groups[0].Units {
		t.Groups[0].Units[i].Epoch = 1
	}
	for i := range t.Numbered {
		t.Numbered[i] = -1
	}
	for i := range n {
		t.Caches = append(t.Caches, topology.Cache{ID: topology.CacheID(i + 1), Name: fmt.Sprint(i), Database: i, Group: 1, Policy: policy})
		t.Numbered[i] = i
	}
	return t
}

// durable makes all caches of a table have durability always.
func durable(t *topology.Table) *topology.Table {
	for i := range t.Caches {
		t.Caches[i].Policy.Durability = topology.DurabilityAlways
	}
	return t
}

// nextEpoch is the table after the primary of every unit has changed.
func nextEpoch(t *topology.Table) *topology.Table {
	next := *t
	next.Index++
	next.Groups = []topology.Group{{ID: 1, Units: append([]topology.Unit(nil), t.Groups[0].Units...)}}
	for i := range next.Groups[0].Units {
		next.Groups[0].Units[i].Epoch++
	}
	return &next
}

// options say what a fixture stands on. Zero fields mean a table of three
// databases on an empty file system in memory, a memory tier in which little
// fits, the wall clock, and no background work.
type options struct {
	table  *topology.Table
	fs     vfs.FS
	dir    string // on the real file system
	memory int64  // negative: no memory tier
	clock  func() int64
	sweep  time.Duration
	save   time.Duration
	wrap   func(tiers.Store) tiers.Store
	logger *slog.Logger
}

func (o *options) setDefaults() {
	if o.table == nil {
		o.table = databases(3)
	}
	if o.fs == nil && o.dir == "" {
		o.fs = vfs.NewMem()
	}
	if o.dir == "" {
		o.dir = "store"
	}
	if o.memory == 0 {
		o.memory = memory.MinSize
	}
	if o.sweep == 0 {
		o.sweep = -1
	}
	if o.save == 0 {
		o.save = time.Hour
	}
	if o.logger == nil {
		o.logger = slog.New(slog.DiscardHandler)
	}
}

// tester is testing.TB or rapid.T.
type tester interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
	Errorf(string, ...any)
}

// fixture is a server over real tiers.
type fixture struct {
	t        tester
	table    *topology.Table
	stack    *tiers.Stack
	units    *unit.Set
	server   *server.Server
	gathered gathered
}

// open makes a fixture that the test closes itself.
func open(t tester, o options) *fixture {
	t.Helper()
	o.setDefaults()
	store, err := ssd.Open(ssd.Config{
		Dir: o.dir, FS: o.fs, MemTable: 4 << 20, BlockCache: 4 << 20, Ballast: -1, Reserve: 1, Logger: o.logger,
		OnFatal: func(error) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	bottom := tiers.Store(store)
	if o.wrap != nil {
		bottom = o.wrap(store)
	}
	var copies tiers.Tier
	if o.memory > 0 {
		if copies, err = memory.New(memory.Config{MaxSize: o.memory, Domain: record.Domain}); err != nil {
			t.Fatal(err)
		}
	}
	stack, err := tiers.New(tiers.Config{Memory: copies, Store: bottom, Stripe: record.Stripe})
	if err != nil {
		t.Fatal(err)
	}
	units, err := unit.Open(unit.Config{
		Stack: stack, Table: o.table, Clock: o.clock, SweepInterval: o.sweep, SaveInterval: o.save, Logger: o.logger,
	})
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{t: t, table: o.table, stack: stack, units: units,
		server: server.New(server.Config{Units: units, Logger: o.logger})}
}

// start is open with the closing left to the test's end.
func start(t testing.TB, o options) *fixture {
	t.Helper()
	f := open(t, o)
	t.Cleanup(func() {
		f.t = t
		f.close()
	})
	return f
}

func (f *fixture) close() {
	f.t.Helper()
	if err := f.units.Close(); err != nil {
		f.t.Errorf("close the units: %v", err)
	}
	if err := f.stack.Close(); err != nil {
		f.t.Errorf("close the tiers: %v", err)
	}
}

// cmd is one command of a batch.
type cmd struct {
	database int
	args     []string
}

func do(args ...string) cmd { return cmd{args: args} }

func (c cmd) request(t tester) wire.Request {
	t.Helper()
	raw := make([][]byte, len(c.args))
	for i, arg := range c.args {
		raw[i] = []byte(arg)
	}
	resolved, err := command.Resolve(raw)
	if err != nil {
		t.Fatalf("%.100q: %v", c.args, err)
	}
	return wire.Request{Cmd: resolved, Args: raw, Database: c.database}
}

// client is one session. It belongs to one goroutine.
type client struct {
	f    *fixture
	sent sink
	out  *resp.Writer
}

func (f *fixture) client() *client {
	c := &client{f: f}
	c.out = resp.NewWriter(&c.sent, 2)
	return c
}

// pipeline runs commands as one batch and returns their replies.
func (c *client) pipeline(commands ...cmd) []resp.Value {
	c.f.t.Helper()
	return c.run(&wire.Batch{}, len(commands), commands)
}

// exec runs commands as one transaction and returns its reply.
func (c *client) exec(watches []wire.Watch, commands ...cmd) resp.Value {
	c.f.t.Helper()
	return c.run(&wire.Batch{Transaction: true, Watches: watches}, 1, commands)[0]
}

// do runs one command.
func (c *client) do(args ...string) resp.Value {
	c.f.t.Helper()
	return c.pipeline(do(args...))[0]
}

func (c *client) run(b *wire.Batch, replies int, commands []cmd) []resp.Value {
	c.f.t.Helper()
	for i := range commands {
		b.Requests = append(b.Requests, commands[i].request(c.f.t))
	}
	b.Table, b.Out = c.f.table, c.out
	if !b.Transaction {
		c.f.gathered.run(c.f.server, b)
	}
	if rest := b.Requests[b.Done:]; b.Transaction || len(rest) > 0 {
		left := *b
		left.Requests = rest
		if err := c.f.server.Run(context.Background(), &left); err != nil {
			c.f.t.Fatal(err)
		}
		b.Error = left.Error
	}
	if err := c.out.Flush(); err != nil {
		c.f.t.Fatal(err)
	}
	values := make([]resp.Value, replies)
	src := bufio.NewReader(&c.sent)
	for i := range values {
		v, err := resp.ReadReply(src, resp.ReplyLimits{})
		if err != nil {
			c.f.t.Fatalf("reply %d of %d: %v", i, replies, err)
		}
		values[i] = v
	}
	if src.Buffered() > 0 || c.sent.Len() > 0 {
		c.f.t.Fatalf("there are more than %d replies", replies)
	}
	return values
}

// watch is WATCH.
func (c *client) watch(keys ...string) []wire.Watch {
	c.f.t.Helper()
	raw := make([][]byte, len(keys))
	for i := range keys {
		raw[i] = []byte(keys[i])
	}
	watches, err := c.f.server.Watch(context.Background(), c.f.table, 0, raw)
	if err != nil {
		c.f.t.Fatal(err)
	}
	return watches
}

// text writes a reply down in one line.
func text(v resp.Value) string {
	switch {
	case v.Null:
		return "nil"
	case v.Kind == resp.KindInt:
		return fmt.Sprint(v.Int)
	case v.Kind == resp.KindArray:
		var b bytes.Buffer
		b.WriteByte('[')
		for i := range v.Elems {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(text(v.Elems[i]))
		}
		b.WriteByte(']')
		return b.String()
	case v.Err() != nil:
		return "error " + string(v.Bytes)
	}
	return string(v.Bytes)
}
