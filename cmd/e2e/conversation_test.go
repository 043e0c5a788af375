package e2e

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/tiergrid/tiergrid/admin/api"
	"github.com/tiergrid/tiergrid/proxy/conversation"
)

// roles are the users that conversations with logins want, by their groups. Their
// names are their passwords.
var roles = map[string]string{
	"developer": "admin", "app": "application", "eyes": "observer", "gauge": "monitor",
}

// TestConversations plays the recorded conversations with the server and with a
// real redis-server: both must answer as recorded.
func TestConversations(t *testing.T) {
	t.Parallel()
	var open, guarded []*conversation.Script
	all, err := conversation.LoadAll("../../proxy/testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if s.NeedsOnly("data") {
			open = append(open, s)
		} else {
			guarded = append(guarded, s)
		}
	}
	t.Run("tiergrid", func(t *testing.T) {
		t.Parallel()
		s := startServer(t)
		playAll(t, s.resp, open, conversation.Tiergrid)
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		playAll(t, redisServer(t), open, conversation.Redis)
	})
	t.Run("tiergrid with users", func(t *testing.T) {
		t.Parallel()
		playAll(t, guardedServer(t).resp, guarded, conversation.Tiergrid)
	})
	t.Run("redis with users", func(t *testing.T) {
		t.Parallel()
		addr := redisServer(t)
		copyUsers(t, guardedServer(t), addr)
		playAll(t, addr, guarded, conversation.Redis)
	})
}

func playAll(t *testing.T, addr string, scripts []*conversation.Script, peer conversation.Peer) {
	t.Helper()
	if len(scripts) == 0 {
		t.Fatal("there are no conversations")
	}
	for _, s := range scripts {
		t.Run(strings.TrimSuffix(s.Name, filepath.Ext(s.Name)), func(t *testing.T) {
			if err := conversation.Run(addr, s, peer); err != nil {
				t.Error(err)
			}
		})
	}
}

// guardedServer starts a server with a user for each role.
func guardedServer(t *testing.T) *server {
	t.Helper()
	s := newServer(t)
	for name, group := range roles {
		s.createUser(name, name, group)
	}
	s.start()
	return s
}

// copyUsers gives a redis-server the users of a server, with the rules that the
// server says they have, and closes it to all others.
func copyUsers(t *testing.T, s *server, redisAddr string) {
	t.Helper()
	ctx := t.Context()
	peer := newClient(t, &redis.Options{Addr: redisAddr})
	for name := range roles {
		args := []any{"ACL", "SETUSER", name, "on", ">" + name}
		for _, rule := range strings.Fields(aclOf(t, s, name).Rules) {
			args = append(args, rule)
		}
		if err := peer.Do(ctx, args...).Err(); err != nil {
			t.Fatalf("%v: %v", args, err)
		}
	}
	if err := peer.Do(ctx, "ACL", "SETUSER", "default", "off", "resetpass").Err(); err != nil {
		t.Fatal(err)
	}
}

// aclOf asks the HTTP port what a user may do, as that user.
func aclOf(t *testing.T, s *server, name string) (acl api.ACL) {
	t.Helper()
	res := s.get(t, "/api/v1/security/acl", name, name)
	if res.code != http.StatusOK {
		t.Fatalf("HTTP %d: %s", res.code, res.body)
	}
	if err := json.Unmarshal([]byte(res.body), &acl); err != nil {
		t.Fatal(err)
	}
	return acl
}
