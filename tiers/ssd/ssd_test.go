package ssd

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/tiergrid/tiergrid/tiers"
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

func benchmarkApply(b *testing.B, rows, size int) {
	s := open(b, Config{Dir: b.TempDir()})
	defer s.Close()
	value := make([]byte, size)
	keys := make([][]byte, rows)
	for i := range keys {
		keys[i] = make([]byte, 24)
	}
	var batch tiers.Batch
	b.SetBytes(int64(rows * size))
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		batch.Reset()
		for j, key := range keys {
			copy(key, fmt.Sprintf("%024d", (i*rows+j)*7919%100003))
			batch.Set(key, value)
		}
		if _, err := s.Apply(&batch, false); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkApply100(b *testing.B)    { benchmarkApply(b, 1, 100) }
func BenchmarkApply16x100(b *testing.B) { benchmarkApply(b, 16, 100) }
func BenchmarkApply120k(b *testing.B)   { benchmarkApply(b, 1, 120_000) }
