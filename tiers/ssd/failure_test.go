package ssd

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/tiergrid/tiergrid/tiers"
)

// events records what a store reports.
type events struct {
	mu   sync.Mutex
	seen map[EventKind]int
}

func (e *events) add(ev Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.seen == nil {
		e.seen = map[EventKind]int{}
	}
	e.seen[ev.Kind]++
}

func (e *events) count(kind EventKind) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.seen[kind]
}

// eventually waits for what a goroutine of the store does at its next poll.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("%s didn't happen", what)
}

func isLog(op errorfs.Op) bool { return strings.HasSuffix(op.Path, ".log") }

// TestFailedFsyncEndsTheStore (R10): OnFatal is called once, nothing is tried
// again, and the next process finds what was durable before.
func TestFailedFsyncEndsTheStore(t *testing.T) {
	for _, way := range []string{"ticket", "sync", "later write"} {
		t.Run(way, func(t *testing.T) {
			disk := vfs.NewCrashableMem()
			failing := errorfs.InjectorFunc(func(op errorfs.Op) error {
				sync := op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData
				if sync && isLog(op) {
					return syscall.EIO
				}
				return nil
			})
			toggle := &errorfs.Toggle{Injector: failing}
			c := small(errorfs.Wrap(disk, toggle))
			var fatal []error
			var seen events
			c.OnFatal, c.OnEvent = func(err error) { fatal = append(fatal, err) }, seen.add
			s := open(t, c)
			mustApply(t, s, true, func(b *tiers.Batch) { b.Set([]byte("k"), []byte("durable")) })
			toggle.On()
			if err := provoke(s, way); !errors.Is(err, tiers.ErrFailed) {
				t.Errorf("error %v", err)
			}
			if len(fatal) != 1 || seen.count(Failed) != 1 {
				t.Errorf("OnFatal had %v, %d events", fatal, seen.count(Failed))
			}
			judgeFailed(t, s)
			s = open(t, small(disk.CrashClone(vfs.CrashCloneCfg{})))
			defer s.Close()
			if got, _ := read(t, s, "k"); got != "durable" {
				t.Errorf("after the failure k is %q", got)
			}
		})
	}
}

// provoke makes the store meet the failing fsync in one of three ways.
func provoke(s *Store, way string) error {
	var b tiers.Batch
	b.Set([]byte("k"), []byte("lost"))
	ticket, err := s.Apply(&b, way == "ticket")
	switch way {
	case "ticket":
		return errors.Join(err, ticket.Wait())
	case "sync":
		return errors.Join(err, s.Sync())
	}
	_ = s.Sync()
	_, err = s.Apply(&b, false)
	return err
}

func judgeFailed(t *testing.T, s *Store) {
	t.Helper()
	if _, err := s.Get([]byte("k"), func([]byte) {}); !errors.Is(err, tiers.ErrFailed) {
		t.Errorf("Get: %v", err)
	}
	if err := s.Sync(); !errors.Is(err, tiers.ErrFailed) {
		t.Errorf("Sync: %v", err)
	}
	if err := s.Close(); !errors.Is(err, tiers.ErrFailed) {
		t.Errorf("Close: %v", err)
	}
}

// TestPanicInsideIsAFailure: a broken invariant of Pebble's ends the store, not
// the caller, whose recover would leave the commit locked.
func TestPanicInsideIsAFailure(t *testing.T) {
	c := small(vfs.NewMem())
	calls := 0
	c.OnFatal = func(error) { calls++ }
	s := open(t, c)
	db := s.db
	var b tiers.Batch
	b.Ops = append(b.Ops, tiers.Op{Kind: 99, Key: []byte("k")})
	if _, err := s.Apply(&b, false); !errors.Is(err, tiers.ErrFailed) || calls != 1 {
		t.Errorf("error %v, %d calls of OnFatal", err, calls)
	}
	judgeFailed(t, s)
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

func TestDefaultFatalExits(t *testing.T) {
	code := 0
	osExit = func(c int) { code = c }
	exit(errors.New("the reason"))
	if code != ExitCode {
		t.Errorf("exit code %d, want %d", code, ExitCode)
	}
}

// TestBallastSavesTheWrite: the disk is full although nothing was refused. The
// write at hand succeeds, growth is refused, deletes work, and when there is
// space again everything does.
func TestBallastSavesTheWrite(t *testing.T) {
	disk := vfs.NewMem()
	full := errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind != errorfs.OpFileWrite || !strings.Contains(op.Path, pebbleName) {
			return nil
		}
		if _, err := disk.Stat("data/store/" + ballastName); err != nil {
			return nil // the ballast is gone: there is space
		}
		return syscall.ENOSPC
	})
	toggle := &errorfs.Toggle{Injector: full}
	c := small(errorfs.Wrap(disk, toggle))
	var seen events
	c.OnEvent, c.Poll = seen.add, time.Hour
	s := open(t, c)
	defer s.Close()
	toggle.On()
	mustApply(t, s, true, func(b *tiers.Batch) { b.Set([]byte("k"), []byte("v")) })
	if seen.count(DiskFull) != 1 {
		t.Errorf("%d events of a full disk, want 1", seen.count(DiskFull))
	}
	if err := s.Room(1); !errors.Is(err, tiers.ErrFull) {
		t.Errorf("Room: %v", err)
	}
	mustApply(t, s, true, func(b *tiers.Batch) { b.Delete([]byte("k")) })
	toggle.Off()
	s.space.look()
	if err := s.Room(1); err != nil {
		t.Errorf("Room with space again: %v", err)
	}
	if _, err := disk.Stat("data/store/" + ballastName); err != nil {
		t.Errorf("the ballast isn't back: %v", err)
	}
}

// TestRoomByFreeSpace: growth is refused below the reserve, and events tell
// when it begins and ends.
func TestRoomByFreeSpace(t *testing.T) {
	disk := vfs.NewMem()
	space := func(n uint64) { disk.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: n, TotalBytes: 1 << 40}) }
	space(100 << 20)
	c := small(disk)
	var seen events
	c.OnEvent, c.Reserve, c.Poll = seen.add, 10<<20, time.Millisecond
	s := open(t, c)
	defer s.Close()
	if err := errors.Join(s.Room(0), s.Room(90<<20)); err != nil {
		t.Error(err)
	}
	if err := s.Room(90<<20 + 1); !errors.Is(err, tiers.ErrFull) {
		t.Errorf("room for more than reserve and free space: %v", err)
	}
	space(5 << 20)
	eventually(t, "refusing", func() bool { return seen.count(Refusing) == 1 })
	if err := s.Room(0); !errors.Is(err, tiers.ErrFull) || !s.Stats().Full {
		t.Errorf("Room: %v, stats %+v", err, s.Stats())
	}
	mustApply(t, s, false, func(b *tiers.Batch) { b.Delete([]byte("k")) })
	space(50 << 20)
	eventually(t, "accepting", func() bool { return seen.count(Accepting) == 1 })
	if err := s.Room(0); err != nil || s.Stats().Refusals != 2 {
		t.Errorf("Room: %v, %d refusals", err, s.Stats().Refusals)
	}
}

// TestWritesBetweenPollsCount: Room reckons with what was written since the
// last look.
func TestWritesBetweenPollsCount(t *testing.T) {
	c := small(vfs.NewMem())
	c.MaxSize, c.Poll = 1<<20, time.Hour
	s := open(t, c)
	defer s.Close()
	value := make([]byte, 600<<10)
	if err := s.Room(len(value)); err != nil {
		t.Fatal(err)
	}
	mustApply(t, s, false, func(b *tiers.Batch) { b.Set([]byte("k"), value) })
	if err := s.Room(len(value)); !errors.Is(err, tiers.ErrFull) {
		t.Errorf("a second value of 600 kB in 1 MiB: %v", err)
	}
}

// TestMaxSizeRecovers fills a store to max-size and empties it in both ways;
// deletes free the space by themselves.
func TestMaxSizeRecovers(t *testing.T) {
	for name, empty := range map[string]func(b *tiers.Batch, n int){
		"range": func(b *tiers.Batch, _ int) { b.DeleteRange([]byte("k"), []byte("l")) },
		"keys": func(b *tiers.Batch, n int) {
			for i := range n {
				b.Delete(fmt.Appendf(nil, "k%06d", i))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := small(vfs.NewMem())
			c.MaxSize, c.Poll = 24<<20, 2*time.Millisecond
			s := open(t, c)
			defer s.Close()
			n, value := 0, bytes.Repeat([]byte("0123456789abcdef"), 1000)
			for ; s.Room(len(value)) == nil; n++ {
				mustApply(t, s, false, func(b *tiers.Batch) { b.Set(fmt.Appendf(nil, "k%06d", n), value) })
			}
			if n < 700 {
				t.Errorf("only %d values of 16 kB fit in 24 MiB", n)
			}
			mustApply(t, s, true, func(b *tiers.Batch) { empty(b, n) })
			eventually(t, "room for a quarter", func() bool { return s.Room(6<<20) == nil })
		})
	}
}

// TestUsageAfterReopen: our sum has the value files that were there at the
// opening, which Pebble's own leaves out.
func TestUsageAfterReopen(t *testing.T) {
	disk := vfs.NewMem()
	s := open(t, small(disk))
	value := bytes.Repeat([]byte("x"), 50_000)
	for i := range 200 {
		mustApply(t, s, false, func(b *tiers.Batch) { b.Set(fmt.Appendf(nil, "k%d", i%150), value) })
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, small(disk))
	defer s.Close()
	var files int64
	eventually(t, "the same sum as the files", func() bool {
		files = sizes(t, disk, ".sst", ".blob")
		used := s.usage().files
		return used > files*95/100 && used < files*105/100
	})
	if files < 150*50_000 {
		t.Errorf("the files have only %d bytes", files)
	}
}

// sizes adds up the files of the store with one of the endings.
func sizes(t *testing.T, disk vfs.FS, endings ...string) int64 {
	t.Helper()
	var sum int64
	dir := "data/store/" + pebbleName
	names, err := disk.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		for _, ending := range endings {
			info, err := disk.Stat(dir + "/" + name)
			if err == nil && strings.HasSuffix(name, ending) {
				sum += info.Size()
			}
		}
	}
	return sum
}

// damage overwrites the middle of all files with the ending.
func damage(t *testing.T, disk *vfs.MemFS, ending string) {
	t.Helper()
	dir := "data/store/" + pebbleName
	names, err := disk.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	hit := 0
	for _, name := range names {
		if !strings.HasSuffix(name, ending) && !strings.HasPrefix(name, ending) {
			continue
		}
		f, err := disk.OpenReadWrite(dir+"/"+name, vfs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt(bytes.Repeat([]byte{0xa5}, 64), info.Size()/2); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		hit++
	}
	if hit == 0 {
		t.Fatalf("no file %s to damage", ending)
	}
}

// TestDamagedBlockEndsNothing: reads of the damaged value fail (Pebble's own
// Get says that it is empty) and are reported, others go on.
func TestDamagedBlockEndsNothing(t *testing.T) {
	disk := vfs.NewMem()
	s := open(t, small(disk))
	mustApply(t, s, true, func(b *tiers.Batch) {
		b.Set([]byte("large"), make([]byte, 5000))
		b.Set([]byte("small"), []byte("fine"))
	})
	if err := errors.Join(s.db.Flush(), s.Close()); err != nil {
		t.Fatal(err)
	}
	damage(t, disk, ".blob")
	c := small(disk)
	var seen events
	c.OnEvent = seen.add
	c.OnFatal = func(err error) { t.Errorf("fatal: %v", err) }
	s = open(t, c)
	defer s.Close()
	for range 2 {
		if found, err := s.Get([]byte("large"), func([]byte) {}); found || err == nil {
			t.Errorf("a damaged value was read: found %v, error %v", found, err)
		}
	}
	judgeDamagedWalk(t, s)
	if got, _ := read(t, s, "small"); got != "fine" {
		t.Errorf("small is %q", got)
	}
	if seen.count(Corruption) != 3 || s.Stats().Corruptions != 3 {
		t.Errorf("%d events, %d counted, want 3", seen.count(Corruption), s.Stats().Corruptions)
	}
	judgeSuspects(t, s)
}

func judgeDamagedWalk(t *testing.T, s *Store) {
	t.Helper()
	it, err := s.NewIter(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !it.First() || string(it.Key()) != "large" {
		t.Error("the key of the damaged value is gone")
	}
	if _, err := it.Value(); err == nil {
		t.Error("an iterator read a damaged value")
	}
	_ = it.Close() // repeats the error
}

// judgeSuspects: only one read of damaged rows runs at a time, and a row that
// was overwritten is sound.
func judgeSuspects(t *testing.T, s *Store) {
	t.Helper()
	s.suspects.reading.Lock()
	if _, err := s.Get([]byte("large"), func([]byte) {}); !errors.Is(err, errSuspect) {
		t.Errorf("a second read of a damaged row: %v", err)
	}
	s.suspects.reading.Unlock()
	mustApply(t, s, false, func(b *tiers.Batch) { b.Set([]byte("large"), []byte("new")) })
	if got, _ := read(t, s, "large"); got != "new" || s.suspects.has([]byte("large")) {
		t.Errorf("after overwriting the damaged row is %q, suspect %v", got, s.suspects.has([]byte("large")))
	}
}

// TestDamagedStoreNamesTheCure: a store that can't be opened says so in one
// line and stays as it is.
func TestDamagedStoreNamesTheCure(t *testing.T) {
	disk := vfs.NewMem()
	s := open(t, small(disk))
	mustApply(t, s, true, func(b *tiers.Batch) { b.Set([]byte("k"), []byte("v")) })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	damage(t, disk, "MANIFEST")
	for range 2 {
		err := openError(t, small(disk))
		if !errors.Is(err, tiers.ErrDamaged) || !strings.Contains(err.Error(), "move the directory away") {
			t.Errorf("error %v", err)
		}
	}
}

func TestEventText(t *testing.T) {
	e := Event{Kind: SlowDisk, Path: "a.log", Took: 2 * time.Second, Reason: "sync", Err: errors.New("why")}
	if got, want := e.String(), "slow disk a.log after 2s: sync: why"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestThrottleCountsDroppedLines(t *testing.T) {
	var th throttle
	now := time.Now()
	passed := 0
	for i := range 100 {
		if _, ok := th.pass(now.Add(time.Duration(i) * time.Millisecond)); ok {
			passed++
		}
	}
	if dropped, ok := th.pass(now.Add(2 * time.Second)); passed != 1 || !ok || dropped != 99 {
		t.Errorf("%d lines passed, then %d were dropped, passed: %v", passed, dropped, ok)
	}
}

// TestCloseWaitsForIterators: an iterator may finish, calls that begin after
// Close has begun are refused.
func TestCloseWaitsForIterators(t *testing.T) {
	s := open(t, small(vfs.NewMem()))
	mustApply(t, s, false, func(b *tiers.Batch) { b.Set([]byte("k"), []byte("v")) })
	it, err := s.NewIter(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan error)
	go func() { closed <- s.Close() }()
	eventually(t, "the refusal of new calls", func() bool {
		_, err := s.Get([]byte("k"), func([]byte) {})
		return errors.Is(err, tiers.ErrClosed)
	})
	if !it.First() || string(it.Key()) != "k" {
		t.Error("the iterator has lost its row")
	}
	select {
	case err := <-closed:
		t.Fatalf("closed under an iterator: %v", err)
	default:
	}
	if err := errors.Join(it.Close(), <-closed); err != nil {
		t.Fatal(err)
	}
}

func TestGateReportsWhoStays(t *testing.T) {
	g := newGate()
	first, second := g.enter(), g.enter()
	closed, again := g.close(), g.close()
	if late := g.enter(); !first || !second || !closed || again || late {
		t.Fatal("the gate let the wrong ones through")
	}
	if n := g.wait(time.Millisecond); n != 2 {
		t.Errorf("%d inside, want 2", n)
	}
	g.leave()
	go g.leave()
	if n := g.wait(10 * time.Second); n != 0 {
		t.Errorf("%d inside, want none", n)
	}
}
