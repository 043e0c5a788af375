package session

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tiergrid/tiergrid/membership/users"
	"github.com/tiergrid/tiergrid/proxy/auth"
	"github.com/tiergrid/tiergrid/proxy/conversation"
)

// people are the users that conversations log in as, with their roles. Each has
// its name as password.
var people = map[string]string{"developer": "admin", "app": "application", "eyes": "observer", "gauge": "monitor"}

// scripts are the conversations that need no data commands beyond those of the
// fake grid, with the users above or without.
func scripts(t *testing.T, withUsers bool) []*conversation.Script {
	t.Helper()
	all, err := conversation.LoadAll(filepath.Join("..", "testdata", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var list []*conversation.Script
	for _, s := range all {
		if s.NeedsOnly("users") && withUsers == !s.NeedsOnly() {
			list = append(list, s)
		}
	}
	if len(list) == 0 {
		t.Fatal("there are no conversations")
	}
	return list
}

func playAll(t *testing.T, addr string, peer conversation.Peer, withUsers bool) {
	for _, s := range scripts(t, withUsers) {
		t.Run(s.Name, func(t *testing.T) {
			if err := conversation.Run(addr, s, peer); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestConversations(t *testing.T) {
	playAll(t, serve(t, nil).addr, conversation.Tiergrid, false)
}

func TestConversationsWithUsers(t *testing.T) {
	a := withPeople(t)
	playAll(t, serve(t, func(c *Config) { c.Auth = a }).addr, conversation.Tiergrid, true)
}

// The same conversations with redis-server: what we say of Redis is true.
func TestConversationsOfRedis(t *testing.T) {
	playAll(t, startRedis(t), conversation.Redis, false)
}

func TestConversationsOfRedisWithUsers(t *testing.T) {
	addr := startRedis(t)
	conn := dial(t, addr)
	for name, role := range people {
		rules := users.Compile([]string{role})
		expect(t, conn, fmt.Sprintf("ACL SETUSER %s on >%s %s\r\n", name, name, rules), "+OK\r\n")
	}
	expect(t, conn, "ACL SETUSER default off resetpass\r\n", "+OK\r\n")
	playAll(t, addr, conversation.Redis, true)
}

// withPeople is an Authenticator that knows people.
func withPeople(t testing.TB) *auth.Authenticator {
	t.Helper()
	var list []users.User
	for name, role := range people {
		hash, err := users.Hash([]byte(name), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, users.User{Name: name, Hash: hash, Roles: []string{role}})
	}
	verifier, err := users.NewVerifier(users.VerifierConfig{})
	if err != nil {
		t.Fatal(err)
	}
	directory := users.NewDirectory(1, list)
	return auth.New(auth.Config{Users: func() *users.Directory { return directory }, Verifier: verifier})
}

// startRedis starts a redis-server that ends with the test.
func startRedis(t *testing.T) (addr string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr = ln.Addr().String()
	ln.Close()
	_, port, _ := net.SplitHostPort(addr)
	cmd := exec.Command("redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Fatalf("redis-server is needed to compare with: %v", err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if pingable(addr) {
			return addr
		}
	}
	t.Fatal("redis-server does not answer")
	return ""
}

func pingable(addr string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return false
	}
	defer conn.Close()
	io.WriteString(conn, "PING\r\n")
	reply := make([]byte, 7)
	_, err = io.ReadFull(conn, reply)
	return err == nil && strings.HasPrefix(string(reply), "+PONG")
}
