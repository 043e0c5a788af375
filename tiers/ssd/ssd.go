package ssd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/tiergrid/tiergrid/tiers"
)

// closePatience is how long Close waits for calls and iterators.
const closePatience = 30 * time.Second

// Store is an open store.
type Store struct {
	config Config
	dir    *directory
	db     *pebble.DB
	health io.Closer
	gate   *gate
	space  *space
	events counters
	failed atomic.Pointer[error]

	suspects suspects
	batches  batchPools
	odds     odds
	hits     atomic.Int64
	misses   atomic.Int64
}

// Open opens the store in c.Dir, replaying its log, or creates one if the
// directory is empty. Its errors are ErrLocked, ErrForeign, ErrFormat,
// ErrDamaged, or the operating system's.
func Open(c Config) (*Store, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c.setDefaults()
	s := &Store{config: c, gate: newGate()}
	disk := s.watchDisk()
	dir, err := openDirectory(disk, c.Dir)
	if err != nil {
		return nil, errors.Join(err, s.health.Close())
	}
	s.dir = dir
	s.space = newSpace(s, disk)
	s.space.giveUpBallast() // the replay may need the space
	if err := s.openPebble(disk); err != nil {
		return nil, errors.Join(err, s.health.Close(), dir.lock.Close())
	}
	s.space.start()
	return s, nil
}

// watchDisk is the file system with an event for slow operations.
func (s *Store) watchDisk() vfs.FS {
	if s.config.FS != nil {
		s.health = io.NopCloser(nil)
		return s.config.FS
	}
	disk, health := vfs.WithDiskHealthChecks(vfs.Default, s.config.SlowDisk, nil, s.diskSlow)
	s.health = health
	return disk
}

func (s *Store) openPebble(disk vfs.FS) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = s.openError(fmt.Errorf("%v", p))
		}
	}()
	s.space.logs.find()
	options := s.options(&s.config, vfs.OnDiskFull(reuse{disk}, s.space.diskFull))
	s.db, err = pebble.Open(s.dir.file(pebbleName), options)
	if err != nil {
		return s.openError(err)
	}
	return nil
}

// openError tells damage, which needs the operator, from what the operating
// system says.
func (s *Store) openError(err error) error {
	var number syscall.Errno
	if errors.As(err, &number) && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("ssd: %s: %w", s.dir.path, err)
	}
	return fmt.Errorf("ssd: %s: %w (%v); move the directory away and start again with an empty one: "+
		"the node gets its copies from the grid, or from a backup", s.dir.path, tiers.ErrDamaged, err)
}

// ID is the store's id.
func (s *Store) ID() StoreID { return s.dir.id }

// enter lets one call in, which must leave the gate.
func (s *Store) enter() error {
	if !s.gate.enter() {
		return tiers.ErrClosed
	}
	if s.failed.Load() != nil {
		s.gate.leave()
		return s.failure()
	}
	return nil
}

// fail ends the store: the first caller reports, all later calls are refused.
func (s *Store) fail(err error) {
	if !s.failed.CompareAndSwap(nil, &err) {
		return
	}
	e := Event{Kind: Failed, Err: err}
	s.config.Logger.Error(e.String(), "store", s.dir.path, "exit_code", ExitCode)
	s.config.OnEvent(e)
	s.config.OnFatal(err)
}

func (s *Store) failure() error {
	return fmt.Errorf("ssd: %w: %v", tiers.ErrFailed, *s.failed.Load())
}

// Get implements tiers.Tier. For a large value fn's view is the block in the
// cache, pinned until fn returns.
func (s *Store) Get(key []byte, fn func(value []byte)) (bool, error) {
	if err := s.enter(); err != nil {
		return false, err
	}
	defer s.gate.leave()
	if s.suspects.has(key) {
		return s.getSuspect(key, fn)
	}
	return s.get(key, fn)
}

// get reads a row inside the gate.
func (s *Store) get(key []byte, fn func(value []byte)) (bool, error) {
	if s.odds.mostlyAbsent() {
		return s.getFiltered(key, fn)
	}
	value, closer, err := s.db.Get(key)
	if err == pebble.ErrNotFound {
		s.count(false)
		s.odds.found(false)
		return false, nil
	}
	if err != nil {
		return false, s.readError(key, err)
	}
	s.odds.found(true)
	if len(value) == 0 {
		// Pebble hands out an empty value also if it could not read the value
		// file, and says so only when closed.
		if err := closer.Close(); err != nil {
			return false, s.readError(key, err)
		}
		s.count(true)
		fn([]byte{})
		return true, nil
	}
	defer closer.Close()
	s.count(true)
	fn(value)
	return true, nil
}

// Sync implements tiers.Store: an empty record is written to the log and
// fsynced, and everything before it with it.
func (s *Store) Sync() error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.gate.leave()
	return s.barrier()
}

func (s *Store) barrier() (err error) {
	defer s.recovered(&err)
	return s.db.LogData(nil, pebble.Sync)
}

// recovered turns a panic of Pebble's commit, which it can't go on from, into
// the store's failure.
func (s *Store) recovered(err *error) {
	if p := recover(); p != nil {
		s.fail(fmt.Errorf("write: %v", p))
	}
	if s.failed.Load() != nil {
		*err = s.failure()
	}
}

// Room implements tiers.Store.
func (s *Store) Room(n int) error { return s.space.room(int64(n)) }

// Stalled implements tiers.Store.
func (s *Store) Stalled() bool { return s.events.stalled.Load() }

// Close implements tiers.Tier. It fsyncs what was written. After a failure the
// files are left as they are, for the next process.
func (s *Store) Close() error {
	if !s.gate.close() {
		return tiers.ErrClosed
	}
	s.space.stop()
	if inside := s.gate.wait(closePatience); inside != 0 {
		return fmt.Errorf("ssd: %d calls or iterators were not ended within %v; the store stays open", inside, closePatience)
	}
	if s.failed.Load() == nil && s.barrier() == nil {
		return errors.Join(s.db.Close(), s.health.Close(), s.dir.lock.Close())
	}
	return errors.Join(s.failure(), s.health.Close(), s.dir.lock.Close())
}

var _ tiers.Store = (*Store)(nil)
