package control

import (
	"encoding/hex"

	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/membership/users"
)

// View is everything that is published after an entry: the state and what is
// derived from it. It is immutable.
type View struct {
	State *State
	Table *topology.Table
	Users *users.Directory

	changed chan struct{}
}

// Changed is closed when a newer View has been published.
func (v *View) Changed() <-chan struct{} { return v.changed }

// newView derives what is published for s. The directory of before is kept if no
// user has changed.
func newView(s *State, before *View) *View {
	v := &View{State: s, Table: s.table(), changed: make(chan struct{})}
	if before != nil && before.State.UsersIndex == s.UsersIndex {
		v.Users = before.Users
	} else {
		v.Users = s.directory()
	}
	return v
}

// table shows the state to those who route.
func (s *State) table() *topology.Table {
	t := &topology.Table{Index: s.Index, HashKey: s.Cluster.HashKey, Groups: s.Groups}
	if s.Bootstrapped() {
		t.ClusterID = hex.EncodeToString(s.Cluster.ID[:])
	}
	for _, m := range s.Members {
		t.Members = append(t.Members, topology.Member{Name: m.Name, StoreID: m.StoreID, Incarnation: m.Incarnation, Zone: m.Zone})
	}
	for i := range t.Numbered {
		t.Numbered[i] = -1
	}
	for i, c := range s.Caches {
		t.Caches = append(t.Caches, c.Cache)
		if c.Database != topology.NoDatabase {
			t.Numbered[c.Database] = i
		}
	}
	return t
}

func (s *State) directory() *users.Directory {
	list := make([]users.User, len(s.Users))
	for i, u := range s.Users {
		list[i] = users.User{Name: u.Name, Hash: u.Hash, Roles: u.Roles}
	}
	return users.NewDirectory(s.UsersIndex, list)
}
