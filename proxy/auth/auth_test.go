package auth

import (
	"context"
	"crypto/rand"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/tiergrid/tiergrid/membership/users"
	"github.com/tiergrid/tiergrid/node/command"
)

func person(t *testing.T, name string, roles ...string) users.User {
	t.Helper()
	hash, err := users.Hash([]byte(name), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return users.User{Name: name, Hash: hash, Roles: roles}
}

// with returns an Authenticator of these users and how to replace them.
func with(t *testing.T, list ...users.User) (*Authenticator, func(...users.User)) {
	t.Helper()
	var present atomic.Pointer[users.Directory]
	set := func(list ...users.User) { present.Store(users.NewDirectory(0, list)) }
	set(list...)
	verifier, err := users.NewVerifier(users.VerifierConfig{})
	if err != nil {
		t.Fatal(err)
	}
	return New(Config{Users: present.Load, Verifier: verifier}), set
}

func TestOpenServer(t *testing.T) {
	a := New(Config{})
	who := a.Anonymous()
	if !a.Open() || who == nil || who.Name() != "default" || !who.Unrestricted() || !a.Fresh(who) {
		t.Fatalf("an open server lets in %+v", who)
	}
	for _, c := range []struct {
		name, password []byte
		want           error
	}{
		{nil, []byte("x"), command.ErrAuthNotNeeded},
		{[]byte("default"), []byte("anything"), nil},
		{[]byte("default"), nil, nil},
		{[]byte("nobody"), []byte("x"), command.ErrWrongPass},
	} {
		if _, err := a.Authenticate(context.Background(), c.name, c.password); err != c.want {
			t.Errorf("Authenticate(%q): %v, want %v", c.name, err, c.want)
		}
	}
}

func TestAuthenticate(t *testing.T) {
	a, _ := with(t, person(t, "dev", "admin"), person(t, "default", "observer"))
	if a.Anonymous() != nil || a.Open() {
		t.Error("somebody who did not log in has an identity")
	}
	for _, c := range []struct {
		name, password []byte
		want           error
		is             string
	}{
		{[]byte("dev"), []byte("dev"), nil, "dev"},
		{[]byte("dev"), []byte("wrong"), command.ErrWrongPass, ""},
		{[]byte("nobody"), []byte("dev"), command.ErrWrongPass, ""},
		{[]byte(""), []byte(""), command.ErrWrongPass, ""},
		{nil, []byte("default"), nil, "default"},
		{nil, []byte("dev"), command.ErrWrongPass, ""},
	} {
		who, err := a.Authenticate(context.Background(), c.name, c.password)
		if err != c.want || err == nil && who.Name() != c.is {
			t.Errorf("Authenticate(%q, %q) = %v, %v; want %q, %v", c.name, c.password, who, err, c.is, c.want)
		}
	}
}

func TestAuthenticateGivesUpWithItsContext(t *testing.T) {
	a, _ := with(t, person(t, "dev", "admin"))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := a.Authenticate(ctx, []byte("nobody"), []byte("x"))
	var reply command.Error
	if !errors.As(err, &reply) {
		t.Errorf("Authenticate: %v, want an error reply", err)
	}
}

func TestRenew(t *testing.T) {
	dev, app := person(t, "dev", "admin"), person(t, "app", "application")
	a, set := with(t)
	open := a.Anonymous()
	if same, err := a.Renew(open); same != open || err != nil {
		t.Errorf("Renew of a fresh identity: %v, %v", same, err)
	}
	set()
	if who, err := a.Renew(open); err != nil || who == nil || !a.Fresh(who) {
		t.Errorf("Renew on a server that stays open: %v, %v", who, err)
	}
	set(dev, app)
	if who, err := a.Renew(open); who != nil || err != nil {
		t.Errorf("Renew of an open identity once there are users: %v, %v; want nobody", who, err)
	}
	who, err := a.Authenticate(context.Background(), []byte("app"), []byte("app"))
	if err != nil {
		t.Fatal(err)
	}
	app.Roles = []string{"observer"}
	set(dev, app)
	if a.Fresh(who) {
		t.Error("an identity of replaced users is fresh")
	}
	renewed, err := a.Renew(who)
	if err != nil {
		t.Fatal(err)
	}
	set1 := [][]byte{[]byte("set"), []byte("a"), []byte("1")}
	if who.Check(command.Lookup(set1[0]), set1) != nil || renewed.Check(command.Lookup(set1[0]), set1) == nil {
		t.Error("the renewed identity has the permissions of before")
	}
	set(dev)
	if _, err := a.Renew(renewed); err != ErrRevoked {
		t.Errorf("Renew of a removed user: %v, want ErrRevoked", err)
	}
	set()
	if _, err := a.Renew(renewed); err != ErrRevoked {
		t.Errorf("Renew of the last user, removed: %v, want ErrRevoked", err)
	}
}

func args(words ...string) [][]byte {
	var list [][]byte
	for _, w := range words {
		list = append(list, []byte(w))
	}
	return list
}

func TestCheck(t *testing.T) {
	roles := map[string]*Identity{}
	d := users.NewDirectory(1, nil)
	for _, role := range users.Roles() {
		list := users.NewDirectory(1, []users.User{{Name: "u", Roles: []string{string(role)}}})
		roles[string(role)] = newIdentity(d, list.User([]byte("u")))
	}
	roles["none"] = newIdentity(d, users.NewDirectory(1, []users.User{{Name: "u"}}).User([]byte("u")))
	refused := func(name string) error { return command.NoPermission("u", name) }
	for _, c := range []struct {
		role string
		args [][]byte
		want error
	}{
		{"admin", args("flushall"), nil},
		{"admin", args("acl", "list"), nil},
		{"application", args("set", "a", "1"), nil},
		{"application", args("flushall"), refused("flushall")},
		{"application", args("client", "kill", "id", "1"), refused("client|kill")},
		{"application", args("client", "id"), nil},
		{"observer", args("get", "a"), nil},
		{"observer", args("mget", "a", "b"), nil},
		{"observer", args("set", "a", "1"), refused("set")},
		{"monitor", args("info"), nil},
		{"monitor", args("get", "a"), refused("get")},
		{"none", args("get", "a"), refused("get")},
		{"none", args("ping"), refused("ping")},
		// What is allowed before login is allowed to everybody.
		{"none", args("auth", "a", "b"), nil},
		{"none", args("hello"), nil},
		{"none", args("reset"), nil},
		{"none", args("quit"), nil},
	} {
		cmd, err := command.Resolve(c.args)
		if err != nil {
			t.Fatal(err)
		}
		if got := roles[c.role].Check(cmd, c.args); got != c.want {
			t.Errorf("%s, %q: %v, want %v", c.role, c.args, got, c.want)
		}
	}
	if !roles["admin"].Unrestricted() || roles["deployer"].Unrestricted() {
		t.Error("only an admin may do everything")
	}
}
