package tiertest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tiergrid/tiergrid/tiers"
)

// RunStore judges what a Store has beyond a Tier, and the Tier suite first.
func RunStore(t *testing.T, open func(testing.TB) tiers.Store) {
	RunSubject(t, Options{Open: func(t testing.TB) Subject { return open(t) }})
	for _, c := range []struct {
		name string
		run  func(*testing.T, tiers.Store)
	}{
		{"iterator bounds", testIterBounds},
		{"iterator sees one moment", testIterMoment},
		{"iterator after random history", testIterRandom},
		{"sync and room", testSyncRoom},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t)
			c.run(t, s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			testStoreClosed(t, s)
		})
	}
}

// walk returns all rows as "key=value", read by Next from the start.
func walk(t failer, s tiers.Store, lower, upper string) []string {
	t.Helper()
	it, err := s.NewIter([]byte(lower), []byte(upper))
	if err != nil {
		t.Fatal(err)
	}
	if it.Valid() {
		t.Error("an iterator is valid before its first move")
	}
	rows := collect(t, it, it.Next())
	if err := it.Close(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// collect returns the rows from where the iterator stands.
func collect(t failer, it tiers.Iter, ok bool) []string {
	t.Helper()
	rows := []string{}
	for ; ok; ok = it.Next() {
		if !it.Valid() {
			t.Fatal("a move returned true, but Valid is false")
		}
		value, err := it.Value()
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, fmt.Sprintf("%s=%s", it.Key(), value))
	}
	if it.Valid() || it.Error() != nil {
		t.Fatalf("at the end: valid %v, error %v", it.Valid(), it.Error())
	}
	return rows
}

func testIterBounds(t *testing.T, s tiers.Store) {
	set := func(w *tiers.Batch) {
		for _, key := range []string{"a", "b", "c", "d"} {
			w.Set([]byte(key), []byte(key))
		}
	}
	if err := apply(s, set); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		lower, upper string
		want         []string
	}{
		{"", "", []string{"a=a", "b=b", "c=c", "d=d"}},
		{"b", "d", []string{"b=b", "c=c"}},
		{"b\x00", "", []string{"c=c", "d=d"}},
		{"", "a", []string{}},
		{"x", "", []string{}},
	} {
		if got := walk(t, s, c.lower, c.upper); !slices.Equal(got, c.want) {
			t.Errorf("[%q, %q): %v, want %v", c.lower, c.upper, got, c.want)
		}
	}
	testIterSeek(t, s)
}

func testIterSeek(t *testing.T, s tiers.Store) {
	it, err := s.NewIter([]byte("b"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	for _, c := range []struct{ seek, want string }{{"c", "c"}, {"", "b"}, {"b\x00", "c"}, {"d", "d"}, {"a", "b"}} {
		if !it.Seek([]byte(c.seek)) || string(it.Key()) != c.want {
			t.Errorf("Seek(%q) stands on %q, want %q", c.seek, it.Key(), c.want)
		}
	}
	if it.Seek([]byte("e")) || it.Valid() {
		t.Error("Seek beyond the last row is valid")
	}
	if !it.First() || string(it.Key()) != "b" {
		t.Errorf("First stands on %q", it.Key())
	}
}

func testIterMoment(t *testing.T, s tiers.Store) {
	set := func(value string) func(w *tiers.Batch) {
		return func(w *tiers.Batch) {
			for _, key := range []string{"a", "b", "c"} {
				w.Set([]byte(key), []byte(value))
			}
		}
	}
	if err := apply(s, set("old")); err != nil {
		t.Fatal(err)
	}
	it, err := s.NewIter(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	ok := it.First()
	if err := errors.Join(apply(s, set("new")), apply(s, func(w *tiers.Batch) { w.DeleteRange([]byte("b"), []byte("c")) })); err != nil {
		t.Fatal(err)
	}
	if got := collect(t, it, ok); !slices.Equal(got, []string{"a=old", "b=old", "c=old"}) {
		t.Errorf("an open iterator sees %v", got)
	}
	if got := walk(t, s, "", ""); !slices.Equal(got, []string{"a=new", "c=new"}) {
		t.Errorf("a new iterator sees %v", got)
	}
}

func testIterRandom(t *testing.T, s tiers.Store) {
	rapid.Check(t, func(r *rapid.T) {
		model := map[string][]byte{}
		empty := func(w *tiers.Batch) { w.DeleteRange([]byte("k"), []byte("l")) }
		if err := apply(s, empty); err != nil {
			r.Fatal(err)
		}
		for range rapid.IntRange(1, 10).Draw(r, "batches") {
			if err := apply(s, func(w *tiers.Batch) { drawBatch(r, w, model) }); err != nil {
				r.Fatal(err)
			}
		}
		want := []string{}
		for _, key := range slices.Sorted(maps.Keys(model)) {
			want = append(want, fmt.Sprintf("%s=%s", key, model[key]))
		}
		if got := walk(r, s, "k", "l"); !slices.Equal(got, want) {
			r.Fatalf("walked over %d rows, want %d", len(got), len(want))
		}
	})
}

func testSyncRoom(t *testing.T, s tiers.Store) {
	if err := apply(s, func(w *tiers.Batch) { w.Set([]byte("k"), []byte("v")) }); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Sync(), s.Room(0), s.Room(1000)); err != nil {
		t.Fatal(err)
	}
	if st := s.Stats(); st.Bytes < 0 || st.Full {
		t.Errorf("stats of a new store: %+v", st)
	}
}

func testStoreClosed(t *testing.T, s tiers.Store) {
	if _, err := s.NewIter(nil, nil); !errors.Is(err, tiers.ErrClosed) {
		t.Errorf("NewIter after Close: %v", err)
	}
	if err := s.Sync(); !errors.Is(err, tiers.ErrClosed) {
		t.Errorf("Sync after Close: %v", err)
	}
}

// sameRows reports the first difference between a store and a model.
func sameRows(s tiers.Store, model map[string][]byte) error {
	it, err := s.NewIter(nil, nil)
	if err != nil {
		return err
	}
	defer it.Close()
	seen := 0
	for ok := it.First(); ok; ok = it.Next() {
		value, err := it.Value()
		if err != nil {
			return err
		}
		want, known := model[string(it.Key())]
		if !known || !bytes.Equal(want, value) {
			return fmt.Errorf("row %q is %s, want %s", it.Key(), show(value), show(want))
		}
		seen++
	}
	if seen != len(model) {
		return fmt.Errorf("%d rows, want %d", seen, len(model))
	}
	return it.Error()
}
