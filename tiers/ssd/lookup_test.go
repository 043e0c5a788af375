package ssd

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/tiergrid/tiergrid/tiers"
)

// TestLookupsWithFilters: rows are found or not in the same way whether lookups ask
// the filters of the bottom level or not.
func TestLookupsWithFilters(t *testing.T) {
	s := open(t, Config{Dir: t.TempDir(), MemTable: 1 << 20})
	defer s.Close()
	const keys = 5000
	want := make(map[string][]byte)
	key := func(i int) []byte { return fmt.Appendf(nil, "key:%05d", i) }
	for round, size := range []int{100, 0, 8 << 10} {
		mustApply(t, s, false, func(b *tiers.Batch) {
			for i := round; i < keys; i += 3 * (round + 1) {
				value := bytes.Repeat([]byte{byte(i)}, size)
				want[string(key(i))] = value
				b.Set(key(i), value)
			}
			b.Delete(key(round + 30))
			delete(want, string(key(round+30)))
			b.DeleteRange(key(100*round), key(100*round+20))
			for i := 100 * round; i < 100*round+20; i++ {
				delete(want, string(key(i)))
			}
		})
		if err := s.db.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := s.db.Compact(t.Context(), []byte("a"), []byte("z"), false); err != nil {
			t.Fatal(err)
		}
	}
	for _, absent := range []int32{0, oddsOne} {
		for i := range keys {
			s.odds.absent.Store(absent)
			var got []byte
			found, err := s.Get(key(i), func(value []byte) { got = bytes.Clone(value) })
			value, there := want[string(key(i))]
			if err != nil || found != there || !bytes.Equal(got, value) {
				t.Fatalf("with odds %d, %s: %v, %d bytes, %v; want %v, %d bytes", absent, key(i), found, len(got), err, there, len(value))
			}
		}
	}
}

// TestOdds: the odds follow what is looked up.
func TestOdds(t *testing.T) {
	var o odds
	for _, found := range []bool{false, true, false} {
		for range 10 * oddsPace {
			o.found(found)
		}
		if o.mostlyAbsent() == found {
			t.Errorf("after lookups that found %v the odds are %d", found, o.absent.Load())
		}
	}
}

// TestBlocksStayCached: rows that fit the block cache are read from disk once,
// whatever the memtables take.
func TestBlocksStayCached(t *testing.T) {
	s := open(t, Config{Dir: t.TempDir(), MemTable: 8 << 20, BlockCache: 8 << 20})
	defer s.Close()
	const keys = 10_000
	key := func(i int) []byte { return fmt.Appendf(nil, "key:%05d", i) }
	for range 20 { // memtables begin small, and grow when they are full
		mustApply(t, s, false, func(b *tiers.Batch) {
			for i := range keys {
				b.Set(key(i), bytes.Repeat(key(i), 20))
			}
		})
	}
	if err := s.db.Flush(); err != nil {
		t.Fatal(err)
	}
	readAll := func() int64 {
		before := s.db.Metrics().BlockCache.Misses
		for i := range keys {
			if found, err := s.Get(key(i), func([]byte) {}); !found || err != nil {
				t.Fatalf("%s: %v, %v", key(i), found, err)
			}
		}
		return s.db.Metrics().BlockCache.Misses - before
	}
	if first, again := readAll(), readAll(); first == 0 || again > keys/20 {
		t.Errorf("%d blocks were read at first and %d again", first, again)
	}
}
