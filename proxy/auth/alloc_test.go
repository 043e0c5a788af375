//go:build !race

// The race detector makes pools drop what they are given.

package auth

import (
	"testing"

	"github.com/tiergrid/tiergrid/membership/users"
	"github.com/tiergrid/tiergrid/node/command"
)

func TestCheckDoesNotAllocate(t *testing.T) {
	list := users.NewDirectory(1, []users.User{{Name: "u", Roles: []string{"observer"}}})
	who := newIdentity(list, list.User([]byte("u")))
	call := args("mget", "a", "b", "c")
	cmd := command.Lookup(call[0])
	if n := testing.AllocsPerRun(1000, func() {
		if err := who.Check(cmd, call); err != nil {
			t.Fatal(err)
		}
	}); n >= 1 {
		t.Errorf("Check allocates %.1f times", n)
	}
}
