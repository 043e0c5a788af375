package control

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tiergrid/tiergrid/membership/users"
)

// User is a user as the control state knows it. Roles that this build does not
// know grant nothing.
type User struct {
	Name    string
	Hash    string // of the password, as users.Hash writes it
	Roles   []string
	Created time.Time
	Altered time.Time
}

func userName(u User) string { return u.Name }

// User returns the user of that name.
func (s *State) User(name string) (User, bool) {
	i, found := find(s.Users, name, userName)
	if !found {
		return User{}, false
	}
	return s.Users[i], true
}

// maxHash bounds the text of a password hash.
const maxHash = 256

// CreateUser adds a user. The hash is made by the proposer: hashing is slow and
// needs a random salt.
type CreateUser struct {
	Name  string
	Hash  string
	Roles []string
}

func (CreateUser) kind() kind { return kindCreateUser }

func (c CreateUser) validate() error {
	return errors.Join(checkUser(c.Name, c.Hash), checkRoles(c.Roles))
}

func checkUser(name, hash string) error {
	if err := users.CheckName(name); err != nil {
		return err
	}
	return users.CheckHash(hash)
}

func checkRoles(names []string) error {
	if len(names) > MaxRoles {
		return fmt.Errorf("%w: %d roles", ErrFull, MaxRoles)
	}
	_, err := users.ParseRoles(names)
	return err
}

func (c CreateUser) encode(e *encoder) {
	e.text(c.Name)
	e.text(c.Hash)
	e.texts(c.Roles)
}

func decodeCreateUser(d *decoder) Entry {
	return CreateUser{d.text(MaxName), d.text(maxHash), d.texts(MaxRoles, MaxName)}
}

func (c CreateUser) apply(s *State, at time.Time) error {
	if _, found := s.User(c.Name); found {
		return fmt.Errorf("user %s %w", c.Name, ErrExists)
	}
	if len(s.Users) >= MaxUsers {
		return fmt.Errorf("%w: %d users", ErrFull, MaxUsers)
	}
	return s.putUser(User{c.Name, c.Hash, c.Roles, at, at})
}

// putUser checks what keeps the state well formed, and stores u.
func (s *State) putUser(u User) error {
	switch {
	case u.Name == "" || len(u.Name) > MaxName:
		return fmt.Errorf("user name %q: %w", u.Name, ErrInvalid)
	case u.Hash == "" || len(u.Hash) > maxHash:
		return fmt.Errorf("user %s: password hash: %w", u.Name, ErrInvalid)
	case len(u.Roles) > MaxRoles:
		return fmt.Errorf("user %s: %w: %d roles", u.Name, ErrFull, MaxRoles)
	}
	for _, r := range u.Roles {
		if err := checkName("role", r); err != nil {
			return err
		}
	}
	u.Roles = slices.Clone(u.Roles)
	slices.Sort(u.Roles)
	u.Roles = slices.Compact(u.Roles)
	s.Users = put(s.Users, u, userName)
	s.UsersIndex = s.Index
	return nil
}

// SetPassword gives a user another password.
type SetPassword struct {
	Name string
	Hash string
}

func (SetPassword) kind() kind { return kindSetPassword }

func (p SetPassword) validate() error { return checkUser(p.Name, p.Hash) }

func (p SetPassword) encode(e *encoder) {
	e.text(p.Name)
	e.text(p.Hash)
}

func decodeSetPassword(d *decoder) Entry { return SetPassword{d.text(MaxName), d.text(maxHash)} }

func (p SetPassword) apply(s *State, at time.Time) error {
	u, found := s.User(p.Name)
	if !found {
		return fmt.Errorf("user %s %w", p.Name, ErrNotFound)
	}
	u.Hash, u.Altered = p.Hash, at
	return s.putUser(u)
}

// SetRoles gives a user these roles in place of those it had.
type SetRoles struct {
	Name  string
	Roles []string
}

func (SetRoles) kind() kind { return kindSetRoles }

func (r SetRoles) validate() error {
	return errors.Join(users.CheckName(r.Name), checkRoles(r.Roles))
}

func (r SetRoles) encode(e *encoder) {
	e.text(r.Name)
	e.texts(r.Roles)
}

func decodeSetRoles(d *decoder) Entry { return SetRoles{d.text(MaxName), d.texts(MaxRoles, MaxName)} }

func (r SetRoles) apply(s *State, at time.Time) error {
	u, found := s.User(r.Name)
	if !found {
		return fmt.Errorf("user %s %w", r.Name, ErrNotFound)
	}
	u.Roles, u.Altered = r.Roles, at
	return s.putUser(u)
}

// RemoveUser removes a user; its sessions lose their permission at once.
type RemoveUser struct{ Name string }

func (RemoveUser) kind() kind { return kindRemoveUser }

func (r RemoveUser) validate() error { return users.CheckName(r.Name) }

func (r RemoveUser) encode(e *encoder) { e.text(r.Name) }

func decodeRemoveUser(d *decoder) Entry { return RemoveUser{d.text(MaxName)} }

func (r RemoveUser) apply(s *State, _ time.Time) error {
	i, found := find(s.Users, r.Name, userName)
	if !found {
		return fmt.Errorf("user %s %w", r.Name, ErrNotFound)
	}
	s.Users = drop(s.Users, i)
	s.UsersIndex = s.Index
	return nil
}
