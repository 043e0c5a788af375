package control

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/membership/users"
)

func TestProposePublishes(t *testing.T) {
	c := mustOpen(t, newMemoryFiles(), 0)
	changed, before := c.Changed(), c.View()
	index, err := c.Propose(context.Background(), bootstrap)
	if err != nil || index != 1 {
		t.Fatalf("Propose = %d, %v", index, err)
	}
	select {
	case <-changed:
	default:
		t.Error("the change was not announced")
	}
	if c.Table().Index != 1 || c.Table().HashKey != bootstrap.HashKey || c.Table().ClusterID != "c102030405060708090a0b0c0d0e0f10" {
		t.Errorf("table = %+v", c.Table())
	}
	if c.Users() != before.Users {
		t.Error("the directory of users was made anew though no user changed")
	}
	propose(t, c, CreateUser{Name: "developer", Hash: someHash, Roles: []string{"admin"}})
	if u := c.Users().User([]byte("developer")); u == nil || !u.Permission().Rights().Has(users.RightAdmin) || c.Users().Version() != 2 {
		t.Errorf("developer = %+v, version %d", u, c.Users().Version())
	}
	if before.Table.Index != 0 || before.Users.Len() != 0 {
		t.Error("a published view has changed")
	}
}

func TestARefusedEntryLeavesEverything(t *testing.T) {
	files := newMemoryFiles()
	c := mustOpen(t, files, 0)
	propose(t, c, bootstrap, CreateUser{Name: "a", Hash: someHash})
	before, size := c.View(), c.Stats().Bytes
	for _, test := range []struct {
		entry Entry
		err   error
	}{
		{bootstrap, ErrBootstrapped},
		{CreateUser{Name: "a", Hash: someHash}, ErrExists},
		{CreateUser{Name: "a b", Hash: someHash}, users.ErrBadName},
		{CreateUser{Name: "b", Hash: "secret"}, users.ErrBadHash},
		{CreateUser{Name: "b", Hash: someHash, Roles: []string{"root"}}, users.ErrUnknownRole},
		{SetRoles{Name: "a", Roles: []string{"root"}}, users.ErrUnknownRole},
		{SetPassword{Name: "a", Hash: ""}, users.ErrBadHash},
		{SetPassword{Name: "b", Hash: someHash}, ErrNotFound},
		{CreateCache{Name: strings.Repeat("x", MaxName+1)}, ErrInvalid},
	} {
		if _, err := c.Propose(context.Background(), test.entry); !errors.Is(err, test.err) {
			t.Errorf("%+v: %v, want %v", test.entry, err, test.err)
		}
	}
	if c.View() != before || c.Stats().Bytes != size {
		t.Error("a refused entry was published or logged")
	}
}

// An entry that asks for what is there already succeeds without a trace.
func TestAnEntryWithoutEffectIsNotLogged(t *testing.T) {
	c := mustOpen(t, newMemoryFiles(), 0)
	propose(t, c, bootstrap)
	ask := CreateCache{Name: "a", IfAbsent: true, Change: Change{Owners: ptr(3)}}
	for want := range 3 {
		index, err := c.Propose(context.Background(), ask)
		if err != nil || index != 2 || c.Stats().Index != 2 {
			t.Errorf("round %d: index %d, %v", want, index, err)
		}
	}
}

func TestProposeStopsWithItsContext(t *testing.T) {
	c := mustOpen(t, newMemoryFiles(), 0)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := c.Propose(ctx, bootstrap); !errors.Is(err, context.Canceled) {
		t.Errorf("Propose = %v", err)
	}
	if _, err := c.Watch(ctx, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("Watch = %v", err)
	}
}

// Many propose at once, many watch; everybody sees every index grow.
func TestProposeFromManyGoroutines(t *testing.T) {
	const proposers, each = 4, 25
	c := mustOpen(t, newMemoryFiles(), 10)
	propose(t, c, bootstrap)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for seen := uint64(0); seen < proposers*each+1; {
				v, err := c.Watch(context.Background(), seen)
				if err != nil || v.State.Index <= seen || v.Table.Index != v.State.Index {
					t.Errorf("after %d: %+v, %v", seen, v, err)
					return
				}
				seen = v.State.Index
			}
		})
	}
	for p := range proposers {
		wg.Go(func() {
			for n := range each {
				propose(t, c, user(p*each+n))
			}
		})
	}
	wg.Wait()
	if s := c.View().State; len(s.Users) != proposers*each || c.Users().Len() != proposers*each {
		t.Errorf("%d users", len(s.Users))
	}
}

func TestDifferencesAreNamed(t *testing.T) {
	s := applied(t, bootstrap, CreateCache{Name: "a", Database: ptr(2), Change: Change{Owners: ptr(3)}})
	_, err := s.Apply(encoded(t, CreateCache{
		Name: "a", Database: ptr(4), IfAbsent: true,
		Change: Change{Owners: ptr(1), Mode: ptr(topology.ModeDistributed), MaxEntrySize: ptr(int64(1000))},
	}, moment(0)))
	var different *DifferentError
	if !errors.As(err, &different) || !errors.Is(err, ErrDifferent) || len(different.Differences) != 3 {
		t.Fatalf("err = %v", err)
	}
	want := "cache a exists with other values: owners is 3, not 1; max-entry-size is 64MiB, not 1000B; database is 2, not 4"
	if err.Error() != want {
		t.Errorf("err = %v\nwant  %s", err, want)
	}
}
