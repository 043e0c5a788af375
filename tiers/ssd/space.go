package ssd

import (
	"errors"
	"fmt"
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
// are reckoned in, so that Room needs no I/O.
type space struct {
	store   *Store
	disk    vfs.FS // without Pebble's wrapping: the ballast goes through it
	written atomic.Int64
	last    atomic.Pointer[reading]
	ballast atomic.Bool // the ballast file is in place, or none is wanted

	refusals  atomic.Int64
	refusing  atomic.Bool  // as last reported
	flushedAt atomic.Int64 // written, when a flush was last asked for
	quit      chan struct{}
	done      chan struct{}
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
}

func newSpace(s *Store, disk vfs.FS) *space {
	return &space{store: s, disk: disk, quit: make(chan struct{}), done: make(chan struct{})}
}

// start takes the first look and starts the goroutine that takes the others;
// stop ends it.
func (p *space) start() {
	p.look()
	go p.run()
}

func (p *space) stop() {
	close(p.quit)
	<-p.done
}

func (p *space) run() {
	defer close(p.done)
	ticker := time.NewTicker(p.store.config.Poll)
	defer ticker.Stop()
	for {
		select {
		case <-p.quit:
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
	r := &reading{written: p.written.Load(), free: p.freeSpace()}
	r.used = p.store.usage()
	p.last.Store(r)
	if !p.ballast.Load() {
		p.bringBallast(r.free)
	}
	reason := p.refuse(0)
	if reason != nil {
		p.reclaim()
	}
	p.report(reason)
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

// reclaim flushes deletes that were written since the last call: they free
// nothing while they stand in a memtable, and a refused writer fills none.
func (p *space) reclaim() {
	written := p.written.Load()
	if p.flushedAt.Swap(written) == written {
		return
	}
	if _, err := p.store.db.AsyncFlush(); err != nil {
		p.store.warn(&p.store.events.errors, Event{Kind: BackgroundError, Err: err})
	}
}

// room is Room.
func (p *space) room(n int64) error {
	err := p.refuse(n)
	if err != nil {
		p.refusals.Add(1)
	}
	return err
}

func (p *space) refuse(n int64) error {
	c := &p.store.config
	r := p.last.Load()
	since := p.written.Load() - r.written
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

func (u usage) total() int64 { return u.log + u.files }

// usage adds up what Pebble's files take. Its own sum leaves out value files
// that were there at the opening.
func (s *Store) usage() usage {
	m := s.db.Metrics()
	var u usage
	// The physical size doesn't follow the newest log's growth.
	u.log = int64(max(m.WAL.PhysicalSize, m.WAL.Size) + m.WAL.ObsoletePhysicalSize)
	for i := range m.Levels {
		u.files += m.Levels[i].TablesSize
	}
	u.files += int64(m.Table.ObsoleteSize + m.Table.ZombieSize)
	u.files += int64(m.BlobFiles.LiveSize + m.BlobFiles.ObsoleteSize + m.BlobFiles.ZombieSize)
	u.files += m.Compact.InProgressBytes
	u.debt = int64(m.Compact.EstimatedDebt)
	u.heap = int64(m.MemTable.Size+m.MemTable.ZombieSize) + m.BlockCache.Size
	return u
}

// diskFull is called when the file system refused a write of Pebble's, which
// is tried once more when it returns. The first time the ballast makes room;
// after that a pause keeps Pebble's retries from spinning.
func (p *space) diskFull() {
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

// bringBallast makes the ballast file if it leaves the reserve free.
func (p *space) bringBallast(free int64) {
	c := &p.store.config
	if free != unknownSpace && free-c.Ballast < c.Reserve {
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
