package control

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/membership/users"
)

// Config says where the control state is kept. The zero value of a field but Dir
// means its default.
type Config struct {
	// Dir is the directory of the log; it is made if need be and belongs to one
	// process at a time. Required.
	Dir string
	// Now stamps entries. Default time.Now.
	Now func() time.Time
	// Logger gets the few lines there are. Default slog.Default.
	Logger *slog.Logger
	// SnapshotEntries and SnapshotBytes are how large the log may grow before a
	// snapshot takes its place. Larger values mean fewer snapshots and a longer
	// start. Defaults 1,024 and 1 MiB.
	SnapshotEntries int
	SnapshotBytes   int64

	files files // nil: Dir itself; tests put their own in its place
}

func (c Config) withDefaults() Config {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.SnapshotEntries <= 0 {
		c.SnapshotEntries = 1024
	}
	if c.SnapshotBytes <= 0 {
		c.SnapshotBytes = 1 << 20
	}
	return c
}

// Control is an open control state: the only way to change it, and the latest
// View of it.
type Control struct {
	cfg  Config
	log  log
	lock *os.File  // nil with files of a test
	once sync.Once // Close
	view atomic.Pointer[View]
	// state is what the log's methods work on, one at a time; view follows it
	// once Open has replayed the log.
	state *State
}

// Open reads the log in cfg.Dir, or starts one, and publishes the state it
// leads to.
func Open(cfg Config) (*Control, error) {
	c := &Control{cfg: cfg.withDefaults(), state: &State{}}
	if c.cfg.files == nil {
		dir, lock, err := openDirectory(cfg.Dir)
		if err != nil {
			return nil, err
		}
		c.cfg.files, c.lock = dir, lock
	}
	var err error
	c.log, err = openLocal(c.cfg.files, c, bounds{c.cfg.SnapshotEntries, c.cfg.SnapshotBytes}, c.cfg.Logger)
	if err != nil {
		c.unlock()
		return nil, fmt.Errorf("control state in %s: %w", cfg.Dir, err)
	}
	c.view.Store(newView(c.state, nil))
	return c, nil
}

// Propose changes the control state by one entry. When it returns without an
// error the entry is durable, applied and published; the index is the one at
// which the state is as the entry asks. A refusal (ErrExists, ErrNotFound …)
// leaves everything as it was.
func (c *Control) Propose(ctx context.Context, entry Entry) (uint64, error) {
	if err := entry.validate(); err != nil {
		return 0, err
	}
	b, err := encodeEntry(entry, c.cfg.Now())
	if err != nil {
		return 0, err
	}
	return c.log.propose(ctx, b)
}

// View returns the latest state and what is derived from it.
func (c *Control) View() *View { return c.view.Load() }

// Table returns the latest table.
func (c *Control) Table() *topology.Table { return c.View().Table }

// Users returns the latest directory of users.
func (c *Control) Users() *users.Directory { return c.View().Users }

// Changed returns a channel that is closed at the next change. Take it before
// reading Table or Users, so that no change falls in between.
func (c *Control) Changed() <-chan struct{} { return c.View().Changed() }

// Watch waits for a View newer than index.
func (c *Control) Watch(ctx context.Context, index uint64) (*View, error) {
	for {
		v := c.View()
		if v.State.Index > index {
			return v, nil
		}
		select {
		case <-v.Changed():
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Failed is closed when the log has failed for good and the process must end
// (R10).
func (c *Control) Failed() <-chan struct{} { return c.log.failed() }

// Stats returns the gauges and counters of the log.
func (c *Control) Stats() LogStats { return c.log.stats() }

// Close closes the log and gives the directory free. What was published stays
// readable.
func (c *Control) Close() (err error) {
	c.once.Do(func() { err = errors.Join(c.log.close(), c.unlock()) })
	return err
}

func (c *Control) unlock() error {
	if c.lock == nil {
		return nil
	}
	return c.lock.Close()
}

// check, apply, index, snapshot and restore are the machine that the log drives.

func (c *Control) check(entry []byte) (changed bool, err error) {
	_, changed, err = c.state.step(entry)
	return changed, err
}

func (c *Control) apply(entry []byte) error {
	next, _, err := c.state.step(entry)
	if next != nil {
		c.state = next
		c.publish()
	}
	return err
}

// publish is a no-op until Open has replayed the log.
func (c *Control) publish() {
	before := c.view.Load()
	if before == nil {
		return
	}
	c.view.Store(newView(c.state, before))
	close(before.changed)
}

func (c *Control) index() uint64 { return c.state.Index }

func (c *Control) snapshot() []byte { return c.state.Snapshot() }

func (c *Control) restore(snapshot []byte) error {
	s, err := Restore(snapshot)
	if err != nil {
		return err
	}
	c.state = s
	return nil
}
