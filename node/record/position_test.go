package record

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/tiergrid/tiergrid/membership/topology"
)

func drawPosition(t *rapid.T) Position {
	count := rapid.Int64Range(0, 1<<63-1)
	p := Position{
		Group:     topology.GroupID(rapid.Uint32().Draw(t, "group")),
		Partition: rapid.Uint16().Draw(t, "partition"),
		Version:   rapid.Uint64().Draw(t, "version"),
		Now:       rapid.Int64().Draw(t, "now"),
	}
	for range rapid.IntRange(0, 4).Draw(t, "caches") {
		p.Caches = append(p.Caches, CacheCounters{
			Cache: topology.CacheID(rapid.Uint32().Draw(t, "cache")),
			Counters: Counters{
				Entries: count.Draw(t, "entries"), Bytes: count.Draw(t, "bytes"),
				Deadlines: count.Draw(t, "deadlines"), Collections: count.Draw(t, "collections"),
			},
		})
	}
	return p
}

func TestPositionsAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []Position
		for range rapid.IntRange(0, 3).Draw(t, "positions") {
			want = append(want, drawPosition(t))
		}
		row := AppendPositions(nil, want...)
		var got []Position
		err := ParsePositions(row, func(p Position) { got = append(got, p) })
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v is read as %+v, %v", want, got, err)
		}
		piecewise := BeginPositions(nil)
		for i := range want {
			piecewise = AppendPosition(piecewise, &want[i])
		}
		if !bytes.Equal(piecewise, row) {
			t.Fatalf("piece by piece the row is %x, want %x", piecewise, row)
		}
	})
}

func TestDamagedPositions(t *testing.T) {
	one := Position{Group: 1, Version: 2, Caches: []CacheCounters{{1, Counters{300, 1, 1, 1}}}}
	good := AppendPositions(nil, one)
	negative := AppendPositions(nil, Position{Caches: []CacheCounters{{1, Counters{Entries: -1}}}})
	long := AppendPositions(nil, Position{Caches: []CacheCounters{{1, Counters{}}}})
	long = append(long[:len(long)-1], 0x80, 0) // the last counter, longer than it need be
	for name, c := range map[string]struct {
		row  []byte
		want error
	}{
		"empty":               {nil, ErrCorrupt},
		"other version":       {[]byte{positionVersion + 1}, ErrVersion},
		"cut":                 {good[:len(good)-1], ErrCorrupt},
		"cut in the middle":   {good[:10], ErrCorrupt},
		"something behind":    {append(bytes.Clone(good), 0), ErrCorrupt},
		"count below zero":    {negative, ErrCorrupt},
		"length not shortest": {long, ErrCorrupt},
	} {
		if err := ParsePositions(c.row, func(Position) {}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if err := ParsePositions(good, func(Position) {}); err != nil {
		t.Error(err)
	}
}

func TestVersionsAreInTheOrderOfEpochAndSequence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		epoch := rapid.Uint32Range(0, MaxEpoch).Draw(t, "epoch")
		sequence := rapid.Uint64Range(0, MaxSequence).Draw(t, "sequence")
		v := Version(epoch, sequence)
		if Epoch(v) != epoch || Sequence(v) != sequence {
			t.Fatalf("version %x is (%d, %d), want (%d, %d)", v, Epoch(v), Sequence(v), epoch, sequence)
		}
		if sequence < MaxSequence && Version(epoch, sequence+1) <= v {
			t.Fatalf("the sequence behind %d has no higher version", sequence)
		}
		if epoch < MaxEpoch && Version(epoch+1, 0) <= v {
			t.Fatalf("the epoch behind %d has no higher version", epoch)
		}
	})
}

func TestCountersAdd(t *testing.T) {
	c := Counters{1, 2, 3, 4}
	by := Counters{10, 20, 30, 40}
	c.Add(&by, 1)
	if want := (Counters{11, 22, 33, 44}); c != want {
		t.Errorf("forwards: %+v, want %+v", c, want)
	}
	c.Add(&by, -1)
	if want := (Counters{1, 2, 3, 4}); c != want {
		t.Errorf("and back: %+v, want %+v", c, want)
	}
}

func FuzzParsePositions(f *testing.F) {
	f.Add(AppendPositions(nil))
	f.Add(AppendPositions(nil, Position{Group: 1, Caches: []CacheCounters{{1, Counters{300, 1, 1, 1}}}}))
	f.Fuzz(func(t *testing.T, row []byte) {
		var got []Position
		err := ParsePositions(row, func(p Position) { got = append(got, p) })
		if err == nil && !bytes.Equal(AppendPositions(nil, got...), row) {
			t.Errorf("%x is read as %+v", row, got)
		}
	})
}
