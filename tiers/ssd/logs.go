package ssd

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// logs knows the log files of the store. Pebble allocates each for more than a
// memtable in advance and keeps up to MemTables + 1 that it no longer needs,
// to write the next ones over them: that saves metadata at every fsync, and
// Pebble's own figures leave most of what they take out. The idle ones are the
// first to go when space is short.
type logs struct {
	disk vfs.FS
	dir  string

	mu      sync.Mutex
	numbers map[uint64]struct{} // guarded by mu
	idle    []uint64            // guarded by mu; as of the last look
}

func newLogs(disk vfs.FS, dir string) *logs {
	return &logs{disk: disk, dir: dir, numbers: map[uint64]struct{}{}}
}

// find takes up the logs of an earlier process. A new store has none.
func (l *logs) find() {
	names, err := l.disk.List(l.dir)
	if err != nil {
		return
	}
	for _, name := range names {
		var number uint64
		if _, err := fmt.Sscanf(name, "%d.log", &number); err == nil && strings.HasSuffix(name, ".log") {
			l.numbers[number] = struct{}{}
		}
	}
}

func (l *logs) path(number uint64) string {
	return l.disk.PathJoin(l.dir, fmt.Sprintf("%06d.log", number))
}

// created and deleted follow Pebble. A log that was given up stays known until
// Pebble forgets it too, see look.
func (l *logs) created(info pebble.WALCreateInfo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if info.Err == nil {
		delete(l.numbers, uint64(info.RecycledFileNum))
		l.numbers[uint64(info.FileNum)] = struct{}{}
	}
}

func (l *logs) deleted(info pebble.WALDeleteInfo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.numbers, uint64(info.FileNum))
}

// known returns the numbers of all logs in ascending order.
func (l *logs) known() []uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	numbers := make([]uint64, 0, len(l.numbers))
	for n := range l.numbers {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	return numbers
}

// look adds up what the logs take and notes which are idle: the oldest of the
// known ones, as many as Pebble had idle afterwards. Known must have been read
// before: then a log younger than any idle one can't be among the oldest, and
// one that is idle is never needed again under its number.
func (l *logs) look(known []uint64, idle int) int64 {
	var sum int64
	for _, number := range known {
		sum += l.takes(number)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.idle = known[:min(idle, len(known))]
	return sum
}

// takes is the space of a log, allocated but not yet written included; none if
// it is gone.
func (l *logs) takes(number uint64) int64 {
	info, err := l.disk.Stat(l.path(number))
	if err != nil {
		return 0
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Blocks * 512
	}
	return info.Size()
}

// giveUp deletes the idle logs and returns what they took.
func (l *logs) giveUp() (freed int64) {
	l.mu.Lock()
	idle := l.idle
	l.idle = nil
	l.mu.Unlock()
	for _, number := range idle {
		size := l.takes(number)
		if l.disk.Remove(l.path(number)) == nil {
			freed += size
		}
	}
	return freed
}

// reuse is a file system on which a log that Pebble wants to write over may
// have been given up: it gets a new one then.
type reuse struct{ vfs.FS }

// ReuseForWrite implements vfs.FS.
func (r reuse) ReuseForWrite(from, to string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := r.FS.ReuseForWrite(from, to, category)
	if errors.Is(err, fs.ErrNotExist) {
		return r.FS.Create(to, category)
	}
	return f, err
}

// Unwrap implements vfs.FS.
func (r reuse) Unwrap() vfs.FS { return r.FS }
