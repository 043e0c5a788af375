package tiers_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"log/slog"
	"testing"

	"go.uber.org/goleak"

	"github.com/tiergrid/tiergrid/tiers"
	"github.com/tiergrid/tiergrid/tiers/memory"
	"github.com/tiergrid/tiergrid/tiers/ssd"
	"github.com/tiergrid/tiergrid/tiers/tiertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func openStore(t testing.TB) tiers.Store {
	t.Helper()
	s, err := ssd.Open(ssd.Config{
		Dir: "store", FS: ssd.InMemory(), MemTable: 8 << 20, BlockCache: 8 << 20,
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func openMemory(maxSize int64, domain func([]byte) uint32) func(testing.TB) tiers.Tier {
	return func(t testing.TB) tiers.Tier {
		t.Helper()
		m, err := memory.New(memory.Config{MaxSize: maxSize, Domain: domain})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
}

// TestStackConformance judges every policy: without memory, with one in which
// hardly anything fits, and with one that holds everything.
func TestStackConformance(t *testing.T) {
	domain := func(key []byte) uint32 { return uint32(len(key)) }
	for name, open := range map[string]func(testing.TB) tiers.Tier{
		"store alone":           nil,
		"small memory":          openMemory(memory.MinSize, nil),
		"large memory":          openMemory(160<<20, nil),
		"memory of two domains": openMemory(16<<20, domain),
	} {
		t.Run(name, func(t *testing.T) {
			tiertest.RunStack(t, tiertest.StackOptions{OpenMemory: open, OpenStore: openStore})
		})
	}
}

// faulty is a stack without the rules: it promotes whatever it read, and
// writers put what they wrote into memory in the order they come.
type faulty struct {
	memory tiers.Tier
	store  tiers.Store
	safe   bool // promotes nothing
}

func (f *faulty) Get(key []byte, fn func([]byte)) (bool, error) {
	if found, err := f.memory.Get(key, fn); found || err != nil {
		return found, err
	}
	return f.store.Get(key, func(value []byte) {
		fn(value)
		if !f.safe {
			var up tiers.Batch
			up.Set(key, value)
			_, _ = f.memory.Apply(&up, false)
		}
	})
}

func (f *faulty) Apply(b *tiers.Batch, durable bool) (tiers.Ticket, error) {
	ticket, err := f.store.Apply(b, durable)
	if err == nil {
		_, err = f.memory.Apply(b, false)
	}
	return ticket, err
}

func (f *faulty) Close() error { return f.store.Close() }

// TestFaultyStacksAreCaught shows that the suite notices when R25 is broken:
// by promotion without the check, and by writers that set memory in any order.
func TestFaultyStacksAreCaught(t *testing.T) {
	for _, safe := range []bool{false, true} {
		store := &tiertest.Hooked{Store: openStore(t)}
		m := openMemory(16<<20, nil)(t)
		err := tiertest.NeverStale(&faulty{m, store, safe}, store)
		if err == nil {
			t.Errorf("a stack that breaks I10 passes (promotes nothing: %v)", safe)
		} else {
			t.Logf("caught: %v", err)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func newStack(t testing.TB, m tiers.Tier, s tiers.Store) *tiers.Stack {
	t.Helper()
	stack, err := tiers.New(tiers.Config{Memory: m, Store: s, Stripe: tiertest.RowStripe})
	if err != nil {
		t.Fatal(err)
	}
	return stack
}

func TestConfigNeedsStoreAndStripe(t *testing.T) {
	s := openStore(t)
	defer s.Close()
	for _, c := range []tiers.Config{{}, {Store: s}, {Stripe: tiertest.RowStripe}} {
		if _, err := tiers.New(c); err == nil {
			t.Errorf("a stack of %+v was made", c)
		}
	}
}

// TestPromotion: what was read below once is then served from memory, what is
// read by GetBelow isn't.
func TestPromotion(t *testing.T) {
	store := &tiertest.Hooked{Store: openStore(t)}
	s := newStack(t, openMemory(16<<20, nil)(t), store)
	defer s.Close()
	var b tiers.Batch
	b.Set([]byte("k"), []byte("v"))
	if _, err := store.Apply(&b, false); err != nil { // memory has not seen it
		t.Fatal(err)
	}
	reads := 0
	for _, c := range []struct {
		get   func([]byte, func([]byte)) (bool, error)
		reads int
	}{{s.GetBelow, 1}, {s.Get, 2}, {s.Get, 2}, {s.GetBelow, 3}} {
		store.Read = func([]byte) { reads++ }
		found, err := c.get([]byte("k"), func([]byte) {})
		if !found || err != nil || reads != c.reads {
			t.Fatalf("found %v, error %v, %d reads of the store, want %d", found, err, reads, c.reads)
		}
	}
	if st := s.Stats(); st.Promotions != 1 || st.Memory.Hits != 1 {
		t.Errorf("%d promotions, %d hits in memory, want 1 and 1", st.Promotions, st.Memory.Hits)
	}
}

// TestContendedRowsAreCounted: of two overlapping writes neither is held.
func TestContendedRowsAreCounted(t *testing.T) {
	store := &tiertest.Hooked{Store: openStore(t)}
	s := newStack(t, openMemory(16<<20, nil)(t), store)
	defer s.Close()
	var outer, inner tiers.Batch
	outer.Set([]byte("k"), []byte("1"))
	inner.Set([]byte("k"), []byte("2"))
	store.Applied = func(*tiers.Batch) {
		if _, err := s.Apply(&inner, false); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.Apply(&outer, false); err != nil {
		t.Fatal(err)
	}
	if got := s.Stats(); got.Contended != 2 || got.Memory.Entries != 0 {
		t.Errorf("%d rows contended, %d in memory, want 2 and 0", got.Contended, got.Memory.Entries)
	}
}

func TestBatch(t *testing.T) {
	var b tiers.Batch
	b.Set([]byte("a"), []byte("1"))
	b.SetBelow([]byte("b"), []byte("22"))
	b.Delete([]byte("c"))
	b.DeleteBelow([]byte("d"))
	b.DeleteRange([]byte("e"), []byte("f"))
	b.DeleteRangeBelow([]byte("g"), []byte("h"))
	var got bytes.Buffer
	for _, op := range b.Ops {
		fmt.Fprintf(&got, "%d%v%s%s ", op.Kind, op.Below, op.Key, op.Value)
	}
	const want = "1falsea1 1trueb22 2falsec 2trued 3falseef 3truegh "
	if got.String() != want || b.Len() != 6 || b.Size < 11 {
		t.Errorf("batch is %q of %d ops, size %d", got.String(), b.Len(), b.Size)
	}
	b.Reset()
	if b.Len() != 0 || b.Size != 0 || b.Ops[:1][0].Key != nil {
		t.Error("Reset left something")
	}
}

func row(i int) []byte {
	key := make([]byte, 24)
	binary.BigEndian.PutUint64(key, uint64(i)*0x9E3779B97F4A7C15)
	return key
}

// TestAllocations keeps the hot path free of garbage.
func TestAllocations(t *testing.T) {
	s := newStack(t, openMemory(64<<20, nil)(t), openStore(t))
	defer s.Close()
	key, value := row(1), make([]byte, 100)
	var b tiers.Batch
	b.Set(key, value)
	set := func() {
		if _, err := s.Apply(&b, false); err != nil {
			t.Fatal(err)
		}
	}
	var into []byte
	fn := func(v []byte) { into = append(into[:0], v...) }
	get := func() {
		if found, err := s.Get(key, fn); !found || err != nil {
			t.Fatal(found, err)
		}
	}
	if n := testing.AllocsPerRun(2000, set); n > 1 {
		t.Errorf("Apply of one row of 100 B makes %v allocations, at most 1 is allowed", n)
	}
	if n := testing.AllocsPerRun(2000, get); n != 0 {
		t.Errorf("Get from memory makes %v allocations, none is allowed", n)
	}
}

func benchmarkApply(b *testing.B, rows, size int) {
	s := newStack(b, openMemory(256<<20, nil)(b), openDisk(b))
	defer s.Close()
	keys, value := make([][]byte, 1<<14), make([]byte, size)
	for i := range keys {
		keys[i] = row(i)
	}
	var batch tiers.Batch
	b.SetBytes(int64(rows * size))
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		batch.Reset()
		for j := range rows {
			batch.Set(keys[(i*rows+j)%len(keys)], value)
		}
		if _, err := s.Apply(&batch, false); err != nil {
			b.Fatal(err)
		}
	}
}

func openDisk(b *testing.B) tiers.Store {
	s, err := ssd.Open(ssd.Config{Dir: b.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func BenchmarkApply100(b *testing.B)    { benchmarkApply(b, 1, 100) }
func BenchmarkApply16x100(b *testing.B) { benchmarkApply(b, 16, 100) }
func BenchmarkApply120k(b *testing.B)   { benchmarkApply(b, 1, 120_000) }

func benchmarkGet(b *testing.B, maxSize int64, rows, size int) {
	s := newStack(b, openMemory(maxSize, nil)(b), openDisk(b))
	defer s.Close()
	var batch tiers.Batch
	value := make([]byte, size)
	for i := range rows {
		batch.Reset()
		batch.Set(row(i), value)
		if _, err := s.Apply(&batch, false); err != nil {
			b.Fatal(err)
		}
	}
	var into []byte
	fn := func(v []byte) { into = append(into[:0], v...) }
	b.SetBytes(int64(size))
	b.ReportAllocs()
	b.ResetTimer()
	key := make([]byte, 24)
	for i := range b.N {
		binary.BigEndian.PutUint64(key, uint64(i%rows)*0x9E3779B97F4A7C15)
		if found, err := s.Get(key, fn); !found || err != nil {
			b.Fatal(found, err)
		}
	}
}

func BenchmarkGetHit100(b *testing.B)   { benchmarkGet(b, 256<<20, 10_000, 100) }
func BenchmarkGetHit120k(b *testing.B)  { benchmarkGet(b, 256<<20, 500, 120_000) }
func BenchmarkGetMiss100(b *testing.B)  { benchmarkGet(b, memory.MinSize, 1_000_000, 100) }
func BenchmarkGetMiss120k(b *testing.B) { benchmarkGet(b, 160<<20, 5_000, 120_000) }
