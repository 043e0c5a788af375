package control

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// user is the n-th of many entries that are all accepted.
func user(n int) Entry { return CreateUser{Name: fmt.Sprintf("u%04d", n), Hash: someHash} }

func TestLogIsWrittenAsEver(t *testing.T) {
	files := newMemoryFiles()
	propose(t, mustOpen(t, files, 0), samples()[:4]...)
	old := golden(t, "log", files.names[logName].content)
	files.names[logName].content = old
	if s := mustOpen(t, files, 0).View().State; s.Index != 4 || s.Members[0].Name != "dg1" {
		t.Errorf("the state of the golden log is %+v", s)
	}
}

// A log cut at any byte gives exactly the entries that are whole before the cut,
// and goes on from there.
func TestATornLogGivesItsWholeEntries(t *testing.T) {
	files := newMemoryFiles()
	c := mustOpen(t, files, 0)
	ends := []int{len(files.names[logName].content)}
	for n := range 5 {
		propose(t, c, user(n))
		ends = append(ends, len(files.names[logName].content))
	}
	whole := files.names[logName].content
	for cut := ends[0]; cut <= len(whole); cut++ {
		want := 0
		for ends[want] < cut && want+1 < len(ends) && ends[want+1] <= cut {
			want++
		}
		for _, tail := range [][]byte{nil, make([]byte, 100)} {
			checkTorn(t, append(bytes.Clone(whole[:cut]), tail...), want)
		}
	}
	for cut := range logHead {
		after := files.afterCrash(false)
		after.names[logName].content = whole[:cut]
		if _, err := open(t, after, 0); !errors.Is(err, ErrDamaged) {
			t.Fatalf("cut at byte %d: %v", cut, err)
		}
	}
}

func checkTorn(t *testing.T, content []byte, want int) {
	t.Helper()
	files := newMemoryFiles()
	files.names[logName] = &memoryFile{dir: files, name: logName, content: content}
	c, err := open(t, files, 0)
	if err != nil {
		t.Fatalf("%d bytes: %v", len(content), err)
	}
	if s := c.View().State; int(s.Index) != want || len(s.Users) != want {
		t.Fatalf("%d bytes: index %d, %d users, want %d", len(content), s.Index, len(s.Users), want)
	}
	propose(t, c, user(999))
	if again := mustOpen(t, files, 0); len(again.View().State.Users) != want+1 || again.Stats().Torn != 0 {
		t.Fatalf("%d bytes: after one more entry there are %d users", len(content), len(again.View().State.Users))
	}
}

// Damage before the last entry cannot come from a crash.
func TestDamageInTheMiddleIsAnError(t *testing.T) {
	files := newMemoryFiles()
	c := mustOpen(t, files, 0)
	propose(t, c, user(0), user(1))
	last := len(files.names[logName].content)
	propose(t, c, user(2))
	whole := files.names[logName].content
	for i := range whole {
		files.names[logName].content = flipped(whole, i)
		got, err := open(t, files, 0)
		switch {
		case i >= last && (err != nil || len(got.View().State.Users) != 2):
			t.Fatalf("byte %d of the last entry: %v", i, err)
		case i < last && !errors.Is(err, ErrDamaged):
			t.Fatalf("byte %d: %v", i, err)
		}
	}
	// An entry that is missing altogether.
	content := append(bytes.Clone(whole[:logHead]), whole[last:]...)
	files.names[logName].content = content
	if _, err := open(t, files, 0); !errors.Is(err, ErrDamaged) {
		t.Errorf("a missing entry: %v", err)
	}
}

func TestSnapshotTakesThePlaceOfTheLog(t *testing.T) {
	files := newMemoryFiles()
	c := mustOpen(t, files, 10)
	for n := range 25 {
		propose(t, c, user(n))
	}
	if s := c.Stats(); s.Snapshots != 2 || s.Entries != 5 || s.Index != 25 || s.Bytes > 3000 {
		t.Errorf("stats = %+v", s)
	}
	again := mustOpen(t, files, 10)
	if !bytes.Equal(again.View().State.Snapshot(), c.View().State.Snapshot()) {
		t.Error("opened again, the state differs")
	}
	large := mustOpen(t, newMemoryFiles(), 0)
	large.log.(*localLog).bounds.bytes = 500
	propose(t, large, user(0), user(1), user(2), user(3), user(4), user(5))
	if large.Stats().Snapshots == 0 {
		t.Error("the size of the log must call for a snapshot, too")
	}
}

func TestFilesThatDoNotFitTogether(t *testing.T) {
	made := func() *memoryFiles {
		files := newMemoryFiles()
		c := mustOpen(t, files, 3)
		for n := range 5 {
			propose(t, c, user(n))
		}
		return files
	}
	for name, spoil := range map[string]func(*memoryFiles){
		"no log":             func(m *memoryFiles) { delete(m.names, logName) },
		"no snapshot":        func(m *memoryFiles) { delete(m.names, snapshotName) },
		"a damaged snapshot": func(m *memoryFiles) { m.names[snapshotName].content[30] ^= 1 },
		"no log head":        func(m *memoryFiles) { m.names[logName].content[0] ^= 1 },
	} {
		files := made()
		spoil(files)
		if _, err := open(t, files, 3); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	newer := made()
	content := appendRecord(newer.names[logName].content, 6, seal(999, 1, 0, nil))
	newer.names[logName].content = content
	if _, err := open(t, newer, 3); !errors.Is(err, ErrNewer) {
		t.Errorf("an entry of a newer version: %v", err)
	}
	// The snapshot is ahead of the log: nothing is missing.
	behind := made()
	behind.names[logName].content = appendLogHead(nil, 0)
	if c := mustOpen(t, behind, 3); c.View().State.Index != 3 {
		t.Errorf("index = %d", c.View().State.Index)
	}
}

// workload proposes entries until one fails, and returns how many were
// acknowledged. It is long enough to write snapshots.
func workload(files *memoryFiles, c *Control) (acknowledged int) {
	for n := range 8 {
		if _, err := c.Propose(context.Background(), user(n)); err != nil {
			break
		}
		acknowledged++
	}
	return acknowledged
}

// The power fails at every operation of the log, one after the other. What was
// acknowledged is there afterwards, in order, and at most the entry at hand more,
// whether or not unsynced bytes made it to the disk.
func TestPowerFailureAtEveryOperation(t *testing.T) {
	for stop := 0; ; stop++ {
		files, operations := newMemoryFiles(), 0
		files.fault = func(string, string) error {
			if operations++; operations > stop {
				return errInjected
			}
			return nil
		}
		acknowledged := 0
		c, err := open(t, files, 3)
		if err == nil {
			acknowledged = workload(files, c)
		}
		for _, kept := range []bool{false, true} {
			checkRecovered(t, files.afterCrash(kept), stop, acknowledged)
		}
		if operations <= stop {
			if acknowledged != 8 {
				t.Fatalf("without a fault %d entries were acknowledged", acknowledged)
			}
			return
		}
	}
}

func checkRecovered(t *testing.T, files *memoryFiles, stop, acknowledged int) {
	t.Helper()
	c, err := open(t, files, 3)
	if err != nil {
		t.Fatalf("power failed at operation %d: %v", stop, err)
	}
	s := c.View().State
	if n := len(s.Users); n < acknowledged || n > acknowledged+1 || s.Index != uint64(n) {
		t.Fatalf("power failed at operation %d: %d entries, %d were acknowledged", stop, n, acknowledged)
	}
	for i, u := range s.Users {
		if u.Name != fmt.Sprintf("u%04d", i) {
			t.Fatalf("power failed at operation %d: entry %d is %s", stop, i, u.Name)
		}
	}
	propose(t, c, user(999))
}

// A single operation fails and the process goes on: only failed syncs end the
// log, and a failed sync is never tried again.
func TestOneFaultAtEveryOperation(t *testing.T) {
	for at := 1; ; at++ {
		files, operations, failed := newMemoryFiles(), 0, ""
		files.fault = func(operation, _ string) error {
			if operations++; operations == at {
				failed = operation
				return errInjected
			}
			return nil
		}
		c, err := open(t, files, 3)
		if err != nil {
			continue
		}
		acknowledged, refused := 0, 0
		for n := range 8 {
			if _, err := c.Propose(context.Background(), user(n)); err == nil {
				acknowledged++
			} else if refused++; !errors.Is(err, errInjected) {
				t.Fatalf("fault at %s %d: %v", failed, at, err)
			}
		}
		checkFault(t, c, failed, acknowledged, refused)
		if failed == "" {
			return
		}
		files.fault = nil
		again := mustOpen(t, files.afterCrash(false), 3)
		if n := len(again.View().State.Users); n < acknowledged {
			t.Fatalf("fault at %s %d: %d entries, %d were acknowledged", failed, at, n, acknowledged)
		}
	}
}

func checkFault(t *testing.T, c *Control, failed string, acknowledged, refused int) {
	t.Helper()
	over := false
	select {
	case <-c.Failed():
		over = true
	default:
	}
	switch failed {
	case "sync", "syncdir":
		if _, err := c.Propose(context.Background(), user(100)); !over || !errors.Is(err, ErrLogFailed) {
			t.Errorf("after a failed %s: over is %v, %v", failed, over, err)
		}
	default:
		if over || refused > 1 || acknowledged < 7 {
			t.Errorf("after a failed %s: over is %v, %d acknowledged, %d refused", failed, over, acknowledged, refused)
		}
	}
}

func TestAFailedSyncIsNotTriedAgain(t *testing.T) {
	files := newMemoryFiles()
	c := mustOpen(t, files, 0)
	propose(t, c, user(0))
	syncs := 0
	files.fault = func(operation, _ string) error {
		if operation != "sync" {
			return nil
		}
		syncs++
		return errInjected
	}
	before := c.View()
	for range 3 {
		if _, err := c.Propose(context.Background(), user(1)); !errors.Is(err, ErrLogFailed) {
			t.Fatalf("err = %v", err)
		}
	}
	if syncs != 1 || c.View() != before {
		t.Errorf("%d syncs; published anew: %v", syncs, c.View() != before)
	}
}

func TestAWriteThatCannotBeUndoneEndsTheLog(t *testing.T) {
	files := newMemoryFiles()
	c := mustOpen(t, files, 0)
	files.fault = func(operation, _ string) error {
		if operation == "write" || operation == "truncate" {
			return errInjected
		}
		return nil
	}
	if _, err := c.Propose(context.Background(), user(0)); !errors.Is(err, ErrLogFailed) {
		t.Errorf("err = %v", err)
	}
}

func TestALogWithoutSnapshotsIsBounded(t *testing.T) {
	c := mustOpen(t, newMemoryFiles(), 0)
	c.log.(*localLog).mu.size = mostLog
	if _, err := c.Propose(context.Background(), user(0)); !errors.Is(err, ErrFull) {
		t.Errorf("err = %v", err)
	}
}

// On a real disk: the files are the owner's alone, and a second start finds all.
func TestOnDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data", "control")
	for round := range 3 {
		c, err := Open(Config{Dir: dir, Logger: silent(), SnapshotEntries: 2})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(c.View().State.Users); n != round {
			t.Fatalf("round %d finds %d users", round, n)
		}
		propose(t, c, user(round))
		if _, err := Open(Config{Dir: dir}); !errors.Is(err, ErrLocked) {
			t.Errorf("a second open: %v", err)
		}
		if err := errors.Join(c.Close(), c.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Propose(context.Background(), user(9)); !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
	for _, name := range []string{"", logName, snapshotName, "lock"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%q: %v, %v", name, info, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.tmp")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestOpenFails(t *testing.T) {
	if _, err := Open(Config{}); !errors.Is(err, ErrInvalid) {
		t.Errorf("no directory: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Config{Dir: filepath.Join(file, "control")}); err == nil {
		t.Error("a directory below a file")
	}
}

func FuzzParseLog(f *testing.F) {
	whole := appendLogHead(nil, 7)
	f.Add(whole)
	whole = appendRecord(whole, 8, encoded(f, user(0), moment(0)))
	f.Add(whole)
	f.Add(appendRecord(whole, 9, encoded(f, user(1), moment(0))))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := parseLog(b)
		if err != nil {
			return
		}
		again := appendLogHead(nil, c.base)
		for _, r := range c.records {
			again = appendRecord(again, r.index, r.entry)
		}
		if !bytes.Equal(again, b[:c.end]) {
			t.Fatalf("%x was taken for %x", b, again)
		}
	})
}
