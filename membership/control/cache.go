package control

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
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

func (c CreateCache) validate() error {
	if c.Template == "" {
		return checkCacheName(c.Name)
	}
	return errors.Join(checkCacheName(c.Name), checkName("template", c.Template))
}

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
	if holdsEntries && !samePlacement(have, made) {
		return fmt.Errorf("database %d %w, so it cannot become cache %s, which would alter %s; give that cache another database number and copy the entries",
			have.Database, ErrHoldsEntries, made.Name, placementChange(have.Policy, made.Policy))
	}
	made.Database = have.Database
	return s.replace(have, made)
}

// replace puts made in the place of have, under the same ID if the placement
// group stays the same and otherwise under a new one, without the entries.
func (s *State) replace(have, made Cache) error {
	i := s.cacheIndex(have.ID)
	if samePlacement(have, made) {
		made.ID, made.Group = have.ID, have.Group
		s.Caches = slices.Clone(s.Caches)
		s.Caches[i] = made
		return nil
	}
	s.Caches = drop(s.Caches, i)
	return s.addCache(made)
}

func samePlacement(a, b Cache) bool { return placementOf(a.Policy) == placementOf(b.Policy) }

// placementChange names what of the placement differs.
func placementChange(have, made topology.Policy) string {
	change := Change{Mode: &made.Mode, Replication: &made.Replication}
	if have.Mode == made.Mode {
		change.Owners = &made.Owners
	}
	var list []string
	for _, d := range change.differences(have) {
		list = append(list, fmt.Sprintf("%s from %s to %s", d.Setting, d.Have, d.Asked))
	}
	return strings.Join(list, " and ")
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

func (a AlterCache) validate() error { return checkName("cache", a.Name) }

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
	if a.HoldsEntries && !samePlacement(have, made) {
		return fmt.Errorf("cache %s %w, so altering %s is refused; create another cache and copy the entries",
			a.Name, ErrHoldsEntries, placementChange(have.Policy, made.Policy))
	}
	return s.replace(have, made)
}

// RemoveCache removes a cache with all its entries. If it had a database number,
// an automatic cache takes its place.
type RemoveCache struct{ Name string }

func (RemoveCache) kind() kind { return kindRemoveCache }

func (r RemoveCache) validate() error { return checkName("cache", r.Name) }

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
