package control

import (
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/tiergrid/tiergrid/membership/topology"
)

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
