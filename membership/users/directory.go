package users

import (
	"slices"
	"strings"
)

// User is one user as a Directory holds it.
type User struct {
	Name  string
	Hash  string
	Roles []string

	permission *Permission
}

// Permission is what the user may do.
func (u *User) Permission() *Permission { return u.permission }

// ACL is the user's line of ACL LIST.
func (u *User) ACL() string {
	password := "nopass"
	if u.Hash != "" {
		password = "#" + Fingerprint(u.Hash)
	}
	return "user " + u.Name + " on " + password + " " + u.permission.String()
}

// Open is the user of every client of a server that has no users: "default",
// without a password, who may do everything.
func Open() *User { return open }

var open = &User{Name: "default", Roles: []string{string(Admin)}, permission: Everything()}

// Directory is an immutable snapshot of all users.
type Directory struct {
	version uint64
	byName  map[string]*User
	sorted  []*User
}

// NewDirectory makes a directory. version tells directories apart and only
// grows; of users with the same name the last one counts.
func NewDirectory(version uint64, list []User) *Directory {
	d := &Directory{version: version, byName: make(map[string]*User, len(list))}
	for _, u := range list {
		u.Roles = slices.Clone(u.Roles)
		u.permission = Compile(u.Roles)
		d.byName[u.Name] = &u
	}
	for _, u := range d.byName {
		d.sorted = append(d.sorted, u)
	}
	slices.SortFunc(d.sorted, func(a, b *User) int { return strings.Compare(a.Name, b.Name) })
	return d
}

// Version tells whether users may have changed since another directory.
func (d *Directory) Version() uint64 { return d.version }

// Len is the number of users. With none the server is open, on loopback only.
func (d *Directory) Len() int { return len(d.sorted) }

// User returns the user of that name, or nil. It does not allocate.
func (d *Directory) User(name []byte) *User { return d.byName[string(name)] }

// All returns the users by name. The slice is shared: callers must not change it.
func (d *Directory) All() []*User { return d.sorted }
