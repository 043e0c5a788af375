package control

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"testing"
	"time"

	"github.com/tiergrid/tiergrid/membership/topology"
	"pgregory.net/rapid"
)

// anyEntry draws an entry out of few enough names and values that entries meet.
func anyEntry(t *rapid.T) Entry {
	name := func(what string) string {
		return rapid.SampledFrom([]string{"a", "b", "c", "0", "3", "15", "16", "x y", ""}).Draw(t, what)
	}
	roles := rapid.SliceOfN(rapid.SampledFrom([]string{"admin", "observer", "monitor"}), 0, 4)
	number := rapid.IntRange(-1, 16)
	flag := rapid.Bool()
	switch rapid.IntRange(0, 12).Draw(t, "kind") {
	case 0:
		return bootstrap
	case 1:
		return Register{Member: name("member"), StoreID: name("store"), Clean: flag.Draw(t, "clean")}
	case 2:
		return CreateUser{Name: name("user"), Hash: someHash, Roles: roles.Draw(t, "roles")}
	case 3:
		return SetPassword{Name: name("user"), Hash: someHash}
	case 4:
		return SetRoles{Name: name("user"), Roles: roles.Draw(t, "roles")}
	case 5:
		return RemoveUser{Name: name("user")}
	case 6:
		return CreateTemplate{Name: name("template"), Change: anyChange(t), IfAbsent: flag.Draw(t, "if-absent")}
	case 7:
		return AlterTemplate{Name: name("template"), Change: anyChange(t)}
	case 8:
		return RemoveTemplate{Name: name("template")}
	case 9:
		c := CreateCache{Name: name("cache"), Template: name("template"), Change: anyChange(t)}
		if flag.Draw(t, "numbered") {
			c.Database = ptr(number.Draw(t, "database"))
		}
		c.IfAbsent, c.HoldsEntries = flag.Draw(t, "if-absent"), flag.Draw(t, "holds-entries")
		return c
	case 10:
		return AlterCache{Name: name("cache"), Change: anyChange(t), HoldsEntries: flag.Draw(t, "holds-entries")}
	case 11:
		return RemoveCache{Name: name("cache")}
	}
	return SwapDatabases{A: number.Draw(t, "a"), B: number.Draw(t, "b")}
}

func anyChange(t *rapid.T) (c Change) {
	maybe := rapid.Bool()
	if maybe.Draw(t, "set mode") {
		c.Mode = ptr(rapid.SampledFrom([]string{topology.ModeDistributed, topology.ModeReplicated, "local"}).Draw(t, "mode"))
	}
	if maybe.Draw(t, "set owners") {
		c.Owners = ptr(rapid.IntRange(0, 7).Draw(t, "owners"))
	}
	if maybe.Draw(t, "set min-isr") {
		c.MinISR = ptr(rapid.IntRange(0, 3).Draw(t, "min-isr"))
	}
	if maybe.Draw(t, "set ttl") {
		c.TTL = ptr(time.Duration(rapid.IntRange(-1, 2).Draw(t, "ttl")) * time.Second)
	}
	return c
}

// history draws entries, of which the first is mostly a bootstrap.
func history(t *rapid.T) [][]byte {
	var list [][]byte
	entries := rapid.SliceOfN(rapid.Custom(anyEntry), 1, 40).Draw(t, "entries")
	if rapid.IntRange(0, 9).Draw(t, "bootstrapped") > 0 {
		entries = append([]Entry{bootstrap}, entries...)
	}
	for i, entry := range entries {
		b, err := encodeEntry(entry, moment(i))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, b)
	}
	return list
}

// The log replayed is a snapshot of any moment and the rest, byte for byte; no
// entry changes a state that was published; and every state is well formed.
func TestReplayIsSnapshotAndRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries := history(t)
		at := rapid.IntRange(0, len(entries)).Draw(t, "snapshot at")
		s, other := &State{}, &State{}
		for i, b := range entries {
			if i == at {
				restored, err := Restore(s.Snapshot())
				if err != nil {
					t.Fatal(err)
				}
				other = restored
			}
			before := s.Snapshot()
			next, _ := s.Apply(b)
			if !bytes.Equal(s.Snapshot(), before) {
				t.Fatalf("entry %d changed the state it was applied to", i)
			}
			if err := next.check(); err != nil || next.Index != s.Index+1 {
				t.Fatalf("entry %d: index %d, %v", i, next.Index, err)
			}
			s = next
			if i >= at {
				other, _ = other.Apply(b)
			}
		}
		if at < len(entries) && !bytes.Equal(s.Snapshot(), other.Snapshot()) {
			t.Fatal("a snapshot and the rest give another state than the whole log")
		}
	})
}

// checkTable holds what everyone who routes relies on.
func checkTable(s *State) error {
	table := s.table()
	for n := range topology.Databases {
		c := table.Database(n)
		if (c == nil) == s.Bootstrapped() {
			return fmt.Errorf("database %d is cache %v", n, c)
		}
		if c != nil && c.Database != n {
			return fmt.Errorf("database %d is cache %s, which has number %d", n, c.Name, c.Database)
		}
	}
	for _, c := range table.Caches {
		g := table.Group(c.Group)
		if g == nil || len(g.Units) != topology.Partitions {
			return fmt.Errorf("cache %s is in group %d: %v", c.Name, c.Group, g)
		}
	}
	return nil
}

func TestTableFollowsTheState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, groupOf := &State{}, map[topology.CacheID]topology.GroupID{}
		epochs := map[topology.GroupID]uint32{}
		for _, b := range history(t) {
			s, _ = s.Apply(b)
			if err := checkTable(s); err != nil {
				t.Fatal(err)
			}
			for _, c := range s.Caches {
				if g, known := groupOf[c.ID]; known && g != c.Group {
					t.Fatalf("cache id %d moved from group %d to %d", c.ID, g, c.Group)
				}
				groupOf[c.ID] = c.Group
			}
			for _, g := range s.Groups {
				if g.Units[0].Epoch < epochs[g.ID] {
					t.Fatalf("the epoch of group %d fell to %d", g.ID, g.Units[0].Epoch)
				}
				epochs[g.ID] = g.Units[0].Epoch
			}
		}
		for id := range epochs {
			if _, found := s.group(id); !found {
				t.Fatalf("group %d is gone, and its epochs with it", id)
			}
		}
	})
}

func TestSnapshotIsWrittenAsEver(t *testing.T) {
	s := applied(t, samples()[:10]...)
	old := golden(t, "snapshot", s.Snapshot())
	restored, err := Restore(old)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(restored.Snapshot(), old) {
		t.Error("restored and written again, the snapshot differs")
	}
	if c, found := restored.CacheNamed("respCache"); !found || c.Policy.TTL != 30*time.Minute || c.Home != 0 {
		t.Errorf("respCache = %+v", c)
	}
}

func TestDamagedSnapshotsAreRefused(t *testing.T) {
	whole := applied(t, samples()[:3]...).Snapshot()
	for i := range whole {
		for _, b := range [][]byte{whole[:i], flipped(whole, i)} {
			if s, err := Restore(b); s != nil || !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNewer) {
				t.Fatalf("cut or damaged at byte %d: %v", i, err)
			}
		}
	}
}

func TestEpochsDoNotOverflow(t *testing.T) {
	s := applied(t, bootstrap, Register{Member: "a", StoreID: "s"})
	for i := range s.Groups[0].Units {
		s.Groups[0].Units[i].Epoch = MaxEpoch
	}
	if _, err := s.Apply(encoded(t, Register{Member: "a", StoreID: "s"}, moment(0))); !errors.Is(err, ErrFull) {
		t.Errorf("err = %v", err)
	}
}

func TestLimits(t *testing.T) {
	s := applied(t, bootstrap)
	for len(s.Users) < MaxUsers {
		s.Users = append(s.Users, User{Name: fmt.Sprintf("u%06d", len(s.Users)), Hash: someHash})
	}
	for len(s.Templates) < MaxTemplates {
		s.Templates = append(s.Templates, Template{Name: fmt.Sprintf("t%06d", len(s.Templates)), Policy: s.Templates[0].Policy})
	}
	for len(s.Members) < MaxMembers {
		s.Members = append(s.Members, Member{Name: fmt.Sprintf("m%06d", len(s.Members)), StoreID: fmt.Sprint("s", len(s.Members))})
	}
	for len(s.Caches) < MaxCaches {
		c := s.Caches[0]
		s.LastCache++
		c.ID, c.Name, c.Database = s.LastCache, fmt.Sprintf("c%06d", s.LastCache), topology.NoDatabase
		s.Caches = append(s.Caches, c)
	}
	for _, entry := range []Entry{
		CreateUser{Name: "u", Hash: someHash}, CreateTemplate{Name: "t"}, CreateCache{Name: "c"}, Register{Member: "m", StoreID: "s"},
	} {
		if _, err := s.Apply(encoded(t, entry, moment(0))); !errors.Is(err, ErrFull) {
			t.Errorf("%T beyond the limit: %v", entry, err)
		}
	}
	b := s.Snapshot()
	if restored, err := Restore(b); err != nil || !bytes.Equal(restored.Snapshot(), b) {
		t.Errorf("a full state of %d bytes: %v", len(b), err)
	}
}

func FuzzRestore(f *testing.F) {
	whole := applied(f, samples()[:10]...).Snapshot()
	f.Add(whole[snapshotHead : len(whole)-4])
	empty := (&State{}).Snapshot()
	f.Add(empty[snapshotHead : len(empty)-4])
	f.Fuzz(func(t *testing.T, body []byte) {
		b := append([]byte(snapshotMagic), snapshotFormat, 0, 0, 0)
		b = binary.LittleEndian.AppendUint64(b, uint64(len(body)))
		b = append(b, body...)
		b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
		s, err := Restore(b)
		if err != nil {
			return
		}
		if again := s.Snapshot(); !bytes.Equal(again, b) {
			t.Fatalf("%x was taken for %x", b, again)
		}
		for _, entry := range samples() {
			if next, err := s.Apply(encoded(t, entry, moment(0))); next == nil {
				t.Fatalf("%T: %v", entry, err)
			}
		}
		newView(s, nil)
	})
}
