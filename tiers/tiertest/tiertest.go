// Package tiertest is the conformance suite of tiers: what every Tier, Store
// and Stack must do, whatever it is built of.
//
// # Main types
//
// [Subject] is the part of a tier that is judged, so that a Stack passes the
// same suite as a Tier. [RunSubject] judges single calls and random histories,
// [RunStore] what a Store has more, [RunStack] the rules of a Stack under
// interleavings that are forced through a [Hooked] store, and [RunCrash] what
// survives a power loss.
//
// A tier that may forget is held to this: a row is absent or has the value last
// applied, never an older one.
//
// # Concurrency
//
// The Run functions are called from a test's goroutine. Checks that return an
// error instead of failing the test exist so that a test can show that a
// faulty stack doesn't pass.
//
// # What it does not do
//
// It knows no implementation; tests of what only one can do, such as injected
// I/O errors, stand beside that one.
package tiertest

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/tiergrid/tiergrid/tiers"
)

// Subject is what the suite needs of a tier or stack.
type Subject interface {
	Get(key []byte, fn func(value []byte)) (bool, error)
	Apply(b *tiers.Batch, durable bool) (tiers.Ticket, error)
	Close() error
}

// Options say what is judged and what it may do.
type Options struct {
	// Open returns a new, empty subject. The suite closes it.
	Open func(t testing.TB) Subject
	// Forgets: rows may be absent at any time.
	Forgets bool
}

// RunSubject judges a tier or stack by single calls and random histories.
func RunSubject(t *testing.T, o Options) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, *bench)
	}{
		{"absent", testAbsent},
		{"set and delete", testSetDelete},
		{"values of all sizes", testSizes},
		{"order within a batch", testBatchOrder},
		{"range is half open", testRangeBounds},
		{"below", testBelow},
		{"memory of the caller", testCallerMemory},
		{"durable ticket", testTicket},
		{"closed", testClosed},
		{"concurrent writers and readers", testConcurrent},
		{"random history", testRandom},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &bench{t: t, s: o.Open(t), forgets: o.Forgets}
			defer b.close()
			c.run(t, b)
		})
	}
}

// failer is what *testing.T and *rapid.T have in common.
type failer interface {
	Helper()
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// bench is one subject under test.
type bench struct {
	t       failer
	s       Subject
	forgets bool
	closed  bool
}

func (b *bench) close() {
	if !b.closed {
		b.closed = true
		if err := b.s.Close(); err != nil {
			b.t.Errorf("close: %v", err)
		}
	}
}

func (b *bench) apply(fill func(*tiers.Batch)) {
	b.t.Helper()
	if err := apply(b.s, fill); err != nil {
		b.t.Fatal(err)
	}
}

func apply(s Subject, fill func(*tiers.Batch)) error {
	var batch tiers.Batch
	fill(&batch)
	ticket, err := s.Apply(&batch, false)
	if err != nil {
		return err
	}
	return ticket.Wait()
}

// get returns a copy of the row's value, nil if it is absent.
// reads is the part of a Subject that reads.
type reads interface {
	Get(key []byte, fn func([]byte)) (bool, error)
}

func get(s reads, key []byte) ([]byte, error) {
	var got []byte
	found, err := s.Get(key, func(v []byte) { got = append([]byte{}, v...) })
	if found != (got != nil) {
		return nil, fmt.Errorf("Get(%q) found %v, but fn was called: %v", key, found, got != nil)
	}
	return got, err
}

// want checks one row; a nil value means absent.
func (b *bench) want(key string, value []byte) {
	b.t.Helper()
	b.wantFrom(b.s, key, value)
}

// wantBelow is want for a row that is written Below.
func (b *bench) wantBelow(key string, value []byte) {
	b.t.Helper()
	if s, ok := b.s.(interface {
		GetBelow(key []byte, fn func([]byte)) (bool, error)
	}); ok {
		b.wantFrom(getter(s.GetBelow), key, value)
		return
	}
	b.wantFrom(b.s, key, value)
}

// getter is a way to read rows.
type getter func(key []byte, fn func([]byte)) (bool, error)

// Get calls g.
func (g getter) Get(key []byte, fn func([]byte)) (bool, error) { return g(key, fn) }

func (b *bench) wantFrom(s reads, key string, value []byte) {
	b.t.Helper()
	got, err := get(s, []byte(key))
	if err != nil {
		b.t.Fatal(err)
	}
	if got == nil && (value == nil || b.forgets) {
		return
	}
	if got == nil || value == nil || !bytes.Equal(got, value) {
		b.t.Errorf("%q: got %s, want %s", key, show(got), show(value))
	}
}

func show(value []byte) string {
	switch {
	case value == nil:
		return "nothing"
	case len(value) > 40:
		return fmt.Sprintf("%d bytes %q…", len(value), value[:40])
	}
	return fmt.Sprintf("%q", value)
}

func testAbsent(_ *testing.T, b *bench) {
	b.want("", nil)
	b.want("nobody", nil)
	b.apply(func(w *tiers.Batch) { w.Delete([]byte("nobody")) })
	b.want("nobody", nil)
	b.apply(func(*tiers.Batch) {})
}

func testSetDelete(_ *testing.T, b *bench) {
	for _, key := range []string{"k", "\x00", "\xff\xff", "a longer key with \r\n and \x00 in it"} {
		b.apply(func(w *tiers.Batch) { w.Set([]byte(key), []byte("one")) })
		b.want(key, []byte("one"))
		b.want(key+"\x00", nil)
		b.apply(func(w *tiers.Batch) { w.Set([]byte(key), []byte("second")) })
		b.want(key, []byte("second"))
		b.apply(func(w *tiers.Batch) { w.Set([]byte(key), nil) })
		b.want(key, []byte{})
		b.apply(func(w *tiers.Batch) { w.Delete([]byte(key)) })
		b.want(key, nil)
	}
}

// testSizes writes each size over the one before, so that a tier that can't
// hold the new value must not keep the old one.
func testSizes(_ *testing.T, b *bench) {
	for i, size := range []int{1, 100, 4095, 4096, 4097, 10, 70_000, 120_000, 5, 1 << 20, 3 << 20, 7} {
		value := bytes.Repeat([]byte{byte('a' + i)}, size)
		b.apply(func(w *tiers.Batch) { w.Set([]byte("k"), value) })
		b.want("k", value)
	}
	key := bytes.Repeat([]byte("k"), 66_000)
	b.apply(func(w *tiers.Batch) { w.Set(key, []byte("long key")) })
	b.want(string(key), []byte("long key"))
	b.apply(func(w *tiers.Batch) { w.Delete(key) })
	b.want(string(key), nil)
}

func testBatchOrder(_ *testing.T, b *bench) {
	b.apply(func(w *tiers.Batch) {
		w.Set([]byte("a"), []byte("1"))
		w.Set([]byte("a"), []byte("2"))
		w.Set([]byte("b"), []byte("1"))
		w.Delete([]byte("b"))
		w.Delete([]byte("c"))
		w.Set([]byte("c"), []byte("1"))
		w.Set([]byte("d"), []byte("1"))
		w.DeleteRange([]byte("d"), []byte("f"))
		w.Set([]byte("e"), []byte("1"))
	})
	for key, value := range map[string][]byte{"a": []byte("2"), "b": nil, "c": []byte("1"), "d": nil, "e": []byte("1")} {
		b.want(key, value)
	}
}

func testRangeBounds(_ *testing.T, b *bench) {
	keys := []string{"a", "b", "b\x00", "c", "c\xff", "d"}
	fill := func() {
		b.apply(func(w *tiers.Batch) {
			for _, key := range keys {
				w.Set([]byte(key), []byte(key))
			}
		})
	}
	for _, r := range [][2]string{{"b", "c"}, {"b", "b"}, {"c", "b"}, {"a", "z"}, {"", "b\x00"}, {"b\x00", "c\xff"}} {
		fill()
		b.apply(func(w *tiers.Batch) { w.DeleteRange([]byte(r[0]), []byte(r[1])) })
		for _, key := range keys {
			value := []byte(key)
			if key >= r[0] && key < r[1] {
				value = nil
			}
			b.want(key, value)
		}
	}
}

// testBelow keeps the rule for rows that are written Below: nobody reads them by
// the Get of a stack.
func testBelow(_ *testing.T, b *bench) {
	for _, value := range []string{"1", "2"} {
		b.apply(func(w *tiers.Batch) { w.SetBelow([]byte("k"), []byte(value)) })
		b.wantBelow("k", []byte(value))
	}
	b.apply(func(w *tiers.Batch) { w.DeleteBelow([]byte("k")) })
	b.wantBelow("k", nil)
	b.apply(func(w *tiers.Batch) { w.SetBelow([]byte("k"), []byte("3")) })
	b.apply(func(w *tiers.Batch) { w.DeleteRangeBelow([]byte("a"), []byte("z")) })
	b.wantBelow("k", nil)
}

func testCallerMemory(_ *testing.T, b *bench) {
	key, value := []byte("key"), []byte("value")
	b.apply(func(w *tiers.Batch) { w.Set(key, value) })
	copy(key, "xxx")
	copy(value, "yyyyy")
	b.want("key", []byte("value"))
	b.want("xxx", nil)
}

func testTicket(t *testing.T, b *bench) {
	for i := range 20 {
		var batch tiers.Batch
		value := fmt.Appendf(nil, "%d", i)
		batch.Set([]byte("k"), value)
		ticket, err := b.s.Apply(&batch, true)
		if err != nil {
			t.Fatal(err)
		}
		b.want("k", value) // visible before it is durable
		if err := ticket.Wait(); err != nil {
			t.Fatal(err)
		}
	}
}

func testClosed(t *testing.T, b *bench) {
	b.close()
	if _, err := get(b.s, []byte("k")); !errors.Is(err, tiers.ErrClosed) {
		t.Errorf("Get: %v", err)
	}
	if err := apply(b.s, func(w *tiers.Batch) { w.Set([]byte("k"), nil) }); !errors.Is(err, tiers.ErrClosed) {
		t.Errorf("Apply: %v", err)
	}
	if err := b.s.Close(); !errors.Is(err, tiers.ErrClosed) {
		t.Errorf("Close: %v", err)
	}
}
