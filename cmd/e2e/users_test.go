package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// on returns the flags that name a server to the user commands, through its admin
// socket or through its HTTP port.
func (s *server) on() []string { return []string{"--data", s.data} }

func (s *server) over(user, password string) []string {
	return []string{"--url", "http://" + s.http, "--user", user, "--password", password}
}

func user(args []string, more ...string) []string {
	return slices.Concat([]string{"user"}, args, more)
}

// usersOf lists the users with their groups, "name=group,group".
func (s *server) usersOf(t *testing.T, whom []string) []string {
	t.Helper()
	var list []struct {
		Name   string
		Groups []string
	}
	if err := json.Unmarshal([]byte(mustRun(t, user([]string{"ls", "--json"}, whom...)...)), &list); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, u := range list {
		names = append(names, u.Name+"="+strings.Join(u.Groups, ","))
	}
	return names
}

// login logs in on a new connection and returns it with the answer.
func (s *server) login(t *testing.T, words string) (*wire, string) {
	t.Helper()
	conn := dial(t, s.resp)
	return conn, conn.ask("AUTH " + words)
}

const wrongPassword = "-WRONGPASS invalid username-password pair or user is disabled."

// TestUsersOffline prepares users before the first start, and changes them while
// the server stands.
func TestUsersOffline(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	out := mustRun(t, user([]string{"create", "developer", "-p", "developer", "-g", "admin"}, s.on()...)...)
	if !strings.Contains(out, "user developer: created, groups admin") || !strings.Contains(out, "no server runs on") {
		t.Errorf("it says %q", out)
	}
	s.start()
	if _, got := s.login(t, "developer developer"); got != "+OK" {
		t.Errorf("login: %q", got)
	}
	if got := dial(t, s.resp).ask("PING"); got != "-NOAUTH Authentication required." {
		t.Errorf("PING without login: %q", got)
	}
	s.stop()
	mustRun(t, user([]string{"passwd", "developer", "-p", "other"}, s.on()...)...)
	s.start()
	if _, got := s.login(t, "developer developer"); got != wrongPassword {
		t.Errorf("login with the old password: %q", got)
	}
	if _, got := s.login(t, "developer other"); got != "+OK" {
		t.Errorf("login with the new password: %q", got)
	}
	s.kill()
	s.start()
	if got := s.usersOf(t, s.on()); !slices.Equal(got, []string{"developer=admin"}) {
		t.Errorf("after a kill the users are %q", got)
	}
}

// TestUsersOnline changes users of a running server through its socket and its
// port.
func TestUsersOnline(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	for _, whom := range [][]string{s.on(), s.over("root", "first")} {
		name := "root"
		if whom[0] == "--url" {
			name = "second"
		}
		mustRun(t, user([]string{"create", name, "-p", "first", "-g", "admin"}, whom...)...)
		mustRun(t, user([]string{"create", name + "-app", "-p", "app", "-g", "application,monitor"}, whom...)...)
		if _, got := s.login(t, name+"-app app"); got != "+OK" {
			t.Errorf("login of a new user: %q", got)
		}
		mustRun(t, user([]string{"passwd", name + "-app", "-p", "other"}, whom...)...)
		mustRun(t, user([]string{"groups", name + "-app", "-g", "observer"}, whom...)...)
		if got := s.usersOf(t, whom); !slices.Contains(got, name+"-app=observer") {
			t.Errorf("the users are %q", got)
		}
		mustRun(t, user([]string{"remove", name + "-app"}, whom...)...)
		if _, got := s.login(t, name+"-app other"); got != wrongPassword {
			t.Errorf("login of a removed user: %q", got)
		}
	}
	if got := s.usersOf(t, s.on()); !slices.Equal(got, []string{"root=admin", "second=admin"}) {
		t.Errorf("the users are %q", got)
	}
	info, err := os.Stat(filepath.Join(s.data, "admin.sock"))
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the admin socket is not the owner's alone: %v, %v", info, err)
	}
}

// TestUserCommandsRefuse checks what is said and which exit code scripts see.
func TestUserCommandsRefuse(t *testing.T) {
	t.Parallel()
	s := guardedServer(t)
	nobody := []string{"--url", "http://" + freePort(t)}
	for _, c := range []struct {
		args []string
		code int
		word string
	}{
		{user([]string{"create", "developer", "-p", "x", "-g", "admin"}, s.on()...), 3, "developer"},
		{user([]string{"remove", "nobody"}, s.on()...), 3, "nobody"},
		{user([]string{"passwd", "nobody", "-p", "x"}, s.over("developer", "developer")...), 3, "nobody"},
		{user([]string{"create", "x", "-p", "x", "-g", "kings"}, s.on()...), 2, "application, observer, monitor"},
		{user([]string{"create", "a b", "-p", "x"}, s.on()...), 2, "a b"},
		{user([]string{"create"}, s.on()...), 2, "NAME"},
		{user([]string{"ls"}, s.over("developer", "wrong")...), 5, "developer"},
		{user([]string{"ls"}, s.over("app", "app")...), 5, "app"},
		{user([]string{"ls"}, nobody...), 4, nobody[1]},
		{user([]string{"rm", "x"}), 2, "rm"},
	} {
		t.Run(strings.Join(c.args[:2], " "), func(t *testing.T) {
			r := run(t, c.args...)
			if r.code != c.code || !strings.Contains(r.stderr, c.word) || strings.Count(r.stderr, "\n") != 1 {
				t.Errorf("exit code %d, want %d and %q: %s", r.code, c.code, c.word, r.stderr)
			}
		})
	}
}

// TestRoles asks each role for commands that it may run and others, in the forms
// in which clients log in.
func TestRoles(t *testing.T) {
	t.Parallel()
	s := guardedServer(t)
	noPermission := func(user, command string) string {
		return "-NOPERM User " + user + " has no permissions to run the '" + command + "' command"
	}
	for _, c := range []struct {
		user, ask, want string
	}{
		{"developer", "SET k v", "+OK"},
		{"developer", "CONFIG SET timeout 0", "+OK"},
		{"developer", "FLUSHALL", "+OK"},
		{"developer", "ACL WHOAMI", "$9"},

		{"app", "SET k v", "+OK"},
		{"app", "INCR n", ":1"},
		{"app", "KEYS nothing", "*0"},
		{"app", "CONFIG SET timeout 0", noPermission("app", "config|set")},
		{"app", "FLUSHALL", noPermission("app", "flushall")},
		{"app", "ACL LIST", noPermission("app", "acl|list")},

		{"eyes", "GET missing", "$-1"},
		{"eyes", "MGET k missing", "*2"},
		{"eyes", "SET k v", noPermission("eyes", "set")},
		{"eyes", "GETDEL k", noPermission("eyes", "getdel")},
		{"eyes", "DEL k", noPermission("eyes", "del")},
		{"eyes", "EXPIRE k 10", noPermission("eyes", "expire")},
		{"eyes", "FLUSHDB", noPermission("eyes", "flushdb")},
		{"eyes", "DBSIZE", ":"},
		{"eyes", "INFO", "$"},

		{"gauge", "INFO", "$"},
		{"gauge", "DBSIZE", ":"},
		{"gauge", "PING", "+PONG"},
		{"gauge", "GET k", noPermission("gauge", "get")},
		{"gauge", "SET k v", noPermission("gauge", "set")},
		{"gauge", "EXISTS k", noPermission("gauge", "exists")},
		{"gauge", "SCAN 0", noPermission("gauge", "scan")},
		{"gauge", "MONITOR", noPermission("gauge", "monitor")},
	} {
		t.Run(c.user+" "+c.ask, func(t *testing.T) {
			conn, got := s.login(t, c.user+" "+c.user)
			if got != "+OK" {
				t.Fatalf("login: %q", got)
			}
			if got := conn.ask(c.ask); got != c.want && (len(c.want) > 1 || !strings.HasPrefix(got, c.want)) {
				t.Errorf("answered %q, want %q", got, c.want)
			}
		})
	}
}

// TestLogins tries the forms of a login.
func TestLogins(t *testing.T) {
	t.Parallel()
	s := guardedServer(t)
	s.createUser("default", "secret", "observer")
	for _, c := range []struct{ ask, want string }{
		{"AUTH developer developer", "+OK"},
		{"AUTH secret", "+OK"}, // one argument is the password of the user default
		{"AUTH wrong", wrongPassword},
		{"AUTH developer wrong", wrongPassword},
		{"AUTH nobody developer", wrongPassword},
		{"AUTH developer DEVELOPER", wrongPassword},
		{"AUTH Developer developer", wrongPassword},
		{"AUTH a b c", "-ERR syntax error"},
		{"HELLO 2 AUTH developer developer", "*14"},
		{"HELLO 3 AUTH developer developer", "%7"},
		{"HELLO 3 AUTH developer wrong", wrongPassword},
		{"HELLO 3", "-NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time"},
	} {
		if got := dial(t, s.resp).ask(c.ask); got != c.want {
			t.Errorf("%s: answered %q, want %q", c.ask, got, c.want)
		}
	}
}

// TestRevokedAtOnce changes users under clients that are connected.
func TestRevokedAtOnce(t *testing.T) {
	t.Parallel()
	s := guardedServer(t)
	app, _ := s.login(t, "app app")
	idle, _ := s.login(t, "app app")
	eyes, _ := s.login(t, "eyes eyes")
	if got := app.ask("SET k v"); got != "+OK" {
		t.Fatal(got)
	}
	mustRun(t, user([]string{"groups", "app", "-g", "observer"}, s.on()...)...)
	if got := app.ask("SET k w"); !strings.HasPrefix(got, "-NOPERM ") {
		t.Errorf("a user who lost a role still writes: %q", got)
	}
	mustRun(t, user([]string{"remove", "app"}, s.on()...)...)
	for name, conn := range map[string]*wire{"active": app, "idle": idle} {
		conn.send("GET k\r\n")
		if line, err := conn.in.ReadString('\n'); err == nil {
			t.Errorf("a removed user, %s, is answered %q", name, line)
		}
	}
	if got := eyes.ask("STRLEN k"); got != ":1" {
		t.Errorf("another user is answered %q", got)
	}
}

// TestFirstUserClosesDoor shows that with the first user nobody stays in who has
// not logged in.
func TestFirstUserClosesDoor(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	conn := dial(t, s.resp)
	if got := conn.ask("SET k v"); got != "+OK" {
		t.Fatal(got)
	}
	s.createUser("developer", "developer", "admin")
	conn.send("STRLEN k\r\n")
	if line, err := conn.in.ReadString('\n'); err == nil && !strings.HasPrefix(line, "-NOAUTH") {
		t.Errorf("who was in without login is answered %q", line)
	}
	if got := dial(t, s.resp).ask("STRLEN k"); got != "-NOAUTH Authentication required." {
		t.Errorf("a newcomer is answered %q", got)
	}
}
