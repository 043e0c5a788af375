package auth

import (
	"sync"

	"github.com/tiergrid/tiergrid/membership/users"
	"github.com/tiergrid/tiergrid/node/command"
)

// Identity is a logged-in user under one directory.
type Identity struct {
	user      *users.User
	directory *users.Directory
	// unrestricted: every command with every key, so that Check need not look.
	unrestricted bool
}

func newIdentity(d *users.Directory, u *users.User) *Identity {
	return &Identity{user: u, directory: d, unrestricted: allowsEverything(u.Permission())}
}

// anyUse is a use of a key that needs all there is to need.
const anyUse = command.RW | command.Access | command.Update

func allowsEverything(p *users.Permission) bool {
	for _, c := range command.Commands() {
		if !p.Command(c) {
			return false
		}
	}
	return p.AllKeys(anyUse)
}

// Name is the name of the user.
func (id *Identity) Name() string { return id.user.Name }

// User is the user under the directory that id was made from.
func (id *Identity) User() *users.User { return id.user }

// Unrestricted reports whether Check would allow everything.
func (id *Identity) Unrestricted() bool { return id.unrestricted }

// Check returns nil if the user may run cmd with these arguments, and the error
// reply otherwise. What may be run before login may always be run. args begins with the command's name and has passed
// command.Resolve.
func (id *Identity) Check(cmd *command.Command, args [][]byte) error {
	if id.unrestricted || cmd.Flags&command.NoAuth != 0 {
		return nil
	}
	p := id.user.Permission()
	if !p.Command(cmd) {
		return command.NoPermission(id.user.Name, cmd.Name)
	}
	if len(cmd.Keys) == 0 || p.AllKeys(anyUse) {
		return nil
	}
	return checkKeys(p, cmd, args)
}

// keyRefs lends room for the keys of one call.
var keyRefs = sync.Pool{New: func() any { return new([]command.KeyRef) }}

// keptRefs is the most room that goes back to the pool.
const keptRefs = 1024

func checkKeys(p *users.Permission, cmd *command.Command, args [][]byte) error {
	room := keyRefs.Get().(*[]command.KeyRef)
	// An error means that the keys cannot be told; the command then refuses
	// the call itself and touches none.
	refs, _ := cmd.AppendKeys((*room)[:0], args)
	err := error(nil)
	for _, ref := range refs {
		if !p.Key(args[ref.Index], ref.Access) {
			err = command.ErrNoPermissionKey
			break
		}
	}
	if cap(refs) <= keptRefs {
		*room = refs
		keyRefs.Put(room)
	}
	return err
}
