package server_test

import (
	"bytes"
	"maps"

	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/node/record"
)

// place is one cache in one partition.
type place struct {
	cache     topology.CacheID
	partition uint16
}

// stored is all that the rows of a store say.
type stored struct {
	heads     map[string]record.Head // by row key
	counters  map[place]record.Counters
	positions map[uint16]uint64 // of the units, by partition
}

// rows visits the rows of spaces that follow one another, as of one moment.
func (f *fixture) rows(first, last byte, visit func(key, value []byte)) {
	f.t.Helper()
	iter, err := f.stack.NewIter([]byte{first}, []byte{last + 1})
	if err != nil {
		f.t.Fatal(err)
	}
	for ok := iter.First(); ok; ok = iter.Next() {
		value, err := iter.Value()
		if err != nil {
			f.t.Fatal(err)
		}
		visit(iter.Key(), value)
	}
	if err := iter.Close(); err != nil {
		f.t.Fatal(err)
	}
}

// audit reads every row and holds all that is counted against it: no row is
// without its entry and none is missing, and positions are stored atomically with
// their effects (I8).
func (f *fixture) audit() *stored {
	f.t.Helper()
	s := &stored{heads: map[string]record.Head{}, counters: map[place]record.Counters{}, positions: map[uint16]uint64{}}
	others := map[string]int{} // payload and deadline rows there must be, with their lengths
	f.rows(record.SpaceHead, record.SpaceHead, func(row, value []byte) {
		head, _, err := record.ParseHeadRow(value)
		key, ok := record.ParseHead(bytes.Clone(row))
		if err != nil || !ok {
			f.t.Fatalf("row %q cannot be read: %v", row, err)
		}
		s.add(&key, head, others)
	})
	f.auditOthers(others)
	f.auditPositions(s)
	f.auditTotals(s)
	return s
}

func (s *stored) add(key *record.Key, head record.Head, others map[string]int) {
	s.heads[string(key.AppendHead(nil))] = head
	at := place{key.Cache, topology.Partition(key.Slot)}
	by := record.Counters{Entries: 1, Bytes: int64(len(key.Name)) + int64(head.Length)}
	left := int64(head.Length)
	for chunk := range head.Chunks() {
		n := min(left, record.ChunkLength(int64(head.Length)))
		others[string(key.AppendPayload(nil, chunk))] = int(n)
		left -= n
	}
	if head.Deadline != 0 {
		by.Deadlines = 1
		others[string(key.AppendDeadline(nil, head.Deadline))] = 0
	}
	counters := s.counters[at]
	counters.Add(&by, 1)
	s.counters[at] = counters
}

func (f *fixture) auditOthers(want map[string]int) {
	f.t.Helper()
	for _, space := range []byte{record.SpacePayload, record.SpaceDeadline} {
		f.rows(space, space, func(key, value []byte) {
			if n, ok := want[string(key)]; !ok || n != len(value) {
				f.t.Fatalf("row %q of %d bytes belongs to no entry, or should have %d", key, len(value), n)
			}
			delete(want, string(key))
		})
	}
	for key := range want {
		f.t.Fatalf("row %q is missing", key)
	}
}

// auditPositions compares what positions and journal say with the entries.
func (f *fixture) auditPositions(s *stored) {
	f.t.Helper()
	counted := map[place]record.Counters{}
	f.rows(record.SpacePosition, record.SpaceJournal, func(_, value []byte) {
		err := record.ParsePositions(value, func(p record.Position) {
			if p.Version <= s.positions[p.Partition] {
				return
			}
			s.positions[p.Partition] = p.Version
			for _, c := range p.Caches {
				counted[place{c.Cache, p.Partition}] = c.Counters
			}
		})
		if err != nil {
			f.t.Fatal(err)
		}
	})
	maps.DeleteFunc(counted, func(_ place, c record.Counters) bool { return c == record.Counters{} })
	if !maps.Equal(counted, s.counters) {
		f.t.Fatalf("positions and journal count %v, there is %v", counted, s.counters)
	}
	for row, head := range s.heads {
		key, _ := record.ParseHead([]byte(row))
		if at := s.positions[topology.Partition(key.Slot)]; head.Version > at {
			f.t.Fatalf("%q has version %x, its unit only came to %x", key.Name, head.Version, at)
		}
	}
}

// auditTotals compares what DBSIZE and INFO show.
func (f *fixture) auditTotals(s *stored) {
	f.t.Helper()
	for i := range f.table.Caches {
		id := f.table.Caches[i].ID
		var want record.Counters
		for at, c := range s.counters {
			if at.cache == id {
				want.Add(&c, 1)
			}
		}
		t := f.units.Totals(id)
		got := record.Counters{
			Entries: t.Entries.Load(), Bytes: t.Bytes.Load(), Deadlines: t.Deadlines.Load(), Collections: t.Collections.Load(),
		}
		if got != want {
			f.t.Fatalf("cache %d is said to hold %+v, it holds %+v", id, got, want)
		}
	}
}

// growth checks that versions only grow and are never used twice (I11): whatever
// changed since an earlier audit is newer than its unit was then.
func (f *fixture) growth(before, after *stored) {
	f.t.Helper()
	for partition, version := range before.positions {
		if after.positions[partition] < version {
			f.t.Fatalf("unit %d went back from %x to %x", partition, version, after.positions[partition])
		}
	}
	for row, head := range after.heads {
		key, _ := record.ParseHead([]byte(row))
		was, there := before.heads[row]
		if there && was == head {
			continue
		}
		if at := before.positions[topology.Partition(key.Slot)]; head.Version <= at {
			f.t.Fatalf("%q was changed under version %x when its unit was at %x", key.Name, head.Version, at)
		}
	}
}
