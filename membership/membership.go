package membership

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/tiergrid/tiergrid/membership/control"
	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/membership/users"
)

// ErrControlLost is returned by Open when the store holds data and the control
// state that belongs to it is missing: a new one would have other users, other
// caches and another order of keys, so nothing of the data could be found.
var ErrControlLost = errors.New("the store holds data and its control state is missing; restore the folder \"control\", or begin with an empty data directory")

// ErrForeignMember is returned by Open when the data directory is another
// member's.
var ErrForeignMember = errors.New("the data directory belongs to another member")

// Config is what a process says of itself when it joins.
type Config struct {
	// Data is the data directory of the process; the control state is kept in
	// its folder "control".
	Data string
	// Cluster names the grid at its first start. Default "cluster".
	Cluster string
	// Member is the name of this process's member, the same at every start.
	Member string
	// StoreID names the store in Data: another one for every store made anew.
	StoreID string
	Zone    string
	// Version is that of the build.
	Version string
	// Clean says that the start before this one ended in order.
	Clean bool
	// Holds says that the store holds data.
	Holds bool
	// Default is the template "default" that the databases 0 to 15 are made from
	// at the first start.
	Default control.Change

	// Random gives the cluster id and the hash key. Default crypto/rand.Reader.
	Random io.Reader
	// Now is the clock. Default time.Now.
	Now func() time.Time
	// Logger gets the few lines there are. Default slog.Default.
	Logger *slog.Logger
}

// ControlDir is where a data directory keeps the control state. Whoever opens it
// with control.Open while no process runs can change users.
func ControlDir(data string) string { return filepath.Join(data, "control") }

// Membership is one process's part in its grid.
type Membership struct {
	control *control.Control
	member  control.Member
}

// Open opens the control state, makes a grid if there is none, and registers
// this process.
func Open(ctx context.Context, cfg Config) (*Membership, error) {
	c, err := control.Open(control.Config{Dir: ControlDir(cfg.Data), Now: cfg.Now, Logger: cfg.Logger})
	if err != nil {
		return nil, err
	}
	m := &Membership{control: c}
	if err := m.join(ctx, cfg); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return m, nil
}

func (m *Membership) join(ctx context.Context, cfg Config) error {
	if err := m.bootstrap(ctx, cfg); err != nil {
		return fmt.Errorf("bootstrap: %w", err)
	}
	for _, other := range m.control.View().State.Members {
		if other.Name != cfg.Member {
			return fmt.Errorf("%w: it is %s's, and this process is %s; start it with node.name: %s", ErrForeignMember, other.Name, cfg.Member, other.Name)
		}
	}
	_, err := m.control.Propose(ctx, control.Register{
		Member: cfg.Member, StoreID: cfg.StoreID, Zone: cfg.Zone, Version: cfg.Version, Clean: cfg.Clean,
	})
	if err != nil {
		return fmt.Errorf("register member %s: %w", cfg.Member, err)
	}
	m.member = m.control.View().State.Members[0]
	return nil
}

// bootstrap gives a new grid its identity.
func (m *Membership) bootstrap(ctx context.Context, cfg Config) error {
	if m.control.View().State.Bootstrapped() {
		return nil
	}
	if cfg.Holds {
		return ErrControlLost
	}
	b := control.Bootstrap{Name: cmp.Or(cfg.Cluster, "cluster"), Default: cfg.Default}
	random := cmp.Or[io.Reader](cfg.Random, rand.Reader)
	for _, id := range [][]byte{b.ClusterID[:], b.HashKey[:]} {
		if _, err := io.ReadFull(random, id); err != nil {
			return err
		}
	}
	_, err := m.control.Propose(ctx, b)
	return err
}

// Cache is a cache as a configuration asks for it.
type Cache struct {
	Template string // "" is "default"
	Database *int   // nil: SELECT cannot reach it
	Change   control.Change
}

// Configure brings templates and caches, by name, into the control state, in the
// order of their names. Templates are made or altered. A cache that exists must
// have the values asked for, otherwise the error says in what it differs. holds
// tells whether a cache holds entries.
//
// It must be called before clients are served: entries that arrive between the
// question and the change would be lost where a cache gets another placement.
func (m *Membership) Configure(ctx context.Context, templates map[string]control.Change, caches map[string]Cache, holds func(topology.CacheID) bool) error {
	for _, name := range slices.Sorted(maps.Keys(templates)) {
		if err := m.template(ctx, name, templates[name]); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(caches)) {
		if err := m.cache(ctx, name, caches[name], holds); err != nil {
			return err
		}
	}
	return nil
}

func (m *Membership) template(ctx context.Context, name string, change control.Change) error {
	_, err := m.control.Propose(ctx, control.CreateTemplate{Name: name, Change: change, IfAbsent: true})
	if err == nil {
		_, err = m.control.Propose(ctx, control.AlterTemplate{Name: name, Change: change})
	}
	return err
}

func (m *Membership) cache(ctx context.Context, name string, c Cache, holds func(topology.CacheID) bool) error {
	_, err := m.control.Propose(ctx, control.CreateCache{
		Name: name, Template: c.Template, Change: c.Change, Database: c.Database, IfAbsent: true,
		HoldsEntries: m.inTheWay(name, c.Database, holds),
	})
	return err
}

// inTheWay reports whether the cache that has this name or number now holds
// entries.
func (m *Membership) inTheWay(name string, database *int, holds func(topology.CacheID) bool) bool {
	state := m.control.View().State
	have, found := state.CacheNamed(name)
	if !found && database != nil {
		have, found = state.Database(*database)
	}
	return found && holds(have.ID)
}

// Member returns this process's member as it was registered.
func (m *Membership) Member() control.Member { return m.member }

// Control returns the control state, for those who change it.
func (m *Membership) Control() *control.Control { return m.control }

// Table returns the latest table.
func (m *Membership) Table() *topology.Table { return m.control.Table() }

// Users returns the latest directory of users.
func (m *Membership) Users() *users.Directory { return m.control.Users() }

// Changed returns a channel that is closed at the next change of the table or
// the users. Take it before reading them.
func (m *Membership) Changed() <-chan struct{} { return m.control.Changed() }

// Failed is closed when the control state cannot be written any more and the
// process must end.
func (m *Membership) Failed() <-chan struct{} { return m.control.Failed() }

// Close leaves: it closes the control state. Tables stay readable.
func (m *Membership) Close() error { return m.control.Close() }
