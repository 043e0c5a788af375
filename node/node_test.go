package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.uber.org/goleak"

	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/node/command"
	"github.com/tiergrid/tiergrid/node/resp"
	"github.com/tiergrid/tiergrid/node/wire"
	"github.com/tiergrid/tiergrid/tiers"
	"github.com/tiergrid/tiergrid/tiers/memory"
	"github.com/tiergrid/tiergrid/tiers/ssd"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// table is that of one database.
func table() *topology.Table {
	t := &topology.Table{
		Index:  1,
		Caches: []topology.Cache{{ID: 1, Name: "0", Group: 1, Policy: topology.DefaultPolicy()}},
		Groups: []topology.Group{{ID: 1, Units: make([]topology.Unit, topology.Partitions)}},
	}
	for i := range t.Groups[0].Units {
		t.Groups[0].Units[i].Epoch = 1
	}
	for i := range t.Numbered {
		t.Numbered[i] = -1
	}
	t.Numbered[0] = 0
	return t
}

func config(data string) Config {
	return Config{Data: data, MemoryMax: memory.MinSize, SSD: ssd.Config{MemTable: 1 << 20, Reserve: 1, Ballast: -1}}
}

func open(t *testing.T, c Config) *Node {
	t.Helper()
	n, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func started(t *testing.T, c Config) *Node {
	t.Helper()
	n := open(t, c)
	if err := n.Start(table()); err != nil {
		t.Fatal(err)
	}
	return n
}

func closed(t *testing.T, n *Node) {
	t.Helper()
	if err := n.Close(); err != nil {
		t.Error(err)
	}
}

func (n *Node) do(t *testing.T, args ...string) (string, error) {
	t.Helper()
	raw := make([][]byte, len(args))
	for i := range args {
		raw[i] = []byte(args[i])
	}
	cmd, err := command.Resolve(raw)
	if err != nil {
		t.Fatal(err)
	}
	var reply bytes.Buffer
	out := resp.NewWriter(&reply, 2)
	batch := &wire.Batch{Table: table(), Out: out, Requests: []wire.Request{{Cmd: cmd, Args: raw}}}
	if err := n.Run(context.Background(), batch); err != nil {
		return "", err
	}
	return reply.String() + string(out.Bytes()), nil
}

func (n *Node) want(t *testing.T, reply string, args ...string) {
	t.Helper()
	if got, err := n.do(t, args...); err != nil || got != reply {
		t.Errorf("%q answered %q, %v; want %q", args, got, err, reply)
	}
}

// TestStartAndStop follows the mark of a clean stop and the store id through the
// lives of a data directory (R1).
func TestStartAndStop(t *testing.T) {
	data := t.TempDir()
	first := started(t, config(data))
	id := first.StoreID()
	if first.Clean() {
		t.Error("a new directory counts as stopped in order")
	}
	first.want(t, "+OK\r\n", "set", "k", "v")
	if !first.Holds(1) || first.Holds(2) {
		t.Error("the node does not know what it holds")
	}
	closed(t, first)
	closed(t, first) // once more does nothing

	second := started(t, config(data))
	if !second.Clean() || second.StoreID() != id {
		t.Errorf("clean %v, id %s; want true and %s", second.Clean(), second.StoreID(), id)
	}
	second.want(t, "$1\r\nv\r\n", "get", "k")
	if got := second.Keyspace(table())[0]; got != (wire.CacheStats{Name: "0", Entries: 1, Bytes: 2}) {
		t.Errorf("the keyspace is %+v", got)
	}
	if _, err := os.Stat(filepath.Join(data, cleanMark)); err == nil {
		t.Error("the mark is there while the node runs")
	}
	closed(t, second)
}

// TestAStopBeforeTheStart leaves the mark as it was (R1).
func TestAStopBeforeTheStart(t *testing.T) {
	data := t.TempDir()
	closed(t, open(t, config(data)))
	n := open(t, config(data))
	if n.Clean() {
		t.Error("a node that never started has left a mark")
	}
	if err := n.Start(table()); err != nil {
		t.Fatal(err)
	}
	closed(t, n)
	closed(t, open(t, config(data)))
	n = open(t, config(data))
	defer closed(t, n)
	if !n.Clean() {
		t.Error("a node that never started has taken the mark away")
	}
}

// TestAKilledNodeLeavesNoMark: only an orderly stop does (R1).
func TestAKilledNodeLeavesNoMark(t *testing.T) {
	data := t.TempDir()
	n := started(t, config(data))
	n.want(t, "+OK\r\n", "set", "k", "v")
	copied := t.TempDir() // what a kill would leave
	if err := os.CopyFS(copied, os.DirFS(data)); err != nil {
		t.Fatal(err)
	}
	closed(t, n)
	n = started(t, config(copied))
	defer closed(t, n)
	if n.Clean() {
		t.Error("a killed node counts as stopped in order")
	}
}

// TestAFailedStoreLeavesNoMark: what could not be synced is not clean (R1).
func TestAFailedStoreLeavesNoMark(t *testing.T) {
	data := t.TempDir()
	broken := false
	c := config(data)
	c.SSD.OnFatal = func(error) { broken = true }
	n := started(t, c)
	n.want(t, "+OK\r\n", "set", "k", "v")
	if err := n.stack.Close(); err != nil { // the store is gone under the units
		t.Fatal(err)
	}
	if err := n.Close(); !errors.Is(err, tiers.ErrClosed) {
		t.Errorf("Close returned %v", err)
	}
	if broken {
		t.Error("a closed store counts as broken")
	}
	n = open(t, config(data))
	defer closed(t, n)
	if n.Clean() {
		t.Error("a stop with an error counts as clean")
	}
}

// lockWatch tells when the lock of a directory is let go.
type lockWatch struct {
	vfs.FS
	unlocked func()
}

func (w *lockWatch) Lock(name string) (io.Closer, error) {
	lock, err := w.FS.Lock(name)
	return &watchedLock{lock, w.unlocked}, err
}

type watchedLock struct {
	io.Closer
	unlocked func()
}

func (l *watchedLock) Close() error {
	l.unlocked()
	return l.Closer.Close()
}

// TestTheMarkIsLeftUnderTheLock: the next process that opens the directory finds
// the mark already, else it could find it too late and call its own kill clean (R1).
func TestTheMarkIsLeftUnderTheLock(t *testing.T) {
	data, unlocks := t.TempDir(), 0
	c := config(data)
	c.SSD.FS = &lockWatch{vfs.Default, func() {
		unlocks++
		if _, err := os.Stat(filepath.Join(data, cleanMark)); err != nil {
			t.Errorf("the lock is let go before the mark is there: %v", err)
		}
	}}
	closed(t, started(t, c))
	if unlocks == 0 {
		t.Error("the lock was not let go")
	}
}

// TestALockedDirectoryIsRefused: two nodes never work on one store.
func TestALockedDirectoryIsRefused(t *testing.T) {
	data := t.TempDir()
	n := started(t, config(data))
	if _, err := Open(config(data)); !errors.Is(err, tiers.ErrLocked) {
		t.Errorf("a second node got %v", err)
	}
	n.want(t, "+OK\r\n", "set", "k", "v")
	closed(t, n)
	n = open(t, config(data))
	defer closed(t, n)
	if !n.Clean() {
		t.Error("the second node has taken the mark")
	}
}

// TestOpenRefuses: what cannot work is said at the opening, and the store is free
// again.
func TestOpenRefuses(t *testing.T) {
	data := t.TempDir()
	c := config(data)
	c.MemoryMax = 1
	if _, err := Open(c); err == nil {
		t.Error("a memory tier of one byte was opened")
	}
	c.MemoryMax = 0 // none at all
	n := started(t, c)
	n.want(t, "+OK\r\n", "set", "k", "v")
	n.want(t, "$1\r\nv\r\n", "get", "k")
	closed(t, n)
}

// TestCloseWaitsForRuns: batches under way end, later ones are refused, and what
// was answered is there after the next start.
func TestCloseWaitsForRuns(t *testing.T) {
	data := t.TempDir()
	n := started(t, config(data))
	const sessions = 4
	var done [sessions]int
	var running sync.WaitGroup
	for i := range sessions {
		running.Go(func() {
			for {
				_, err := n.do(t, "incr", fmt.Sprint("n", i))
				if errors.Is(err, tiers.ErrClosed) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				done[i]++
			}
		})
	}
	time.Sleep(20 * time.Millisecond)
	closed(t, n)
	running.Wait()
	if _, err := n.Watch(context.Background(), table(), 0, [][]byte{[]byte("k")}); !errors.Is(err, tiers.ErrClosed) {
		t.Errorf("Watch after Close: %v", err)
	}
	n = started(t, config(data))
	defer closed(t, n)
	for i := range sessions {
		want := fmt.Sprint(done[i])
		n.want(t, fmt.Sprintf("$%d\r\n%s\r\n", len(want), want), "get", fmt.Sprint("n", i))
	}
}

// TestStats: the figures say what was done.
func TestStats(t *testing.T) {
	c := config(t.TempDir())
	c.SSD.FS = vfs.Default
	n := started(t, c)
	defer closed(t, n)
	n.want(t, "+OK\r\n", "set", "k", "v")
	n.want(t, "$1\r\nv\r\n", "get", "k")
	n.want(t, "$-1\r\n", "get", "none")
	n.want(t, "+OK\r\n", "mset", "a", "1", "b", "2")
	got := n.Stats()
	if got.KeyspaceHits != 1 || got.KeyspaceMisses != 1 || got.CrossSlot != 1 || got.MemoryEntries != 3 || got.MemoryMax != memory.MinSize {
		t.Errorf("the figures are %+v", got)
	}
	if got.DiskFull || got.LastSave.IsZero() {
		t.Errorf("the figures are %+v", got)
	}
}
