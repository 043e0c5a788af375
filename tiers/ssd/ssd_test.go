package ssd

import (
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.uber.org/goleak"

	"github.com/tiergrid/tiergrid/tiers"
	"github.com/tiergrid/tiergrid/tiers/tiertest"
)

// quiet is the logger of tests: what happened is judged by events.
var quiet = slog.New(slog.DiscardHandler)

func open(t testing.TB, c Config) *Store {
	t.Helper()
	if c.Logger == nil {
		c.Logger = quiet
	}
	s, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustApply(t testing.TB, s tiers.Tier, durable bool, fill func(*tiers.Batch)) {
	t.Helper()
	var b tiers.Batch
	fill(&b)
	ticket, err := s.Apply(&b, durable)
	if err == nil {
		err = ticket.Wait()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, s tiers.Tier, key string) (string, bool) {
	t.Helper()
	var got string
	found, err := s.Get([]byte(key), func(v []byte) { got = string(v) })
	if err != nil {
		t.Fatal(err)
	}
	return got, found
}

func TestReopenKeepsRowsAndID(t *testing.T) {
	// Not for the whole package: a failed store can't be closed.
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	large := string(make([]byte, 100_000))
	mustApply(t, s, true, func(b *tiers.Batch) {
		b.Set([]byte("a"), []byte("1"))
		b.Set([]byte("b"), []byte(large))
		b.Set([]byte("c"), []byte("3"))
		b.Delete([]byte("c"))
	})
	id := s.ID()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, Config{Dir: dir})
	defer s.Close()
	if s.ID() != id {
		t.Errorf("id %v, was %v", s.ID(), id)
	}
	for key, want := range map[string]string{"a": "1", "b": large} {
		if got, found := read(t, s, key); !found || got != want {
			t.Errorf("%s: found %v, %d bytes", key, found, len(got))
		}
	}
	if _, found := read(t, s, "c"); found {
		t.Error("c is back")
	}
}

// small is a store on a simulated disk that flushes often.
func small(disk vfs.FS) Config {
	return Config{Dir: "data/store", FS: disk, MemTable: 1 << 20, BlockCache: 4 << 20, Logger: quiet, rewriteAge: time.Nanosecond}
}

func TestConformance(t *testing.T) {
	tiertest.RunStore(t, func(t testing.TB) tiers.Store { return open(t, small(vfs.NewMem())) })
}

// TestCloseSyncs: a stop in order loses nothing, not even what nobody synced.
func TestCloseSyncs(t *testing.T) {
	disk := vfs.NewCrashableMem()
	s := open(t, small(disk))
	mustApply(t, s, false, func(b *tiers.Batch) { b.Set([]byte("k"), []byte("v")) })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, small(disk.CrashClone(vfs.CrashCloneCfg{})))
	defer s.Close()
	if _, found := read(t, s, "k"); !found {
		t.Error("the row is gone")
	}
}

// crashable is a disk of tiertest: a file system in memory that knows what was
// synced.
type crashable struct{ fs *vfs.MemFS }

func (d crashable) Open(t testing.TB) tiers.Store { return open(t, small(d.fs)) }

func (d crashable) Crash(seed uint64) tiertest.Disk {
	random := rand.New(rand.NewPCG(seed, 4))
	return crashable{d.fs.CrashClone(vfs.CrashCloneCfg{
		UnsyncedDataPercent: []int{0, 30, 70, 100}[random.IntN(4)],
		RNG:                 random,
	})}
}

func TestCrash(t *testing.T) {
	tiertest.RunCrash(t, func() tiertest.Disk { return crashable{vfs.NewCrashableMem()} })
}
