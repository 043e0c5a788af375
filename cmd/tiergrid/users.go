package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"

	"github.com/tiergrid/tiergrid/admin/api"
	admincli "github.com/tiergrid/tiergrid/admin/cli"
	"github.com/tiergrid/tiergrid/membership"
	"github.com/tiergrid/tiergrid/membership/control"
	"github.com/tiergrid/tiergrid/membership/users"
)

// userStore shows the users of the control state to the API and to the command
// line.
type userStore struct{ control *control.Control }

// Empty implements admin.UserStore.
func (s userStore) Empty() bool { return s.control.Users().Len() == 0 }

// Users implements admin.UserStore.
func (s userStore) Users(context.Context) ([]api.User, error) {
	state := s.control.View().State
	list := make([]api.User, len(state.Users))
	for i, u := range state.Users {
		list[i] = api.User{Name: u.Name, Groups: u.Roles}
	}
	return list, nil
}

// CreateUser implements admin.UserStore.
func (s userStore) CreateUser(ctx context.Context, u api.NewUser) error {
	hash, err := users.Hash([]byte(u.Password), rand.Reader)
	if err != nil {
		return err
	}
	return s.propose(ctx, control.CreateUser{Name: u.Name, Hash: hash, Roles: u.Groups})
}

// SetPassword implements admin.UserStore.
func (s userStore) SetPassword(ctx context.Context, name, password string) error {
	hash, err := users.Hash([]byte(password), rand.Reader)
	if err != nil {
		return err
	}
	return s.propose(ctx, control.SetPassword{Name: name, Hash: hash})
}

// SetGroups implements admin.UserStore.
func (s userStore) SetGroups(ctx context.Context, name string, groups []string) error {
	return s.propose(ctx, control.SetRoles{Name: name, Roles: groups})
}

// RemoveUser implements admin.UserStore.
func (s userStore) RemoveUser(ctx context.Context, name string) error {
	return s.propose(ctx, control.RemoveUser{Name: name})
}

// propose gives the errors of the control state the kinds of the API.
func (s userStore) propose(ctx context.Context, entry control.Entry) error {
	_, err := s.control.Propose(ctx, entry)
	for _, as := range []struct{ is, kind error }{
		{control.ErrExists, api.ErrUserExists},
		{control.ErrNotFound, api.ErrNoUser},
		{control.ErrInvalid, api.ErrBadRequest},
		{control.ErrFull, api.ErrBadRequest},
		{control.ErrClosed, api.ErrUnavailable},
		{control.ErrLogFailed, api.ErrUnavailable},
	} {
		if errors.Is(err, as.is) {
			return fmt.Errorf("%w: %w", as.kind, err)
		}
	}
	return err
}

// offlineUsers are the users of a data directory on which no server runs.
type offlineUsers struct{ userStore }

// Close implements admincli.Users.
func (u offlineUsers) Close() error { return u.control.Close() }

// openOffline opens the users of a data directory; see admincli.Config.
func openOffline(_ context.Context, data string, create bool) (admincli.Users, error) {
	if create {
		if err := prepareData(data); err != nil {
			return nil, err
		}
	}
	if _, err := os.Stat(data); err != nil {
		return nil, err
	}
	c, err := control.Open(control.Config{Dir: membership.ControlDir(data)})
	if err != nil {
		return nil, err
	}
	return offlineUsers{userStore{c}}, nil
}
