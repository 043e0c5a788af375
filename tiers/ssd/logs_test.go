package ssd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/tiergrid/tiergrid/tiers"
)

// burst writes more than all memtables hold and waits for the flush, so that
// Pebble has logs to keep for later.
func burst(t *testing.T, s *Store) {
	t.Helper()
	value := make([]byte, 100_000)
	for i := range 80 {
		mustApply(t, s, false, func(b *tiers.Batch) { b.Set(fmt.Appendf(nil, "burst%d", i), value) })
	}
	if err := s.db.Flush(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "idle logs", func() bool { return idleLogs(s) > 0 })
}

// idleLogs looks and returns how many logs are idle.
func idleLogs(s *Store) int {
	s.space.look()
	s.space.logs.mu.Lock()
	defer s.space.logs.mu.Unlock()
	return len(s.space.logs.idle)
}

// onDisk is what the files with the ending take on a real disk.
func onDisk(t *testing.T, dir, ending string) (sum int64) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, pebbleName, "*"+ending))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		var stat syscall.Stat_t
		if err := syscall.Stat(path, &stat); err == nil {
			sum += stat.Blocks * 512
		}
	}
	return sum
}

// TestIdleLogsCount: logs that wait for reuse, and what is allocated for them
// in advance, are part of the size; also after reopening.
func TestIdleLogsCount(t *testing.T) {
	c := Config{Dir: t.TempDir(), MemTable: 1 << 20, Poll: time.Hour, Ballast: -1}
	s := open(t, c)
	burst(t, s)
	if got, want := s.Stats().LogBytes, onDisk(t, c.Dir, ".log"); got != want || want < 2<<20 {
		t.Errorf("logs take %d bytes, the files %d", got, want)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, c)
	defer s.Close()
	eventually(t, "the same sum as the files", func() bool {
		s.space.look()
		return s.Stats().LogBytes == onDisk(t, c.Dir, ".log")
	})
}

// TestIdleLogsGoBeforeGrowthIsRefused: at max-size they make room, nothing
// that is needed goes with them, and Pebble, which still means to reuse them,
// gets new ones.
func TestIdleLogsGoBeforeGrowthIsRefused(t *testing.T) {
	c := Config{Dir: t.TempDir(), MemTable: 1 << 20, Poll: time.Hour, Ballast: -1}
	s := open(t, c)
	burst(t, s)
	mustApply(t, s, true, func(b *tiers.Batch) { b.Set([]byte("in the log"), []byte("v")) })
	s.config.MaxSize = s.usage().total()
	mustApply(t, s, false, func(b *tiers.Batch) { b.Set([]byte("one more"), []byte("v")) })
	before := onDisk(t, c.Dir, ".log")
	s.config.MaxSize--
	s.space.look()
	if after := onDisk(t, c.Dir, ".log"); after >= before || s.Room(1000) != nil {
		t.Errorf("logs took %d bytes, now %d; room: %v", before, after, s.Room(1000))
	}
	s.config.MaxSize = 0
	burst(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, c)
	defer s.Close()
	for _, key := range []string{"in the log", "one more", "burst79"} {
		if _, found := read(t, s, key); !found {
			t.Errorf("%s is gone", key)
		}
	}
}

// TestIdleLogsGoBeforeTheBallast: a full disk takes the idle logs first.
func TestIdleLogsGoBeforeTheBallast(t *testing.T) {
	disk := vfs.NewMem()
	var idle []string
	full := errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpFileWrite && strings.HasSuffix(op.Path, ".sst") && anyLeft(disk, idle) {
			return syscall.ENOSPC
		}
		return nil
	})
	toggle := &errorfs.Toggle{Injector: full}
	c := small(errorfs.Wrap(disk, toggle))
	var seen events
	c.OnEvent, c.Poll = seen.add, time.Hour
	s := open(t, c)
	defer s.Close()
	burst(t, s)
	for _, number := range s.space.logs.idle {
		idle = append(idle, s.space.logs.path(number))
	}
	toggle.On()
	mustApply(t, s, true, func(b *tiers.Batch) { b.Set([]byte("k"), []byte("v")) })
	if err := s.db.Flush(); err != nil {
		t.Fatal(err)
	}
	if seen.count(DiskFull) != 1 || anyLeft(disk, idle) || s.Room(1) != nil {
		t.Errorf("%d events, idle logs left: %v, room: %v", seen.count(DiskFull), anyLeft(disk, idle), s.Room(1))
	}
	if _, err := disk.Stat("data/store/" + ballastName); err != nil {
		t.Errorf("the ballast went too: %v", err)
	}
}

func anyLeft(disk *vfs.MemFS, paths []string) bool {
	return slices.ContainsFunc(paths, func(path string) bool {
		_, err := disk.Stat(path)
		return err == nil
	})
}

// TestIdleAreTheOldest: whatever Pebble did between the list and the count,
// only logs older than any in use are taken for idle.
func TestIdleAreTheOldest(t *testing.T) {
	disk := vfs.NewMem()
	l := newLogs(disk, "")
	for i, tt := range []struct {
		known []uint64
		idle  int
		want  string
	}{
		{nil, 3, "[]"},
		{[]uint64{4, 7, 9}, 0, "[]"},
		{[]uint64{4, 7, 9}, 2, "[4 7]"},
		{[]uint64{4}, 2, "[4]"},
	} {
		l.look(tt.known, tt.idle)
		if got := fmt.Sprint(l.idle); got != tt.want {
			t.Errorf("case %d: idle %s, want %s", i, got, tt.want)
		}
	}
}

// TestReuse: a log to be written over is renamed, or made if it is gone.
func TestReuse(t *testing.T) {
	dir := t.TempDir()
	fs := reuse{vfs.Default}
	for from, size := range map[string]int64{"there": 3, "gone": 0} {
		if size > 0 {
			if err := os.WriteFile(filepath.Join(dir, from), []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		f, err := fs.ReuseForWrite(filepath.Join(dir, from), filepath.Join(dir, "to "+from), vfs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		info, err := f.Stat()
		if err := errors.Join(err, f.Close()); err != nil || info.Size() != size {
			t.Errorf("%s: %d bytes, %v", from, info.Size(), err)
		}
	}
}
