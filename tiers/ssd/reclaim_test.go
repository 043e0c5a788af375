package ssd

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/tiergrid/tiergrid/tiers"
)

// fillUp writes values until growth is refused, also after compactions have
// done what they can, and returns their number.
func fillUp(t *testing.T, s *Store, size int) int {
	t.Helper()
	value := make([]byte, size)
	random := rand.NewChaCha8([32]byte{})
	n := 0
	for refused := time.Now(); time.Since(refused) < 300*time.Millisecond; time.Sleep(time.Millisecond) {
		for ; s.Room(size) == nil; n++ {
			// Not in key order, as keys are hashed.
			_, _ = random.Read(value) // else tables would shrink to nothing
			mustApply(t, s, false, func(b *tiers.Batch) { b.Set(rowKey(n), value) })
			refused = time.Now()
		}
	}
	return n
}

func rowKey(i int) []byte { return fmt.Appendf(nil, "k%08x", uint32(i)*2654435761) }

// TestDeletesBringRoom: a full store accepts writes again after a tenth of its
// rows was deleted, however the rows are spread and whether their values stand
// in value files or in tables (R19).
func TestDeletesBringRoom(t *testing.T) {
	for size, max := range map[int]int64{16_000: 48 << 20, 400: 12 << 20} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			c := small(vfs.NewMem())
			c.MaxSize, c.Poll = max, 2*time.Millisecond
			s := open(t, c)
			defer s.Close()
			n := fillUp(t, s, size)
			for i := range n / 10 {
				mustApply(t, s, false, func(b *tiers.Batch) { b.Delete(rowKey(i * 10)) })
			}
			// A twentieth of the size, half of what was deleted, at least.
			eventually(t, "room after deletes", func() bool { return s.Room(n/20*size/2) == nil })
			if got, found := read(t, s, string(rowKey(n-n%10-1))); !found || len(got) != size {
				t.Errorf("a row that was not deleted: found %v, %d bytes", found, len(got))
			}
		})
	}
}

// TestBallastComesBackAtTheReserve: it doesn't wait for its own size on top of
// the reserve, which a store that was filled to the reserve never sees again.
// Growth waits until the reserve is whole.
func TestBallastComesBackAtTheReserve(t *testing.T) {
	disk := vfs.NewMem()
	space := func(n int64) { disk.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: uint64(n), TotalBytes: 1 << 40}) }
	c := small(disk)
	c.Reserve, c.Ballast, c.Poll = 8<<20, 2<<20, time.Hour
	space(100 << 20)
	s := open(t, c)
	defer s.Close()
	s.space.giveUpBallast()
	for _, step := range []struct {
		free          int64
		ballast, room bool
	}{
		{2 << 20, false, false},
		{c.Reserve, false, false},
		{c.Reserve + s.config.slack() - 1, false, false},
		{c.Reserve + s.config.slack(), true, true}, // as the simulated disk takes nothing for it
		{c.Reserve, true, true},
		{c.Reserve - 1, true, false},
		{c.Reserve, true, false},
		{c.Reserve + s.config.slack(), true, true},
	} {
		space(step.free)
		s.space.look()
		_, err := disk.Stat("data/store/" + ballastName)
		if (err == nil) != step.ballast || (s.Room(0) == nil) != step.room {
			t.Errorf("%d bytes free: ballast %v, room %v, want %v, %v", step.free, err == nil, s.Room(0) == nil, step.ballast, step.room)
		}
	}
}

func table(smallest, largest string, size uint64) pebble.SSTableInfo {
	var t pebble.SSTableInfo
	t.Smallest.UserKey, t.Largest.UserKey, t.Size = []byte(smallest), []byte(largest), size
	return t
}

// TestChunks: they cover every table above the bottom level and have about the
// size asked for.
func TestChunks(t *testing.T) {
	levels := [][]pebble.SSTableInfo{
		{table("a", "z", 1)},
		{table("f", "g", 5), table("g", "h", 5)},
		{table("a", "c", 10), table("d", "e", 10), table("f", "h", 10), table("s", "s", 4)},
	}
	text := func(parts []chunk) string {
		var b strings.Builder
		for _, c := range parts {
			fmt.Fprintf(&b, "%q-%q:%d ", c.start, c.end, c.size)
		}
		return strings.TrimSpace(b.String())
	}
	for _, tt := range []struct {
		name, want string
		parts      []chunk
	}{
		{"nothing", ``, chunks(nil, 10)},
		{"only the bottom", ``, chunks([][]pebble.SSTableInfo{nil, levels[2]}, 10)},
		{"one row", `"s"-"s\x00":4`, chunks([][]pebble.SSTableInfo{levels[2][3:], nil}, 10)},
		{"all", `"a"-"d":11 "d"-"f":10 "f"-"g":15 "g"-"z\x00":9`, chunks(levels, 10)},
		{"without those above none", `"d"-"f":10 "f"-"g":15 "g"-"s\x00":9`, chunks([][]pebble.SSTableInfo{nil, levels[1], levels[2]}, 10)},
		{"from the cursor on", `"f"-"g":15 "g"-"z\x00":9 "a"-"d":11 "d"-"f":10`, rotate(chunks(levels, 10), []byte("fx"))},
		{"cursor behind all", `"a"-"z\x00":45`, rotate(chunks(levels, 100), []byte("zz"))},
	} {
		if got := text(tt.parts); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestReclaimIsDue: at once when a hundredth of the tables was written since
// the last round, later the less it was, never for nothing.
func TestReclaimIsDue(t *testing.T) {
	c := small(vfs.NewMem())
	c.Poll = time.Hour
	s := open(t, c)
	defer s.Close()
	s.space.last.Store(&reading{used: usage{tables: 100_000}})
	const took = 10 * time.Second
	for _, tt := range []struct {
		name           string
		written, since int64
		ago            time.Duration
		due            bool
	}{
		{"first round", -1, 0, 0, true},
		{"nothing written", 0, 0, time.Hour, false},
		{"much, just now", 0, 100_000, reclaimRest / 2, false},
		{"much", 0, 100_000, reclaimRest + took/10, true},
		{"a hundredth, too early", 0, 1000, took, false},
		{"a hundredth", 0, 1000, reclaimRest + took, true},
		{"a byte, too early", 0, 1, 10 * took, false},
		{"a byte", 0, 1, reclaimRest + 10*took, true},
	} {
		r := &reclaimer{store: s, written: tt.written, took: took, ended: time.Now().Add(-tt.ago)}
		s.space.written.Store(max(0, tt.written) + tt.since)
		if r.due() != tt.due {
			t.Errorf("%s: due %v", tt.name, !tt.due)
		}
	}
}

// TestReclaimEndsWithTheStore: Close doesn't wait for a round.
func TestReclaimEndsWithTheStore(t *testing.T) {
	c := small(vfs.NewMem())
	c.MaxSize, c.Poll = 8<<20, time.Millisecond
	s := open(t, c)
	value := make([]byte, 8000)
	for i := 0; s.Room(len(value)) == nil; i++ {
		mustApply(t, s, false, func(b *tiers.Batch) { b.Set(rowKey(i), value) })
	}
	began := time.Now()
	if err := s.Close(); err != nil || time.Since(began) > 3*time.Second {
		t.Errorf("Close took %v: %v", time.Since(began), err)
	}
}

// TestGarbageRatio: the nearer the limit, the less garbage is left in value
// files; where rewriting could fill the disk it ends.
func TestGarbageRatio(t *testing.T) {
	c := small(vfs.NewMem())
	c.MaxSize, c.Reserve, c.Poll = 100<<20, 8<<20, time.Hour
	s := open(t, c)
	defer s.Close()
	for _, tt := range []struct {
		used, free int64
		pressing   bool
		want       float64
	}{
		{0, unknownSpace, false, 0.3},
		{50 << 20, 1 << 30, false, 0.3},
		{95 << 20, 1 << 30, false, 0.15},
		{50 << 20, 9 << 20, false, 0.15},
		{95 << 20, 1 << 30, true, 0.05},
		{95 << 20, 1 << 20, true, 1},
	} {
		s.space.last.Store(&reading{used: usage{files: tt.used}, free: tt.free})
		s.space.pressing.Store(tt.pressing)
		if got := s.space.garbageRatio(); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}
