// Package memusers keeps users in memory, for the tests of the server, the client
// and the commands: Store.
//
// A Store keeps passwords as they are and is for tests only. It may be used by
// any number of goroutines, is not bounded and starts none.
package memusers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/tiergrid/tiergrid/admin/api"
	"github.com/tiergrid/tiergrid/membership/users"
)

// Store is users in memory. The zero value has none.
type Store struct {
	mu        sync.Mutex
	users     []api.User
	passwords map[string]string
	failure   error // what every call answers, when set
	closed    int
}

// New returns a store in which each user has its own name as its password and as
// its group; other groups can stand behind a colon (dev:admin,monitor).
func New(list ...string) *Store {
	s := &Store{}
	for _, entry := range list {
		name, groups, found := strings.Cut(entry, ":")
		u := api.NewUser{Name: name, Password: name, Groups: []string{name}}
		if found {
			u.Groups = slices.DeleteFunc(strings.Split(groups, ","), func(g string) bool { return g == "" })
		}
		if err := s.CreateUser(context.Background(), u); err != nil {
			panic(err)
		}
	}
	return s
}

// Fail lets every call fail with err, until it is nil again.
func (s *Store) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failure = err
}

// Empty says whether there is no user.
func (s *Store) Empty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.users) == 0
}

// Users returns all users by name.
func (s *Store) Users(context.Context) ([]api.User, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.users), s.failure
}

// find returns where name is or would be. The lock is held.
func (s *Store) find(name string) (int, bool) {
	return slices.BinarySearchFunc(s.users, name, func(u api.User, n string) int { return strings.Compare(u.Name, n) })
}

// CreateUser adds a user.
func (s *Store) CreateUser(_ context.Context, u api.NewUser) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, found := s.find(u.Name)
	switch {
	case s.failure != nil:
		return s.failure
	case found:
		return fmt.Errorf("user %s: %w", u.Name, api.ErrUserExists)
	}
	s.users = slices.Insert(s.users, at, api.User{Name: u.Name, Groups: u.Groups})
	if s.passwords == nil {
		s.passwords = map[string]string{}
	}
	s.passwords[u.Name] = u.Password
	return nil
}

// change runs do on the user called name.
func (s *Store) change(name string, do func(i int)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, found := s.find(name)
	switch {
	case s.failure != nil:
		return s.failure
	case !found:
		return fmt.Errorf("user %s: %w", name, api.ErrNoUser)
	}
	do(at)
	return nil
}

// SetPassword replaces a password.
func (s *Store) SetPassword(_ context.Context, name, password string) error {
	return s.change(name, func(int) { s.passwords[name] = password })
}

// SetGroups replaces the groups of a user.
func (s *Store) SetGroups(_ context.Context, name string, groups []string) error {
	return s.change(name, func(i int) { s.users[i].Groups = groups })
}

// RemoveUser removes a user.
func (s *Store) RemoveUser(_ context.Context, name string) error {
	return s.change(name, func(i int) { s.users = slices.Delete(s.users, i, i+1) })
}

// Password returns the password of a user, or "".
func (s *Store) Password(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.passwords[name]
}

// Close counts.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed++
	return nil
}

// Closed is how often Close was called.
func (s *Store) Closed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// Authenticate checks a password.
func (s *Store) Authenticate(_ context.Context, name, password string) (*users.User, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure != nil {
		return nil, s.failure
	}
	at, found := s.find(name)
	if !found || s.passwords[name] != password {
		return nil, users.ErrWrongPassword
	}
	d := users.NewDirectory(1, []users.User{{Name: name, Roles: s.users[at].Groups}})
	return d.User([]byte(name)), nil
}
