package control

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/tiergrid/tiergrid/membership/topology"
)

// State is the control state after Index entries. A published State is never
// changed: whoever holds one may read it for ever, and must not write to it.
type State struct {
	// Index counts the entries applied, those refused or passed over included.
	Index uint64
	// UsersIndex is the Index of the last entry that changed Users.
	UsersIndex uint64

	Cluster Cluster
	// Members, Templates and Users are sorted by name; Caches and Groups by ID.
	Members   []Member
	Templates []Template
	Caches    []Cache
	Groups    []topology.Group
	Users     []User

	// LastIncarnation, LastCache and LastGroup are the numbers given last; none
	// is ever given twice.
	LastIncarnation uint64
	LastCache       topology.CacheID
	LastGroup       topology.GroupID
}

// Cluster is what never changes after bootstrap.
type Cluster struct {
	ID      [16]byte // zero before bootstrap
	Name    string
	HashKey [16]byte // keys the hash that orders keys on disk
	Created time.Time
}

// Bootstrapped reports whether the grid has its cluster id.
func (s *State) Bootstrapped() bool { return s.Cluster.ID != [16]byte{} }

// Apply returns the state after one encoded entry. It is deterministic and never
// panics. A refusal is returned as an error together with the next state, which
// differs from s in its Index only. ErrBadEntry and ErrNewer come with no state:
// whoever gets them must stop following the log.
func (s *State) Apply(encoded []byte) (*State, error) {
	next, _, err := s.step(encoded)
	return next, err
}

// step is Apply that also tells whether the entry changes anything.
func (s *State) step(encoded []byte) (next *State, changed bool, err error) {
	o, err := decodeEntry(encoded)
	if err != nil {
		return nil, false, err
	}
	if o.entry == nil {
		return s.skip(), false, nil
	}
	next = s.skip()
	err = o.entry.apply(next, o.at)
	switch {
	case err == nil:
		return next, true, nil
	case errors.Is(err, errUnchanged):
		err = nil
	}
	return s.skip(), false, err
}

// skip is s with one more entry that had no effect.
func (s *State) skip() *State {
	next := *s
	next.Index++
	return &next
}

// put returns a copy of list, sorted by name, with v in place of the element of
// that name or inserted where it belongs.
func put[T any](list []T, v T, name func(T) string) []T {
	i, found := find(list, name(v), name)
	if found {
		list = slices.Clone(list)
		list[i] = v
		return list
	}
	return slices.Insert(slices.Clip(list), i, v)
}

// drop returns a copy of list without its i-th element.
func drop[T any](list []T, i int) []T {
	return append(list[:i:i], list[i+1:]...)
}

// find is a binary search by name.
func find[T any](list []T, name string, of func(T) string) (int, bool) {
	return slices.BinarySearchFunc(list, name, func(v T, name string) int { return strings.Compare(of(v), name) })
}
