package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// TestCaches configures caches of different policies and finds each behind its
// database number, also after a restart; what cannot be altered is refused then.
func TestCaches(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "tiergrid.yaml", `
templates:
  small: {max-entry-size: 1kB}
caches:
  ledger: {database: 1, durability: always}
  sessions: {database: 2, ttl: 30m}
  tokens: {database: 3, template: small}
`)
	s := startServer(t, "--config", file)
	ctx := t.Context()
	database := func(n int) *redis.Client {
		return newClient(t, &redis.Options{Addr: s.resp, DB: n})
	}
	sessions, tokens := database(2), database(3)
	for _, c := range []*redis.Client{database(0), database(1), sessions, tokens, database(15)} {
		if err := c.Set(ctx, "k", "v", 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if ttl := sessions.TTL(ctx, "k").Val(); ttl < 29*time.Minute || ttl > 30*time.Minute {
		t.Errorf("an entry of the cache with a TTL has %v", ttl)
	}
	if ttl := tokens.TTL(ctx, "k").Val(); ttl != -1 {
		t.Errorf("an entry of a cache without has %v", ttl)
	}
	if err := tokens.Set(ctx, "k", strings.Repeat("x", 1001), 0).Err(); !isReply(err) {
		t.Errorf("an entry over the limit: %v", err)
	}
	if err := tokens.Set(ctx, "k", strings.Repeat("x", 1000), 0).Err(); err != nil {
		t.Errorf("an entry at the limit: %v", err)
	}
	info := database(0).Info(ctx, "keyspace", "tiers").Val()
	for _, line := range []string{"db0:keys=1,expires=0", "db2:keys=1,expires=1", "cache_ledger:database=1,entries=1,", "cache_tokens:database=3,"} {
		if !strings.Contains(info, line) {
			t.Errorf("INFO does not say %q:\n%s", line, info)
		}
	}
	s.stop()
	s.start()
	if got := sessions.Get(ctx, "k").Val(); got != "v" {
		t.Errorf("after a restart there is %q", got)
	}
	s.stop()
	s.args = []string{"--config", writeFile(t, "other.yaml", "caches: {sessions: {database: 2, mode: replicated}}\n")}
	s.refuse(t, "sessions", "mode", "distributed", "replicated")
}

// TestEnvironment configures by environment variables; flags go before them.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	out := mustRunTool(t, "", "env", "TIERGRID_MEMORY_MAX_SIZE=1GB", "TIERGRID_RESP_BIND=127.0.0.1:7001", "TIERGRID_DATA="+s.data,
		"TIERGRID_CONFIG="+writeFile(t, "tiergrid.yaml", "memory: {max-size: 2GB}\nlog: {level: warn}\n"),
		binary, "config", "show", "--resp-bind", "127.0.0.1:7002")
	for _, line := range []string{"max-size: 1GB", "bind: 127.0.0.1:7002", "data: " + s.data, "level: warn"} {
		if !strings.Contains(out, line) {
			t.Errorf("no %q in\n%s", line, out)
		}
	}
}

// TestClientLimits reaches the limits of clients that a configuration sets.
func TestClientLimits(t *testing.T) {
	t.Parallel()
	s := startConfigured(t, "resp: {max-clients: 5, idle-timeout: 1s}\n")
	conns := make([]*wire, 5)
	for i := range conns {
		conns[i] = dial(t, s.resp)
		if got := conns[i].ask("PING"); got != "+PONG" {
			t.Fatal(got)
		}
	}
	if got := dial(t, s.resp).line(); got != "-ERR max number of clients reached" {
		t.Errorf("the sixth client is answered %q", got)
	}
	conns[0].Close()
	eventually(t, "room for another client", func() bool { return dial(t, s.resp).ask("PING") == "+PONG" })
	if rest, err := conns[4].in.ReadString('\n'); err == nil {
		t.Errorf("a client that said nothing for long reads %q", rest)
	}
	if got := dial(t, s.resp).ask("PING"); got != "+PONG" {
		t.Errorf("after all were closed: %q", got)
	}
}

// TestSlowLogAndMonitor follows what clients do with redis's own means.
func TestSlowLogAndMonitor(t *testing.T) {
	t.Parallel()
	s := startConfigured(t, "resp: {slowlog-slower-than: 1ns}\n")
	c := s.client()
	monitor := dial(t, s.resp)
	if got := monitor.ask("MONITOR"); got != "+OK" {
		t.Fatal(got)
	}
	if err := c.Set(t.Context(), "watched", "value", 0).Err(); err != nil {
		t.Fatal(err)
	}
	for !strings.Contains(monitor.line(), `"set" "watched" "value"`) {
	}
	log, err := c.SlowLogGet(t.Context(), 100).Result()
	if err != nil || !hasSlow(log, "set watched value") {
		t.Errorf("the slow log holds %v, %v", log, err)
	}
}

func hasSlow(log []redis.SlowLog, command string) bool {
	for _, entry := range log {
		if strings.Join(entry.Args, " ") == command {
			return true
		}
	}
	return false
}
