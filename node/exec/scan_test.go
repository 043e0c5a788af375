package exec

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/tiergrid/tiergrid/node/command"
)

// scanAll follows the cursor to its end and counts how often each name came.
func scanAll(t *testing.T, r *runner, options ...string) (map[string]int, int) {
	seen, pages := map[string]int{}, 0
	for cursor := "0"; ; {
		reply := decode(t, r.do(append([]string{"scan", cursor}, options...)...))
		pages++
		for _, e := range reply.Elems[1].Elems {
			seen[string(e.Bytes)]++
		}
		cursor = string(reply.Elems[0].Bytes)
		if n, err := strconv.ParseUint(cursor, 10, 64); err != nil || n > 1<<53 {
			t.Fatalf("cursor %s does not fit a double", cursor)
		}
		if cursor == "0" {
			return seen, pages
		}
	}
}

func TestScanVisitsEveryEntryOnce(t *testing.T) {
	r := newRunner()
	const n = 1000
	for i := range n {
		r.do("set", fmt.Sprint("key:", i), "v")
	}
	for _, count := range []string{"1", "7", "10", "999", "1000", "9223372036854775807"} {
		seen, pages := scanAll(t, r, "count", count)
		if len(seen) != n {
			t.Errorf("count %s: %d names, want %d", count, len(seen), n)
		}
		for name, times := range seen {
			if times != 1 {
				t.Errorf("count %s: %s came %d times", count, name, times)
			}
		}
		c, _ := strconv.Atoi(count)
		if want := (n + c - 1) / max(1, min(c, n)); pages < want-1 || pages > n+1 {
			t.Errorf("count %s: %d pages", count, pages)
		}
	}
	if seen, _ := scanAll(t, r, "match", "key:1?"); len(seen) != 10 {
		t.Errorf("match: %v", seen)
	}
}

// A page is bounded in bytes, whatever COUNT says, and goes on at the next one.
func TestScanPagesAreBounded(t *testing.T) {
	r := newRunner()
	long := strings.Repeat("n", 100_000)
	for i := range 30 {
		r.do("set", fmt.Sprint(i, long), "v")
	}
	seen, pages := scanAll(t, r, "count", "1000")
	if len(seen) != 30 || pages < 3 || pages > 4 {
		t.Errorf("%d names on %d pages", len(seen), pages)
	}
}

func TestKeysIsBounded(t *testing.T) {
	r := newRunner()
	long := strings.Repeat("n", 1<<20)
	for i := range 65 {
		r.do("set", fmt.Sprint(i, long), "v")
	}
	if reply := r.do("keys", "*"); string(reply) != "-"+string(command.ErrTooManyNames)+"\r\n" {
		t.Errorf("%.60q", reply)
	}
	if reply := r.do("keys", "1n*"); len(decode(t, reply).Elems) != 1 {
		t.Errorf("%.60q", reply)
	}
}

func TestFlushAllClearsEveryNumberedCache(t *testing.T) {
	r := newRunner()
	for i := range r.view.table.Caches {
		r.cache = &r.view.table.Caches[i]
		r.do("set", "k", "v")
	}
	r.do("flushall")
	for i := range r.view.table.Caches {
		r.cache = &r.view.table.Caches[i]
		want := ":0\r\n"
		if r.cache.Name == "hidden" {
			want = ":1\r\n"
		}
		if got := r.do("dbsize"); string(got) != want {
			t.Errorf("cache %s has %q entries, want %q", r.cache.Name, got, want)
		}
	}
}

func TestParseCursor(t *testing.T) {
	for text, want := range map[string]uint64{
		"": 0, "0": 0, "+7": 7, "-1": math.MaxUint64, "007": 7,
		"18446744073709551615": math.MaxUint64, "-18446744073709551615": 1,
	} {
		if got, ok := parseCursor([]byte(text)); !ok || got != want {
			t.Errorf("%q is %d, %v", text, got, ok)
		}
	}
	for _, text := range []string{"x", "-", "+", " 1", "1 ", "18446744073709551616", "99999999999999999999", "1\x00"} {
		if got, ok := parseCursor([]byte(text)); ok {
			t.Errorf("%q is %d", text, got)
		}
	}
}
