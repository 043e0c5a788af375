package e2e

import (
	"fmt"
	"net"
	"strings"
	"testing"
)

// TestRedisBenchmark runs redis-benchmark's tests of strings in pipelines.
func TestRedisBenchmark(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	host, port, _ := net.SplitHostPort(s.resp)
	r := runTool(t, "", "redis-benchmark", "-h", host, "-p", port, "-t", "ping,set,get,incr,mset",
		"-P", "16", "-n", "50000", "-r", "10000", "-c", "20", "--csv")
	if lines := strings.Count(r.stdout, "\n"); r.code != 0 || lines != 7 || strings.Contains(r.stdout+r.stderr, "rror") {
		t.Errorf("exit code %d, %d lines:\n%s%s", r.code, lines, r.stdout, r.stderr)
	}
	info := s.client().Info(t.Context(), "errorstats", "commandstats").Val()
	for _, want := range []string{"cmdstat_set:calls=50000,", "cmdstat_get:calls=50000,", "cmdstat_incr:calls=50000,", "cmdstat_mset:calls=50000,"} {
		if !strings.Contains(info, want) {
			t.Errorf("INFO does not say %q:\n%s", want, info)
		}
	}
	if strings.Contains(info, "errorstat_ERR") && !strings.Contains(info, "errorstat_ERR:count=1\r\n") {
		t.Errorf("there were errors:\n%s", info)
	}
}

// TestRedisCLI loads many commands at once and goes through what is there.
func TestRedisCLI(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	host, port, _ := net.SplitHostPort(s.resp)
	cli := func(input string, args ...string) string {
		t.Helper()
		return mustRunTool(t, input, "redis-cli", append([]string{"-h", host, "-p", port}, args...)...)
	}
	const count = 100_000
	var mass strings.Builder
	for i := range count {
		fmt.Fprintf(&mass, "SET bulk:%d value:%d\r\n", i, i)
	}
	if out := cli(mass.String(), "--pipe"); !strings.Contains(out, fmt.Sprintf("errors: 0, replies: %d", count)) {
		t.Errorf("redis-cli --pipe says\n%s", out)
	}
	if out := cli("", "dbsize"); out != fmt.Sprintln(count) {
		t.Errorf("DBSIZE is %s", out)
	}
	for pattern, want := range map[string]int{"*": count, "bulk:9999*": 11, "bulk:1????": 10_000, "none:*": 0} {
		keys := map[string]bool{}
		for key := range strings.Lines(cli("", "--scan", "--pattern", pattern)) {
			keys[key] = true
		}
		if len(keys) != want {
			t.Errorf("redis-cli --scan finds %d keys like %s, want %d", len(keys), pattern, want)
		}
	}
	if out := cli("", "get", "bulk:77777"); out != "value:77777\n" {
		t.Errorf("GET is %q", out)
	}
	if out := cli("multi\nset a 1\nincr a\nexec\nget a\nnosuch\n"); out != "OK\nQUEUED\nQUEUED\nOK\n2\n2\nERR unknown command 'nosuch', with args beginning with: \n\n" {
		t.Errorf("a conversation is %q", out)
	}
	if out := cli("", "-3", "--json", "lcs", "bulk:1", "bulk:12", "idx"); !strings.HasPrefix(out, `{"matches":[`) {
		t.Errorf("in RESP3 and JSON: %q", out)
	}
}
