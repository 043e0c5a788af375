package control

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/tiergrid/tiergrid/membership/topology"
)

// Cache is a cache as the control state knows it. Its ID never changes its
// placement group: a cache that gets another group gets another ID.
type Cache struct {
	topology.Cache
	// Home is the database number it was created with, or NoDatabase. SWAPDB
	// moves Database and leaves Home, so that a cache still is the one its
	// configuration asks for.
	Home int
	// Automatic is true for the databases 0 to 15 as bootstrap made them: a
	// cache with a configured database number may take the place of one.
	Automatic bool
	Created   time.Time
	Altered   time.Time
}

// CacheNamed returns the cache of that name.
func (s *State) CacheNamed(name string) (Cache, bool) {
	return s.cacheWhere(func(c *Cache) bool { return c.Name == name })
}

// Database returns the cache that SELECT n reaches.
func (s *State) Database(n int) (Cache, bool) {
	return s.cacheWhere(func(c *Cache) bool { return c.Database == n })
}

func (s *State) cacheWhere(is func(*Cache) bool) (Cache, bool) {
	for i := range s.Caches {
		if is(&s.Caches[i]) {
			return s.Caches[i], true
		}
	}
	return Cache{}, false
}

// CreateCache makes a cache from a template and a change. With a database number
// it takes the place of the automatic cache there: it keeps that cache's entries
// if the placement group stays the same, and is refused if they would be lost.
type CreateCache struct {
	Name     string
	Template string // "" is "default"
	Change   Change // over the template
	Database *int   // nil: SELECT cannot reach it
	// IfAbsent accepts an existing cache of that name that has the values asked
	// for: those of Change and Database, and with another Template all of its.
	IfAbsent bool
	// HoldsEntries says whether the cache that now has this name or this
	// database number holds entries, as the proposer counted them.
	HoldsEntries bool
}

func (CreateCache) kind() kind { return kindCreateCache }

func (c CreateCache) validate() error { return nil }

func (c CreateCache) encode(e *encoder) {
	e.text(c.Name)
	e.text(c.Template)
	c.Change.encode(e)
	e.bool(c.Database != nil)
	if c.Database != nil {
		e.int(int64(*c.Database))
	}
	e.bool(c.IfAbsent)
	e.bool(c.HoldsEntries)
}

func decodeCreateCache(d *decoder) Entry {
	c := CreateCache{Name: d.text(MaxName), Template: d.text(MaxName), Change: decodeChange(d)}
	if d.bool() {
		n := int(d.int())
		c.Database = &n
	}
	c.IfAbsent, c.HoldsEntries = d.bool(), d.bool()
	return c
}

func (c CreateCache) apply(s *State, at time.Time) error {
	if !s.Bootstrapped() {
		return ErrNotBootstrapped
	}
	home, err := c.home()
	if err != nil {
		return err
	}
	have, exists := s.CacheNamed(c.Name)
	if exists && !have.Automatic {
		return c.compare(s, have)
	}
	made, err := c.made(s, home, at)
	if err != nil {
		return err
	}
	if !exists && home != topology.NoDatabase {
		have, exists = s.Database(home)
	}
	if !exists {
		return s.addCache(made)
	}
	return s.redefine(have, made, c.HoldsEntries)
}

// home checks the name and the database number, which a cache named like a
// number has by its name.
func (c CreateCache) home() (int, error) {
	if err := checkCacheName(c.Name); err != nil {
		return 0, err
	}
	home := topology.NoDatabase
	if c.Database != nil {
		home = *c.Database
		if err := checkDatabase(home); err != nil {
			return 0, fmt.Errorf("cache %s: %w", c.Name, err)
		}
	}
	if n, err := strconv.Atoi(c.Name); err == nil {
		if c.Database != nil && home != n {
			return 0, fmt.Errorf("cache %s: %w: it cannot be database %d", c.Name, ErrInvalid, home)
		}
		home = n
	}
	return home, nil
}

// made is the cache that c asks for, without an ID and a group.
func (c CreateCache) made(s *State, home int, at time.Time) (Cache, error) {
	template, found := s.Template(c.Template)
	if !found {
		return Cache{}, fmt.Errorf("template %s %w", c.Template, ErrNotFound)
	}
	policy := c.Change.Over(template.Policy)
	if err := checkPolicy(policy); err != nil {
		return Cache{}, fmt.Errorf("cache %s: %w", c.Name, err)
	}
	return Cache{
		Cache: topology.Cache{Name: c.Name, Database: home, Template: template.Name, Policy: policy},
		Home:  home, Created: at, Altered: at,
	}, nil
}

// compare answers for a cache that was asked for and exists.
func (c CreateCache) compare(s *State, have Cache) error {
	if !c.IfAbsent {
		return fmt.Errorf("cache %s %w", c.Name, ErrExists)
	}
	asked := c.Change
	if c.Template != "" && c.Template != have.Template {
		template, found := s.Template(c.Template)
		if !found {
			return fmt.Errorf("template %s %w", c.Template, ErrNotFound)
		}
		asked = Whole(asked.Over(template.Policy))
	}
	list := asked.differences(have.Policy)
	if c.Database != nil && *c.Database != have.Home {
		list = append(list, Difference{"database", showDatabase(have.Home), showDatabase(*c.Database)})
	}
	if len(list) > 0 {
		return &DifferentError{Cache: have.Name, Differences: list}
	}
	return errUnchanged
}

func showDatabase(n int) string {
	if n == topology.NoDatabase {
		return "none"
	}
	return strconv.Itoa(n)
}

// redefine puts made in the place of the automatic cache have.
func (s *State) redefine(have, made Cache, holdsEntries bool) error {
	if !have.Automatic {
		return fmt.Errorf("cache %s: %w: database %d is cache %s", made.Name, ErrDatabaseTaken, have.Database, have.Name)
	}
	made.Database = have.Database
	return s.replace(have, made, holdsEntries)
}

// replace puts made in the place of have, under the same ID if the placement
// group stays the same and otherwise under a new one, without the entries.
func (s *State) replace(have, made Cache, holdsEntries bool) error {
	if placementOf(have.Policy) == placementOf(made.Policy) {
		made.ID, made.Group = have.ID, have.Group
		i := s.cacheIndex(have.ID)
		s.Caches = slices.Clone(s.Caches)
		s.Caches[i] = made
		return nil
	}
	if holdsEntries {
		return fmt.Errorf("cache %s %w, so %s cannot be altered; create another cache with these values and copy the entries",
			have.Name, ErrHoldsEntries, placementChange(have.Policy, made.Policy))
	}
	s.Caches = drop(s.Caches, s.cacheIndex(have.ID))
	return s.addCache(made)
}

// placementChange names what of the placement differs.
func placementChange(have, made topology.Policy) string {
	change := Change{Mode: &made.Mode, Replication: &made.Replication}
	if have.Mode == made.Mode {
		change.Owners = &made.Owners
	}
	var text string
	for _, d := range change.differences(have) {
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("%s (%s, asked for %s)", d.Setting, d.Have, d.Asked)
	}
	return text
}

func (s *State) cacheIndex(id topology.CacheID) int {
	i, _ := slices.BinarySearchFunc(s.Caches, id, func(c Cache, id topology.CacheID) int { return int(int64(c.ID) - int64(id)) })
	return i
}

// addCache gives c an ID and a group and adds it.
func (s *State) addCache(c Cache) error {
	if len(s.Caches) >= MaxCaches || s.LastCache == ^topology.CacheID(0) {
		return fmt.Errorf("%w: %d caches", ErrFull, MaxCaches)
	}
	group, err := s.groupFor(c.Policy)
	if err != nil {
		return err
	}
	s.LastCache++
	c.ID, c.Group = s.LastCache, group
	s.Caches = append(slices.Clip(s.Caches), c)
	return nil
}

// AlterCache changes values of a cache. Mode, owners and replication can only be
// changed while it holds no entries.
type AlterCache struct {
	Name         string
	Change       Change
	HoldsEntries bool // as the proposer counted them
}

func (AlterCache) kind() kind { return kindAlterCache }

func (a AlterCache) validate() error { return nil }

func (a AlterCache) encode(e *encoder) {
	e.text(a.Name)
	a.Change.encode(e)
	e.bool(a.HoldsEntries)
}

func decodeAlterCache(d *decoder) Entry {
	return AlterCache{d.text(MaxName), decodeChange(d), d.bool()}
}

func (a AlterCache) apply(s *State, at time.Time) error {
	have, found := s.CacheNamed(a.Name)
	if !found {
		return fmt.Errorf("cache %s %w", a.Name, ErrNotFound)
	}
	made := have
	made.Policy, made.Altered = a.Change.Over(have.Policy), at
	if made.Policy == have.Policy {
		return errUnchanged
	}
	if err := checkPolicy(made.Policy); err != nil {
		return fmt.Errorf("cache %s: %w", a.Name, err)
	}
	return s.replace(have, made, a.HoldsEntries)
}

// RemoveCache removes a cache with all its entries. If it had a database number,
// an automatic cache takes its place.
type RemoveCache struct{ Name string }

func (RemoveCache) kind() kind { return kindRemoveCache }

func (r RemoveCache) validate() error { return nil }

func (r RemoveCache) encode(e *encoder) { e.text(r.Name) }

func decodeRemoveCache(d *decoder) Entry { return RemoveCache{d.text(MaxName)} }

func (r RemoveCache) apply(s *State, at time.Time) error {
	have, found := s.CacheNamed(r.Name)
	switch {
	case !found:
		return fmt.Errorf("cache %s %w", r.Name, ErrNotFound)
	case have.Automatic:
		return fmt.Errorf("cache %s %w: databases 0 to %d always exist; use FLUSHDB to empty one", r.Name, ErrAutomatic, topology.Databases-1)
	}
	s.Caches = drop(s.Caches, s.cacheIndex(have.ID))
	if have.Database == topology.NoDatabase {
		return nil
	}
	return s.restoreDatabase(have.Database, at)
}

// restoreDatabase makes the automatic cache of a number anew. It has the number
// as its name, or the lowest free one where SWAPDB has moved that name away.
func (s *State) restoreDatabase(n int, at time.Time) error {
	template, _ := s.Template(DefaultTemplate)
	for _, name := range append([]int{n}, numbers()...) {
		if _, taken := s.CacheNamed(strconv.Itoa(name)); !taken {
			c := automatic(n, strconv.Itoa(name), template.Policy, at)
			c.Home = name
			return s.addCache(c)
		}
	}
	return errors.New("control: no free name for a database")
}

func numbers() []int {
	list := make([]int, topology.Databases)
	for i := range list {
		list[i] = i
	}
	return list
}

func automatic(n int, name string, policy topology.Policy, at time.Time) Cache {
	return Cache{
		Cache: topology.Cache{Name: name, Database: n, Template: DefaultTemplate, Policy: policy},
		Home:  n, Automatic: true, Created: at, Altered: at,
	}
}

// SwapDatabases makes SELECT A reach what SELECT B reached, and the other way
// round.
type SwapDatabases struct{ A, B int }

func (SwapDatabases) kind() kind { return kindSwapDatabases }

func (w SwapDatabases) validate() error { return nil }

func (w SwapDatabases) encode(e *encoder) {
	e.int(int64(w.A))
	e.int(int64(w.B))
}

func decodeSwapDatabases(d *decoder) Entry { return SwapDatabases{int(d.int()), int(d.int())} }

func (w SwapDatabases) apply(s *State, _ time.Time) error {
	if !s.Bootstrapped() {
		return ErrNotBootstrapped
	}
	if err := errors.Join(checkDatabase(w.A), checkDatabase(w.B)); err != nil {
		return err
	}
	if w.A == w.B {
		return errUnchanged
	}
	s.Caches = slices.Clone(s.Caches)
	for i := range s.Caches {
		switch c := &s.Caches[i]; c.Database {
		case w.A:
			c.Database = w.B
		case w.B:
			c.Database = w.A
		}
	}
	return nil
}
