package auth

import (
	"context"
	"errors"

	"github.com/tiergrid/tiergrid/membership/users"
	"github.com/tiergrid/tiergrid/node/command"
)

// ErrRevoked is returned by Renew for a user that no longer exists: its sessions
// end.
var ErrRevoked = errors.New("auth: the user was removed")

// defaultUser is who AUTH with one argument logs in.
const defaultUser = "default"

// Config is what an Authenticator needs.
type Config struct {
	// Users returns the present directory. It is called for every batch of a
	// session and must be no more than a pointer load. Nil means no users, for
	// ever.
	Users func() *users.Directory
	// Verifier checks passwords. It may be nil only if Users is.
	Verifier *users.Verifier
}

// Authenticator turns logins into identities.
type Authenticator struct {
	users    func() *users.Directory
	verifier *users.Verifier
}

// noUsers is the directory of a server that never has any.
var noUsers = users.NewDirectory(0, nil)

// New returns an Authenticator over the users of cfg.
func New(cfg Config) *Authenticator {
	if cfg.Users == nil {
		cfg.Users = func() *users.Directory { return noUsers }
	}
	return &Authenticator{users: cfg.Users, verifier: cfg.Verifier}
}

// Users returns the present directory.
func (a *Authenticator) Users() *users.Directory { return a.users() }

// Open reports whether there are no users, so that nobody needs to log in.
func (a *Authenticator) Open() bool { return a.users().Len() == 0 }

// Anonymous returns the identity of a client that has not logged in: "default"
// on an open server, nil otherwise.
func (a *Authenticator) Anonymous() *Identity {
	d := a.users()
	if d.Len() > 0 {
		return nil
	}
	return newIdentity(d, users.Open())
}

// Authenticate logs a user in. A nil name is that of AUTH with one argument. The
// errors are replies, and never tell an unknown user from a wrong password.
func (a *Authenticator) Authenticate(ctx context.Context, name, password []byte) (*Identity, error) {
	d := a.users()
	if d.Len() == 0 {
		return openLogin(d, name)
	}
	if name == nil {
		name = []byte(defaultUser)
	}
	user, err := a.verifier.Verify(ctx, d, name, password)
	switch {
	case err == nil:
		return newIdentity(d, user), nil
	case errors.Is(err, users.ErrWrongPassword):
		return nil, command.ErrWrongPass
	}
	return nil, command.Failed(err)
}

// openLogin is a login without users: "default" has no password, so every
// password is right.
func openLogin(d *users.Directory, name []byte) (*Identity, error) {
	switch {
	case name == nil:
		return nil, command.ErrAuthNotNeeded
	case string(name) == defaultUser:
		return newIdentity(d, users.Open()), nil
	}
	return nil, command.ErrWrongPass
}

// Fresh reports whether id was made from the present directory. It is the cheap
// question before Renew.
func (a *Authenticator) Fresh(id *Identity) bool { return id.directory == a.users() }

// Renew returns the identity that id is under the present directory. It is nil
// where the server was open and now has users: the client must log in.
// ErrRevoked means that the user is gone.
func (a *Authenticator) Renew(id *Identity) (*Identity, error) {
	d := a.users()
	if id.directory == d {
		return id, nil
	}
	if id.user == users.Open() {
		if d.Len() > 0 {
			return nil, nil
		}
		return newIdentity(d, id.user), nil
	}
	user := d.User([]byte(id.user.Name))
	if user == nil {
		return nil, ErrRevoked
	}
	return newIdentity(d, user), nil
}
