package record

import (
	"bytes"
	"cmp"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/tiergrid/tiergrid/membership/topology"
)

// drawKey draws keys of few caches, slots and hashes, so that neighbours and
// equals are frequent.
func drawKey(t *rapid.T, label string) Key {
	near := func(most uint64) *rapid.Generator[uint64] {
		return rapid.OneOf(rapid.Uint64Range(0, 2), rapid.Uint64Range(most-2, most), rapid.Uint64Range(0, most))
	}
	return Key{
		Cache: topology.CacheID(near(1<<32-1).Draw(t, label+" cache")),
		Slot:  uint16(near(topology.Slots-1).Draw(t, label+" slot")),
		Hash:  near(1<<HashBits-1).Draw(t, label+" hash"),
		Name:  rapid.SliceOfN(rapid.SampledFrom([]byte{0, 'a', 0xff}), 0, 4).Draw(t, label+" name"),
	}
}

func compareKeys(a, b *Key) int {
	return cmp.Or(
		cmp.Compare(a.Cache, b.Cache), cmp.Compare(a.Slot, b.Slot), cmp.Compare(a.Hash, b.Hash),
		bytes.Compare(a.Name, b.Name))
}

// The order on disk is that of cache, slot, hash and name: a unit is a range, and
// a cursor of slot and hash goes on where it stopped.
func TestRowKeysAreInTheOrderOfTheirKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawKey(t, "a"), drawKey(t, "b")
		want := compareKeys(&a, &b)
		if got := bytes.Compare(a.AppendHead(nil), b.AppendHead(nil)); got != want {
			t.Fatalf("heads of %+v and %+v: %d, want %d", a, b, got, want)
		}
		i, j := rapid.Uint32().Draw(t, "chunk a"), rapid.Uint32().Draw(t, "chunk b")
		if want == 0 {
			want = cmp.Compare(i, j)
		} else if a.Cache == b.Cache && a.Slot == b.Slot && a.Hash == b.Hash {
			return // the rows of two names of one hash may mix, but are different
		}
		if got := bytes.Compare(a.AppendPayload(nil, i), b.AppendPayload(nil, j)); got != want {
			t.Fatalf("payloads %d of %+v and %d of %+v: %d, want %d", i, a, j, b, got, want)
		}
	})
}

func TestRowKeysOfDifferentKeysDiffer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawKey(t, "a"), drawKey(t, "b")
		i, j := rapid.Uint32Range(0, 3).Draw(t, "chunk a"), rapid.Uint32Range(0, 3).Draw(t, "chunk b")
		same := compareKeys(&a, &b) == 0
		if got := bytes.Equal(a.AppendPayload(nil, i), b.AppendPayload(nil, j)); got != (same && i == j) {
			t.Fatalf("payload rows %d of %+v and %d of %+v are equal: %v", i, a, j, b, got)
		}
		if got := bytes.Equal(a.AppendDeadline(nil, 5), b.AppendDeadline(nil, 5)); got != same {
			t.Fatalf("deadline rows of %+v and %+v are equal: %v", a, b, got)
		}
	})
}

func TestRowKeysLieWithinTheirBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := drawKey(t, "key")
		within := func(what string, row, from, to []byte) {
			if bytes.Compare(from, row) > 0 || bytes.Compare(row, to) >= 0 {
				t.Fatalf("%s row %x is not in [%x, %x)", what, row, from, to)
			}
		}
		slot := int(k.Slot)
		within("head", k.AppendHead(nil),
			AppendSlotBound(nil, SpaceHead, k.Cache, slot), AppendSlotBound(nil, SpaceHead, k.Cache, slot+1))
		within("payload", k.AppendPayload(nil, 7),
			AppendSlotBound(nil, SpacePayload, k.Cache, slot), AppendSlotBound(nil, SpacePayload, k.Cache, slot+1))
		within("head", k.AppendHead(nil),
			AppendHashBound(nil, k.Cache, slot, k.Hash), AppendHashBound(nil, k.Cache, slot, k.Hash+1))
		partition := topology.Partition(k.Slot)
		within("deadline", k.AppendDeadline(nil, rapid.Int64().Draw(t, "deadline")),
			AppendDeadlineBound(nil, k.Cache, partition, 0), AppendPartitionEnd(nil, k.Cache, partition))
	})
}

// A sweeper may take every row before the bound of its time: none of an entry
// that still lives is among them, and all of a second that has passed are.
func TestDeadlineIndexIsInTheOrderOfTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := drawKey(t, "key")
		deadline := rapid.Int64Range(1, 1<<62).Draw(t, "deadline")
		now := deadline + rapid.Int64Range(-3000, 3000).Draw(t, "now - deadline")
		row := k.AppendDeadline(nil, deadline)
		before := bytes.Compare(row, AppendDeadlineBound(nil, k.Cache, topology.Partition(k.Slot), now)) < 0
		h := Head{Deadline: deadline}
		if before && !h.Expired(now) {
			t.Fatalf("the row of deadline %d comes before the bound of %d", deadline, now)
		}
		if !before && now >= deadline+1999 {
			t.Fatalf("the row of deadline %d does not come before the bound of %d", deadline, now)
		}
	})
}

func TestParsedRowKeysAreWhatWasAppended(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := drawKey(t, "key")
		if got, ok := ParseHead(k.AppendHead(nil)); !ok || compareKeys(&got, &k) != 0 {
			t.Fatalf("ParseHead = %+v, %v, want %+v", got, ok, k)
		}
		if got, ok := ParseDeadline(k.AppendDeadline(nil, 12345)); !ok || compareKeys(&got, &k) != 0 {
			t.Fatalf("ParseDeadline = %+v, %v, want %+v", got, ok, k)
		}
		row := k.AppendPayload(nil, 1)
		if want := k.AppendPayload(nil, 1<<31); !bytes.Equal(SetChunk(row, 1<<31), want) {
			t.Fatalf("SetChunk = %x, want %x", row, want)
		}
	})
}

func TestRowsOfOneKeyStayTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := drawKey(t, "key")
		domain := Domain(k.AppendHead(nil))
		for _, row := range [][]byte{k.AppendHead(nil), k.AppendPayload(nil, 3), k.AppendDeadline(nil, 1<<40)} {
			if Stripe(row) != k.Stripe() || Domain(row) != domain {
				t.Fatalf("row %x has stripe %x and domain %x, want %x and %x", row, Stripe(row), Domain(row), k.Stripe(), domain)
			}
		}
		if len(k.AppendDeadline(nil, 1)) > MaxRowKeyOverhead+len(k.Name) || len(k.AppendPayload(nil, 1)) > MaxRowKeyOverhead+len(k.Name) {
			t.Fatal("a row key is longer than MaxRowKeyOverhead says")
		}
		next := k
		next.Slot = (k.Slot + topology.SlotsPerPartition) % topology.Slots
		if Domain(next.AppendHead(nil)) == domain {
			t.Fatal("two partitions are one domain")
		}
	})
}

func TestRowsThatAreNoneOfTheirSpace(t *testing.T) {
	k := MakeKey(&goldenHashKey, 1, []byte("foo"))
	head, deadline := k.AppendHead(nil), k.AppendDeadline(nil, 1)
	for _, row := range [][]byte{nil, head[:11], deadline, k.AppendPayload(nil, 0), AppendJournalKey(nil, 1)} {
		if _, ok := ParseHead(row); ok {
			t.Errorf("%x passes for the row of a head", row)
		}
	}
	for _, row := range [][]byte{nil, deadline[:21], head, AppendPositionKey(nil, 1, 1)} {
		if _, ok := ParseDeadline(row); ok {
			t.Errorf("%x passes for a row of the deadline index", row)
		}
	}
	for _, row := range [][]byte{nil, {SpaceDeadline}, head[:6]} {
		if Stripe(row) != 0 || Domain(row) != 0 {
			t.Errorf("%x has a stripe or a domain", row)
		}
	}
}

func TestMakeKey(t *testing.T) {
	name := []byte("{user1000}.follow")
	want := Key{Cache: 9, Slot: topology.Slot(name), Hash: Hash(&goldenHashKey, name), Name: name}
	if got := MakeKey(&goldenHashKey, 9, name); !reflect.DeepEqual(got, want) {
		t.Errorf("MakeKey = %+v, want %+v", got, want)
	}
	if n := testing.AllocsPerRun(100, func() {
		k := MakeKey(&goldenHashKey, 9, name)
		var row [64]byte
		_ = Stripe(k.AppendHead(row[:0]))
	}); n > 0 {
		t.Errorf("a row key takes %v allocations", n)
	}
}

func FuzzParseHead(f *testing.F) {
	k := MakeKey(&goldenHashKey, 1, []byte("foo"))
	f.Add(k.AppendHead(nil))
	f.Add([]byte{SpaceHead})
	f.Fuzz(func(t *testing.T, row []byte) {
		k, ok := ParseHead(row)
		if ok && !bytes.Equal(k.AppendHead(nil), row) {
			t.Errorf("%x is read as %+v", row, k)
		}
	})
}

func FuzzParseDeadline(f *testing.F) {
	k := MakeKey(&goldenHashKey, 1, []byte("foo"))
	f.Add(k.AppendDeadline(nil, 1_700_000_000_000))
	f.Add([]byte{SpaceDeadline})
	f.Fuzz(func(t *testing.T, row []byte) {
		k, ok := ParseDeadline(row)
		if ok && !bytes.HasSuffix(k.AppendDeadline(nil, 1), row[deadlineOffset:]) {
			t.Errorf("%x is read as %+v", row, k)
		}
	})
}
