package control

import (
	"fmt"
	"slices"

	"github.com/tiergrid/tiergrid/membership/topology"
)

// placement is what decides the placement group of a cache.
type placement struct {
	mode        string
	owners      int
	replication string
}

// placementOf leaves the number of owners out for replicated caches: every
// member owns their units.
func placementOf(p topology.Policy) placement {
	if p.Mode == topology.ModeReplicated {
		return placement{p.Mode, 0, p.Replication}
	}
	return placement{p.Mode, p.Owners, p.Replication}
}

func groupPlacement(g topology.Group) placement {
	return placement{g.Mode, g.Owners, g.Replication}
}

func (s *State) group(id topology.GroupID) (topology.Group, bool) {
	for _, g := range s.Groups {
		if g.ID == id {
			return g, true
		}
	}
	return topology.Group{}, false
}

// groupFor returns the group of caches with that policy, and adds it when it is
// the first. A group stays when its last cache goes, so that its units keep
// their epochs.
func (s *State) groupFor(p topology.Policy) (topology.GroupID, error) {
	want := placementOf(p)
	for _, g := range s.Groups {
		if groupPlacement(g) == want {
			return g.ID, nil
		}
	}
	if len(s.Groups) >= MaxGroups {
		return 0, fmt.Errorf("%w: %d placement groups", ErrFull, MaxGroups)
	}
	s.LastGroup++
	s.Groups = append(slices.Clip(s.Groups), topology.Group{
		ID: s.LastGroup, Mode: want.mode, Owners: want.owners, Replication: want.replication,
		Units: s.freshUnits(),
	})
	return s.LastGroup, nil
}

// freshUnits gives the units of a new group to the first member, or to nobody
// while there is none: the first to register then becomes their owner.
func (s *State) freshUnits() []topology.Unit {
	units := make([]topology.Unit, topology.Partitions)
	if len(s.Members) == 0 {
		return units
	}
	owner := []string{s.Members[0].Name}
	for i := range units {
		units[i] = topology.Unit{Epoch: 1, Primary: owner[0], Owners: owner, ISR: owner, ISRVersion: 1}
	}
	return units
}
