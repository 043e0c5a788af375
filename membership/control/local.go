package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
)

// The files of a local log.
const (
	logName      = "log"
	snapshotName = "snapshot"
	// mostLog bounds the log file when snapshots cannot be written.
	mostLog = 64 << 20
)

// bounds say when the log is replaced by a snapshot.
type bounds struct {
	entries int
	bytes   int64
}

// localLog is a file that every entry is appended to and synced in before it is
// applied. When it has grown to its bounds, a snapshot takes its place.
//
// A failed write is undone by truncating, and the log goes on. After a failed
// sync nobody knows what the file holds: the log fails for good.
type localLog struct {
	files   files
	machine machine
	bounds  bounds
	logger  *slog.Logger
	broken  chan struct{} // closed by fail

	mu struct {
		sync.Mutex
		file    file
		base    uint64 // the index before the file's first record
		size    int64  // of the whole records in it
		buffer  []byte
		closed  bool
		failure error
		stats   LogStats
	}
}

// errSync marks the failures after which the log must not go on.
var errSync = errors.New("sync")

// openLocal brings the machine to where the files were, and makes them if there
// are none.
func openLocal(files files, m machine, b bounds, logger *slog.Logger) (*localLog, error) {
	l := &localLog{files: files, machine: m, bounds: b, logger: logger, broken: make(chan struct{})}
	found, err := l.loadSnapshot()
	if err != nil {
		return nil, err
	}
	content, err := files.read(logName)
	switch {
	case errors.Is(err, fs.ErrNotExist) && found:
		return nil, fmt.Errorf("%w: there is a snapshot, but no log", ErrDamaged)
	case errors.Is(err, fs.ErrNotExist):
		return l, l.startFile()
	case err != nil:
		return nil, fmt.Errorf("control: read the log: %w", err)
	}
	return l, l.replay(content)
}

func (l *localLog) loadSnapshot() (found bool, err error) {
	b, err := l.files.read(snapshotName)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("control: read the snapshot: %w", err)
	}
	return true, l.machine.restore(b)
}

// replay applies what the log has beyond the snapshot, and cuts off what a crash
// has left unfinished.
func (l *localLog) replay(content []byte) error {
	c, err := parseLog(content)
	if err != nil {
		return err
	}
	if c.base > l.machine.index() {
		return fmt.Errorf("%w: entries %d to %d are in neither the snapshot nor the log", ErrDamaged, l.machine.index()+1, c.base)
	}
	for _, r := range c.records {
		if r.index <= l.machine.index() {
			continue
		}
		// A refusal is no failure: the state says the same as when it was written.
		if err := l.machine.apply(r.entry); errors.Is(err, ErrNewer) || errors.Is(err, ErrBadEntry) {
			return fmt.Errorf("control: entry %d: %w", r.index, err)
		}
	}
	l.mu.stats.Torn = int64(len(content) - c.end)
	if c.base+uint64(len(c.records)) < l.machine.index() {
		return l.startFile() // the snapshot is ahead of the log
	}
	return l.continueFile(c)
}

// continueFile opens the log found by replay behind its last whole record.
func (l *localLog) continueFile(c logContent) error {
	f, err := l.files.open(logName)
	if err != nil {
		return fmt.Errorf("control: open the log: %w", err)
	}
	if l.mu.stats.Torn > 0 {
		l.logger.Warn("control log: dropped an entry that was never finished", "bytes", l.mu.stats.Torn)
		if err := errors.Join(f.Truncate(int64(c.end)), f.Sync()); err != nil {
			f.Close()
			return fmt.Errorf("control: cut off an unfinished entry: %w", err)
		}
	}
	l.mu.file, l.mu.base, l.mu.size = f, c.base, int64(c.end)
	return nil
}

// propose appends the entry, syncs it and has it applied.
func (l *localLog) propose(ctx context.Context, entry []byte) (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(ctx); err != nil {
		return 0, err
	}
	changed, err := l.machine.check(entry)
	if err != nil || !changed {
		return l.machine.index(), err
	}
	if err := l.append(entry); err != nil {
		return 0, err
	}
	if err := l.machine.apply(entry); err != nil {
		return 0, err
	}
	index := l.machine.index()
	l.compactWhenDue()
	return index, nil
}

func (l *localLog) usable(ctx context.Context) error {
	switch {
	case l.mu.closed:
		return ErrClosed
	case l.mu.failure != nil:
		return l.mu.failure
	case l.mu.size >= mostLog:
		return fmt.Errorf("control: %w: the log has %d bytes and no snapshot can be written", ErrFull, l.mu.size)
	}
	return ctx.Err()
}

// append makes one record durable, or leaves the file as it was.
func (l *localLog) append(entry []byte) error {
	l.mu.buffer = appendRecord(l.mu.buffer[:0], l.machine.index()+1, entry)
	if _, err := l.mu.file.WriteAt(l.mu.buffer, l.mu.size); err != nil {
		if undo := l.mu.file.Truncate(l.mu.size); undo != nil {
			return l.fail(errors.Join(err, undo))
		}
		return fmt.Errorf("control: write the log: %w", err)
	}
	if err := l.mu.file.Sync(); err != nil {
		return l.fail(err)
	}
	l.mu.size += int64(len(l.mu.buffer))
	return nil
}

// fail ends the log for good.
func (l *localLog) fail(cause error) error {
	l.mu.failure = fmt.Errorf("%w: %w", ErrLogFailed, cause)
	close(l.broken)
	return l.mu.failure
}

// compactWhenDue writes a snapshot and starts a new log file. Where it cannot,
// the old file goes on and the next entry tries again.
func (l *localLog) compactWhenDue() {
	entries := l.machine.index() - l.mu.base
	if entries < uint64(l.bounds.entries) && l.mu.size < l.bounds.bytes {
		return
	}
	if err := l.compact(); errors.Is(err, errSync) {
		l.fail(err)
	} else if err != nil {
		l.logger.Warn("control log: no snapshot could be written", "entries", entries, "bytes", l.mu.size, "error", err)
	}
}

func (l *localLog) compact() error {
	f, err := l.publish(snapshotName, l.machine.snapshot())
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	f.Close() // synced; nothing depends on it
	l.mu.stats.Snapshots++
	return l.startFile()
}

// startFile puts an empty log in the place of the old one.
func (l *localLog) startFile() error {
	base := l.machine.index()
	f, err := l.publish(logName, appendLogHead(nil, base))
	if err != nil {
		return fmt.Errorf("new log: %w", err)
	}
	if l.mu.file != nil {
		l.mu.file.Close()
	}
	l.mu.file, l.mu.base, l.mu.size = f, base, logHead
	return nil
}

// publish makes a file durable under a temporary name and then renames it, so
// that the name always stands for a whole file.
func (l *localLog) publish(name string, content []byte) (file, error) {
	temporary := name + ".tmp"
	f, err := l.files.create(temporary)
	if err != nil {
		return nil, err
	}
	if _, err = f.WriteAt(content, 0); err == nil {
		if err = f.Sync(); err != nil {
			err = fmt.Errorf("%w: %w", errSync, err)
		}
	}
	if err == nil {
		err = l.files.rename(temporary, name)
	}
	if err != nil {
		f.Close()
		return nil, errors.Join(err, l.files.remove(temporary))
	}
	if err := l.files.sync(); err != nil {
		f.Close()
		return nil, fmt.Errorf("%w: %w", errSync, err)
	}
	return f, nil
}

func (l *localLog) failed() <-chan struct{} { return l.broken }

func (l *localLog) stats() LogStats {
	l.mu.Lock()
	defer l.mu.Unlock()
	stats := l.mu.stats
	stats.Index = l.machine.index()
	stats.Entries, stats.Bytes = int(stats.Index-l.mu.base), l.mu.size
	return stats
}

func (l *localLog) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.closed {
		return nil
	}
	l.mu.closed = true
	if l.mu.file == nil {
		return nil
	}
	return l.mu.file.Close()
}
