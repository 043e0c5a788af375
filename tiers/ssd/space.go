package ssd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/tiergrid/tiergrid/tiers"
)

// Why growth is refused. Made once: a full store may refuse a lot.
var (
	errMaxSize = fmt.Errorf("%w: ssd max-size is reached", tiers.ErrFull)
	errDisk    = fmt.Errorf("%w: the file system is nearly full", tiers.ErrFull)
	errBallast = fmt.Errorf("%w: the file system was full, waiting for space", tiers.ErrFull)
)

// space knows how much the store takes and how much the file system has. One
// goroutine looks every Config.Poll; between two looks the bytes written since
// are reckoned in, so that Room needs no I/O. A second one reclaims, see
// reclaimer.
//
// Growth is refused when used reaches MaxSize or free falls below Reserve, and
// accepted again when each is better than that by slack, so that a full store
// does not change its mind with every row. The idle logs are given up before
// anything is refused, and before the ballast. The ballast comes back at
// Reserve + slack: it may then take its own size from the reserve, because
// while it is away nothing grows and little waits for its flush.
type space struct {
	store   *Store
	disk    vfs.FS // without Pebble's wrapping: the ballast goes through it
	logs    *logs
	written atomic.Int64
	last    atomic.Pointer[reading]
	ballast atomic.Bool // the ballast file is in place, or none is wanted

	refusals atomic.Int64
	refusing atomic.Bool // as last reported
	pressing atomic.Bool // something was refused, and space is still short
	cancel   context.CancelFunc
	running  sync.WaitGroup
}

// reading is one look.
type reading struct {
	used    usage
	free    int64 // of the file system; unknownSpace if it can't tell
	written int64 // space.written at the look
}

const unknownSpace = -1

// usage is what the store takes on disk.
type usage struct {
	log, files, debt, heap int64
	tables                 int64 // the part of files that compactions rewrite
}

func newSpace(s *Store, disk vfs.FS) *space {
	return &space{store: s, disk: disk, logs: newLogs(disk, s.dir.file(pebbleName))}
}

// start takes the first look and starts the goroutines; stop ends them.
func (p *space) start() {
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	p.look()
	p.running.Go(func() { p.run(ctx) })
	p.running.Go(func() { newReclaimer(p.store).run(ctx) })
}

func (p *space) stop() {
	p.cancel()
	p.running.Wait()
}

func (p *space) run(ctx context.Context) {
	ticker := time.NewTicker(p.store.config.Poll)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			p.look()
		}
	}
}

// look reads the figures, brings the ballast back when it fits, and tells when
// refusing begins and ends.
func (p *space) look() {
	if p.store.failed.Load() != nil {
		return
	}
	p.read()
	if !p.ballast.Load() {
		p.bringBallast(p.last.Load().free)
	}
	reason := p.refuse(0)
	if reason != nil && p.logs.giveUp() > 0 {
		p.read()
		reason = p.refuse(0)
	}
	if reason != nil {
		p.pressing.Store(true)
	} else if !p.short() {
		p.pressing.Store(false)
	}
	p.report(reason)
}

// short reports whether a limit is near.
func (p *space) short() bool {
	r, c := p.last.Load(), &p.store.config
	return c.MaxSize > 0 && r.used.total() > c.MaxSize/10*9 ||
		r.free != unknownSpace && r.free < c.Reserve+c.Reserve/2
}

func (p *space) read() {
	r := &reading{written: p.written.Load(), free: p.freeSpace()}
	r.used = p.store.usage()
	p.last.Store(r)
}

func (p *space) report(reason error) {
	if p.refusing.Swap(reason != nil) == (reason != nil) {
		return
	}
	e := Event{Kind: Accepting}
	if reason != nil {
		e = Event{Kind: Refusing, Err: reason}
	}
	p.store.config.Logger.Warn(e.String(), "store", p.store.dir.path)
	p.store.config.OnEvent(e)
}

func (p *space) freeSpace() int64 {
	du, err := p.disk.GetDiskUsage(p.store.dir.path)
	if err != nil {
		return unknownSpace
	}
	return int64(du.AvailBytes)
}

// room is Room.
func (p *space) room(n int64) error {
	err := p.refuse(n)
	if err != nil {
		p.refusals.Add(1)
		p.pressing.Store(true)
	}
	return err
}

func (p *space) refuse(n int64) error {
	c := &p.store.config
	r := p.last.Load()
	since := p.written.Load() - r.written
	if p.refusing.Load() {
		n += c.slack()
	}
	if c.MaxSize > 0 && r.used.total()+since+n > c.MaxSize {
		return errMaxSize
	}
	// What was written since stands in the log now, and in a table or value
	// file soon.
	if r.free != unknownSpace && r.free-2*since-n < c.Reserve {
		return errDisk
	}
	if !p.ballast.Load() {
		return errBallast
	}
	return nil
}

// garbageRatio is the part of all value files that may be dead before Pebble
// rewrites the one with the most dead values: the smaller, the more is written
// for what is gained. Near the limit it falls, so that most stores that are
// overwritten steadily never refuse; where not even one file can be rewritten
// beside the old one, nothing is.
func (p *space) garbageRatio() float64 {
	const usual, near, full, never = 0.3, 0.15, 0.05, 1
	r, c := p.last.Load(), &p.store.config
	switch {
	case r == nil:
		return usual
	case r.free != unknownSpace && r.free < 2*c.MemTable:
		return never
	case p.pressing.Load():
		return full
	case p.short():
		return near
	}
	return usual
}

func (u usage) total() int64 { return u.log + u.files }

// usage adds up what Pebble's files take. Its own sum leaves out value files
// that were there at the opening.
func (s *Store) usage() usage {
	known := s.space.logs.known()
	m := s.db.Metrics()
	var u usage
	// The disk may not have the end of the newest log yet.
	u.log = max(s.space.logs.look(known, int(m.WAL.ObsoleteFiles)), int64(m.WAL.Size))
	for i := range m.Levels {
		u.tables += m.Levels[i].TablesSize
	}
	u.files = u.tables
	u.files += int64(m.Table.ObsoleteSize + m.Table.ZombieSize)
	u.files += int64(m.BlobFiles.LiveSize + m.BlobFiles.ObsoleteSize + m.BlobFiles.ZombieSize)
	u.files += m.Compact.InProgressBytes
	u.debt = int64(m.Compact.EstimatedDebt)
	u.heap = int64(m.MemTable.Size+m.MemTable.ZombieSize) + m.BlockCache.Size
	return u
}

// diskFull is called when the file system refused a write of Pebble's, which
// is tried once more when it returns. First the idle logs make room, then the
// ballast; after that a pause keeps Pebble's retries from spinning.
func (p *space) diskFull() {
	if p.logs.giveUp() > 0 {
		p.store.warn(&p.store.events.errors, Event{Kind: DiskFull, Reason: "gave up idle logs"})
		return
	}
	if p.ballast.Load() && p.store.config.Ballast > 0 {
		p.giveUpBallast()
		p.store.warn(&p.store.events.errors, Event{Kind: DiskFull, Reason: "gave up the ballast file"})
		return
	}
	time.Sleep(50 * time.Millisecond)
}

func (p *space) giveUpBallast() {
	p.ballast.Store(p.store.config.Ballast < 0)
	// An error means that there is none.
	_ = p.disk.Remove(p.store.dir.file(ballastName))
}

// bringBallast makes the ballast file when the reserve is free again.
func (p *space) bringBallast(free int64) {
	c := &p.store.config
	if free != unknownSpace && free < max(c.Reserve, c.Ballast)+c.slack() {
		return
	}
	path := p.store.dir.file(ballastName)
	if err := allocate(p.disk, path, c.Ballast); err != nil {
		_ = p.disk.Remove(path)
		p.store.warn(&p.store.events.errors, Event{Kind: BackgroundError, Path: path, Err: err})
		return
	}
	p.ballast.Store(true)
}

// allocate makes a file that really takes n bytes of disk space.
func allocate(disk vfs.FS, path string, n int64) error {
	f, err := disk.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	err = f.Preallocate(0, n)
	if err != nil && !vfs.IsNoSpaceError(err) {
		err = fillZeros(f, n) // no fallocate here
	}
	return errors.Join(err, f.Close())
}

func fillZeros(f vfs.File, n int64) error {
	zeros := make([]byte, 1<<20)
	for n > 0 {
		chunk := min(n, int64(len(zeros)))
		if _, err := f.Write(zeros[:chunk]); err != nil {
			return err
		}
		n -= chunk
	}
	return f.Sync()
}

// Stats implements tiers.Tier, with figures at most one poll old.
func (s *Store) Stats() tiers.Stats {
	r := s.space.last.Load()
	return tiers.Stats{
		Bytes:       r.used.total(),
		MaxBytes:    s.config.MaxSize,
		Hits:        s.hits.Load(),
		Misses:      s.misses.Load(),
		FreeBytes:   r.free,
		Full:        s.space.refuse(0) != nil,
		Refusals:    s.space.refusals.Load(),
		Stalls:      s.events.stalls.Load(),
		SlowOps:     s.events.slow.Load(),
		Errors:      s.events.errors.Load(),
		Corruptions: s.events.corruptions.Load(),
		FileBytes:   r.used.files,
		LogBytes:    r.used.log,
		HeapBytes:   r.used.heap,
		Debt:        r.used.debt,
	}
}
