package control

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tiergrid/tiergrid/membership/topology"
)

// Member is one process as the control state knows it.
type Member struct {
	Name        string
	StoreID     string // one life of its data directory
	Incarnation uint64 // one start of its process, given by the state
	Zone        string
	Version     string // of the build
	Clean       bool   // the start before this one ended in order
	Registered  time.Time
}

func memberName(m Member) string { return m.Name }

// Register is the first thing a process does: it announces a new incarnation of
// its member (R1). It ends every epoch that the former incarnation was primary
// of; the units that nobody owns yet become the first member's.
type Register struct {
	Member  string
	StoreID string
	Zone    string
	Version string
	Clean   bool
}

func (Register) kind() kind { return kindRegister }

func (r Register) validate() error {
	if len(r.Zone) > MaxName || len(r.Version) > MaxName {
		return fmt.Errorf("zone or version of member %s: %w: at most %d bytes are allowed", r.Member, ErrInvalid, MaxName)
	}
	return errors.Join(checkName("member", r.Member), checkName("store", r.StoreID))
}

func (r Register) encode(e *encoder) {
	e.text(r.Member)
	e.text(r.StoreID)
	e.text(r.Zone)
	e.text(r.Version)
	e.bool(r.Clean)
}

func decodeRegister(d *decoder) Entry {
	return Register{d.text(MaxName), d.text(MaxName), d.text(MaxName), d.text(MaxName), d.bool()}
}

func (r Register) apply(s *State, at time.Time) error {
	if err := r.check(s); err != nil {
		return err
	}
	s.LastIncarnation++
	s.Members = put(s.Members, Member{
		Name: r.Member, StoreID: r.StoreID, Incarnation: s.LastIncarnation,
		Zone: r.Zone, Version: r.Version, Clean: r.Clean, Registered: at,
	}, memberName)
	return s.endEpochs(r.Member)
}

func (r Register) check(s *State) error {
	if !s.Bootstrapped() {
		return ErrNotBootstrapped
	}
	if err := checkName("member", r.Member); err != nil {
		return err
	}
	if err := checkName("store", r.StoreID); err != nil {
		return err
	}
	for _, m := range s.Members {
		switch {
		case m.Name == r.Member && m.StoreID != r.StoreID && s.owns(m.Name):
			return fmt.Errorf("%w: member %s owns entries in store %s, but its data directory is store %s; put the old one back, or start under another name with an empty data directory", ErrForeignStore, m.Name, m.StoreID, r.StoreID)
		case m.Name != r.Member && m.StoreID == r.StoreID:
			return fmt.Errorf("%w: store %s is member %s's, not %s's; start it under the name %s", ErrForeignStore, r.StoreID, m.Name, r.Member, m.Name)
		}
	}
	if _, found := find(s.Members, r.Member, memberName); !found && len(s.Members) >= MaxMembers {
		return fmt.Errorf("%w: %d members", ErrFull, MaxMembers)
	}
	return nil
}

// owns reports whether the member holds a copy of any unit.
func (s *State) owns(member string) bool {
	for _, g := range s.Groups {
		for _, u := range g.Units {
			if slices.Contains(u.Owners, member) {
				return true
			}
		}
	}
	return false
}

// endEpochs gives a new epoch to every unit whose primary has restarted, and an
// owner to every unit that has none.
func (s *State) endEpochs(member string) error {
	groups := slices.Clone(s.Groups)
	for i := range groups {
		units := slices.Clone(groups[i].Units)
		for j := range units {
			u, err := restarted(units[j], member)
			if err != nil {
				return fmt.Errorf("group %d partition %d: %w", groups[i].ID, j, err)
			}
			units[j] = u
		}
		groups[i].Units = units
	}
	s.Groups = groups
	return nil
}

func restarted(u topology.Unit, member string) (topology.Unit, error) {
	switch {
	case len(u.Owners) == 0:
		u.Owners, u.ISR, u.Primary = []string{member}, []string{member}, member
	case u.Primary != member:
		return u, nil
	}
	if u.Epoch >= MaxEpoch {
		return u, fmt.Errorf("%w: epoch %d is the last", ErrFull, u.Epoch)
	}
	u.Epoch++
	u.ISRVersion++
	return u, nil
}
