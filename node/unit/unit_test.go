package unit

import (
	"flag"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.uber.org/goleak"
	"log/slog"

	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/node/record"
	"github.com/tiergrid/tiergrid/tiers"
	"github.com/tiergrid/tiergrid/tiers/ssd"
)

// TestMain makes every run the same unless -rapid.seed says otherwise.
func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("rapid.seed"); f.Value.String() == "0" {
		if err := f.Value.Set("1"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	goleak.VerifyTestMain(m)
}

// oneCache is a table of one cache, whose units are all in one epoch.
func oneCache(epoch uint32) *topology.Table {
	t := &topology.Table{
		Index:  uint64(epoch),
		Caches: []topology.Cache{{ID: 1, Name: "0", Group: 1, Policy: topology.DefaultPolicy()}},
		Groups: []topology.Group{{ID: 1, Units: make([]topology.Unit, topology.Partitions)}},
	}
	for i := range t.Groups[0].Units {
		t.Groups[0].Units[i].Epoch = epoch
	}
	for i := range t.Numbered {
		t.Numbered[i] = -1
	}
	t.Numbered[0] = 0
	return t
}

// shaky is a store whose batches fail while it is told so.
type shaky struct {
	tiers.Store
	fails atomic.Bool
}

func (s *shaky) Apply(b *tiers.Batch, durable bool) (tiers.Ticket, error) {
	if s.fails.Load() {
		return tiers.Ticket{}, fmt.Errorf("an error of the test")
	}
	return s.Store.Apply(b, durable)
}

// subject is a Set over a store in memory, without background work.
type subject struct {
	*Set
	t     testing.TB
	store *shaky
	fs    *vfs.MemFS
	clock *atomic.Int64

	closed bool
}

func open(t testing.TB, fs *vfs.MemFS, clock *atomic.Int64, table *topology.Table) *subject {
	t.Helper()
	store, err := ssd.Open(ssd.Config{Dir: "store", FS: fs, MemTable: 1 << 20, Ballast: -1, Reserve: 1, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	s := &subject{t: t, store: &shaky{Store: store}, fs: fs, clock: clock}
	stack, err := tiers.New(tiers.Config{Store: s.store, Stripe: record.Stripe})
	if err != nil {
		t.Fatal(err)
	}
	s.Set, err = Open(Config{Stack: stack, Table: table, Clock: clock.Load, SweepInterval: -1, SaveInterval: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func fresh(t testing.TB) *subject {
	t.Helper()
	clock := new(atomic.Int64)
	clock.Store(1_000_000)
	s := open(t, vfs.NewCrashableMem(), clock, oneCache(1))
	t.Cleanup(func() { s.close() })
	return s
}

func (s *subject) close() {
	s.t.Helper()
	if s.closed {
		return
	}
	s.closed = true
	if err := s.Set.Close(); err != nil {
		s.t.Error(err)
	}
	if err := s.stack.Close(); err != nil {
		s.t.Error(err)
	}
}

// again is the subject after a stop, or after a crash that loses all that was not
// synced, in the next epoch.
func (s *subject) again(crash bool) *subject {
	s.t.Helper()
	fs := s.fs
	if crash {
		fs = s.fs.CrashClone(vfs.CrashCloneCfg{})
	}
	s.close()
	return open(s.t, fs, s.clock, oneCache(s.table.Load().Groups[0].Units[0].Epoch+1))
}

func keyOf(name string) record.Key {
	return record.MakeKey(&[16]byte{}, 1, []byte(name))
}

// write runs one command on one key and commits it.
func (s *subject) write(name string, f func(*Txn, *record.Key)) error {
	t := s.Begin(s.table.Load())
	defer t.End()
	key := keyOf(name)
	if err := t.Acquire(t.UnitOf(&key)); err != nil {
		return err
	}
	t.StartWrite()
	f(t, &key)
	if err := t.FinishWrite(); err != nil {
		return err
	}
	return t.Commit()
}

func (s *subject) put(name, value string, deadline int64) {
	s.t.Helper()
	err := s.write(name, func(t *Txn, k *record.Key) { t.Put(k, record.Head{Deadline: deadline}, []byte(value)) })
	if err != nil {
		s.t.Fatal(err)
	}
}

// get reads a key under its lock.
func (s *subject) get(name string) (head record.Head, found bool) {
	s.t.Helper()
	if err := s.write(name, func(t *Txn, k *record.Key) { head, found = t.Head(k) }); err != nil {
		s.t.Fatal(err)
	}
	return head, found
}

func (s *subject) rows(space byte) int {
	s.t.Helper()
	n := 0
	err := s.eachRow(space, func(_, _ []byte) error {
		n++
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}
