package memory

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tiergrid/tiergrid/tiers"
	"github.com/tiergrid/tiergrid/tiers/tiertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, c Config) *Tier {
	t.Helper()
	m, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestConformance(t *testing.T) {
	for name, c := range map[string]Config{
		"one domain":   {MaxSize: 8 << 20},
		"many domains": {MaxSize: 8 << 20, Domain: lastByte},
		"own clock":    {MaxSize: 160 << 20, Clock: func() time.Duration { return 0 }},
	} {
		t.Run(name, func(t *testing.T) {
			tiertest.RunSubject(t, tiertest.Options{
				Open:    func(t testing.TB) tiertest.Subject { return open(t, c) },
				Forgets: true,
			})
		})
	}
}

// lastByte spreads the keys of a range over domains, the worst that a domain
// function can do.
func lastByte(key []byte) uint32 {
	if len(key) == 0 {
		return 0
	}
	return uint32(key[len(key)-1])
}

func has(t testing.TB, m *Tier, key string) bool {
	t.Helper()
	found, err := m.Get([]byte(key), func([]byte) {})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestRangeDropsOneDomain: a range within a domain leaves the others alone, a
// range over two drops everything.
func TestRangeDropsOneDomain(t *testing.T) {
	domain := func(key []byte) uint32 { return uint32(key[0]) }
	m := open(t, Config{MaxSize: 8 << 20, Domain: domain})
	defer m.Close()
	for _, key := range []string{"a1", "a2", "b1", "c1"} {
		m.set([]byte(key), []byte("v"))
	}
	m.installs.raise([]byte("a"), []byte("a2"))
	if has(t, m, "a1") || !has(t, m, "b1") || !has(t, m, "c1") {
		t.Error("a range within domain a dropped the wrong rows")
	}
	m.installs.raise([]byte("b"), []byte("c")) // c is exclusive: domain b alone
	if has(t, m, "b1") || !has(t, m, "c1") {
		t.Error("a range over exactly domain b dropped the wrong rows")
	}
	m.set([]byte("b1"), []byte("v"))
	m.installs.raise([]byte("a"), []byte("c\x00"))
	if has(t, m, "b1") || has(t, m, "c1") {
		t.Error("a range over several domains left rows")
	}
}

func TestLastBefore(t *testing.T) {
	for _, c := range []struct{ end, want string }{
		{"", ""}, {"\x00", ""}, {"a\x00", "a"}, {"b", "a\xff\xff\xff\xff\xff\xff\xff\xff"},
	} {
		got := lastBefore([]byte(c.end))
		if string(got) != c.want || (c.end != "" && bytes.Compare(got, []byte(c.end)) >= 0) {
			t.Errorf("lastBefore(%q) = %q, want %q", c.end, got, c.want)
		}
	}
}

// TestOversizeRemovesOlderCopy: R25's corollary for rows that don't fit.
func TestOversizeRemovesOlderCopy(t *testing.T) {
	m := open(t, Config{MaxSize: 64 << 20})
	defer m.Close()
	key := []byte("k")
	fits := make([]byte, m.Limit()-len(key)-installSize)
	m.set(key, fits)
	if !has(t, m, "k") {
		t.Fatalf("a row of exactly the limit of %d bytes isn't held", m.Limit())
	}
	m.set(key, append(fits, 0))
	if has(t, m, "k") {
		t.Error("the older copy of a row that grew too large is still there")
	}
	if got := m.Stats().Bypass; got != 1 {
		t.Errorf("bypass %d, want 1", got)
	}
}

// TestSmallRowsEvictAtTheIndexBound: rows so small that the index is full
// before the rings are still push out the oldest, and the bound holds.
func TestSmallRowsEvictAtTheIndexBound(t *testing.T) {
	m := open(t, Config{MaxSize: 4 << 20, Clock: func() time.Duration { return 0 }})
	defer m.Close()
	key := make([]byte, 8)
	n := 6 * int(m.size.entries)
	for i := range n {
		binary.BigEndian.PutUint64(key, uint64(i))
		m.set(key, []byte("tiny"))
	}
	st := m.Stats()
	if slack := int64(checkEvery + 64); st.Entries > m.size.entries*12/10+slack {
		t.Errorf("%d rows, the index may hold %d", st.Entries, m.size.entries)
	}
	if st.Entries < m.size.entries*7/10 {
		t.Errorf("only %d rows of %d that fit", st.Entries, m.size.entries)
	}
	recent := 0
	for i := n - 200; i < n; i++ {
		binary.BigEndian.PutUint64(key, uint64(i))
		if has(t, m, string(key)) {
			recent++
		}
	}
	if recent < 190 || st.Evictions != int64(n)-st.Entries {
		t.Errorf("%d of the 200 newest rows are held, %d of %d rows evicted", recent, st.Evictions, n)
	}
}

// TestMaxSizeIsTheWholeTier measures the heap of tiers full of small and of
// large rows.
func TestMaxSizeIsTheWholeTier(t *testing.T) {
	const maxSize = 32 << 20
	for _, size := range []int{10, 100, 20_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			before := heap()
			m := open(t, Config{MaxSize: maxSize})
			defer m.Close()
			key, value := make([]byte, 24), make([]byte, size)
			for i := range 3 * maxSize / (size + 60) {
				binary.BigEndian.PutUint64(key, uint64(i)*0x9E3779B97F4A7C15)
				m.set(key, value)
			}
			grown := heap() - before
			// The tiniest rows make some segments' indexes double.
			if grown > maxSize*5/4 || size >= 100 && grown > maxSize*23/20 {
				t.Errorf("max-size %d takes %d bytes of heap", maxSize, grown)
			}
			if st := m.Stats(); st.Bytes > st.MaxBytes || st.Bytes < maxSize/2 {
				t.Errorf("stats say %d bytes of %d", st.Bytes, st.MaxBytes)
			}
		})
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestClockNeverFalls: freecache's averages would not survive a step back.
func TestClockNeverFalls(t *testing.T) {
	now := 100 * time.Second
	c := newClock(func() time.Duration { return now })
	high := c.Now()
	for _, step := range []time.Duration{-50 * time.Second, 10 * time.Second, -100 * time.Second} {
		now += step
		if got := c.Now(); got < high {
			t.Fatalf("the clock fell from %d to %d", high, got)
		} else {
			high = got
		}
	}
}

func TestSizing(t *testing.T) {
	for _, maxSize := range []int64{MinSize, 64 << 20, 256 << 20, 1 << 30, 48e9} {
		s := sizeFor(maxSize)
		if s.ring+s.index != maxSize || s.ring < maxSize*3/4 || s.entries < 1 {
			t.Errorf("%d: %+v", maxSize, s)
		}
		if maxSize >= 128<<20 && s.ring < maxSize*7/8 {
			t.Errorf("%d: rings have only %d", maxSize, s.ring)
		}
	}
	if got := sizeFor(160 << 20).limit; got < 130_000 {
		t.Errorf("with 160 MiB a row may have only %d bytes", got)
	}
}

func TestValidate(t *testing.T) {
	if _, err := New(Config{MaxSize: MinSize - 1}); err == nil {
		t.Error("too small a tier was made")
	}
}

func TestAllocations(t *testing.T) {
	m := open(t, Config{MaxSize: 64 << 20})
	defer m.Close()
	var b tiers.Batch
	key, value := make([]byte, 30), make([]byte, 100)
	b.Set(key, value)
	set := testing.AllocsPerRun(1000, func() { _, _ = m.Apply(&b, false) })
	read := testing.AllocsPerRun(1000, func() { _, _ = m.Get(key, func([]byte) {}) })
	if set != 0 || read != 0 {
		t.Errorf("%v allocations per set, %v per get, want none", set, read)
	}
}

func BenchmarkSet100(b *testing.B) {
	m := open(b, Config{MaxSize: 64 << 20})
	defer m.Close()
	var batch tiers.Batch
	key, value := make([]byte, 30), make([]byte, 100)
	b.ReportAllocs()
	for i := range b.N {
		binary.LittleEndian.PutUint32(key, uint32(i))
		batch.Reset()
		batch.Set(key, value)
		if _, err := m.Apply(&batch, false); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGet100(b *testing.B) {
	m := open(b, Config{MaxSize: 64 << 20})
	defer m.Close()
	key, value := make([]byte, 30), make([]byte, 100)
	m.set(key, value)
	sum := 0
	fn := func(v []byte) { sum += len(v) }
	b.ReportAllocs()
	for range b.N {
		if ok, err := m.Get(key, fn); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}
