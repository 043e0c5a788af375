package e2e

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tiergrid/tiergrid/admin/api"
)

// answer is what the HTTP port answered.
type answer struct {
	code   int
	header http.Header
	body   string
}

// get asks the HTTP port; without a user it does not log in.
func (s *server) get(t *testing.T, path, user, password string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.http+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if user != "" {
		req.SetBasicAuth(user, password)
	}
	client := http.Client{Timeout: time.Minute}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, string(body)}
}

// want checks the code of an answer and words in its body.
func (a answer) want(t *testing.T, code int, words ...string) {
	t.Helper()
	if a.code != code {
		t.Errorf("HTTP %d, want %d: %s", a.code, code, a.body)
	}
	for _, word := range words {
		if !strings.Contains(a.body, word) {
			t.Errorf("the answer does not say %q: %s", word, a.body)
		}
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	s := guardedServer(t)
	s.get(t, "/health/live", "", "").want(t, http.StatusOK, api.StatusLive)
	s.get(t, "/health/ready", "", "").want(t, http.StatusOK, api.StatusReady)
	s.get(t, "/health/happy", "", "").want(t, http.StatusNotFound, "/health/happy")
}

// TestSecurityACL asks who one is, in the words of the own API and in those of
// Data Grid's.
func TestSecurityACL(t *testing.T) {
	t.Parallel()
	s := guardedServer(t)
	for _, path := range []string{"/api/v1/security/acl", "/rest/v2/security/user/acl"} {
		for _, password := range []string{"", "wrong"} {
			user := map[bool]string{true: "developer"}[password != ""]
			got := s.get(t, path, user, password)
			got.want(t, http.StatusUnauthorized)
			if ask := got.header.Get("WWW-Authenticate"); !strings.HasPrefix(ask, "Basic ") {
				t.Errorf("%s asks for the login %q", path, ask)
			}
		}
	}
	if acl := aclOf(t, s, "developer"); acl.User != "developer" || !slices.Equal(acl.Roles, []string{"admin"}) ||
		!slices.Contains(acl.Permissions, "ADMIN") || !strings.Contains(acl.Rules, "+@all") {
		t.Errorf("developer: %+v", acl)
	}
	if acl := aclOf(t, s, "gauge"); acl.User != "gauge" || !slices.Equal(acl.Permissions, []string{"MONITOR"}) {
		t.Errorf("gauge: %+v", acl)
	}
	var grid struct {
		Subject []struct{ Name, Type string }
		Global  []string
		Caches  map[string][]string
	}
	res := s.get(t, "/rest/v2/security/user/acl", "app", "app")
	res.want(t, http.StatusOK)
	if err := json.Unmarshal([]byte(res.body), &grid); err != nil {
		t.Fatal(err)
	}
	if len(grid.Subject) != 2 || grid.Subject[0].Name != "app" || grid.Subject[0].Type != "NamePrincipal" ||
		grid.Subject[1].Name != "application" || grid.Subject[1].Type != "RolePrincipal" {
		t.Errorf("the subject is %+v", grid.Subject)
	}
	if !slices.Contains(grid.Global, "ALL_READ") || slices.Contains(grid.Global, "ALL") || len(grid.Caches) != 16 {
		t.Errorf("the permissions are %+v", grid)
	}
}

// sample is a line of a metric in Prometheus's text form.
var sample = regexp.MustCompile(`^([a-z_][a-z0-9_]*)(\{([a-z_]+="[^"]*",?)+\})? (NaN|[+-]Inf|[-+0-9.e]+)$`)

// TestMetrics checks that what is scraped is well-formed, described and moves.
func TestMetrics(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	if got := dial(t, s.resp).ask("SET k v EX 100"); got != "+OK" {
		t.Fatal(got)
	}
	dial(t, s.resp).ask("GET k")
	dial(t, s.resp).ask("GET missing")
	values := scrape(t, s)
	for name, want := range map[string]string{
		"tiergrid_memory_max_bytes":                                      "6.7108864e+07",
		"tiergrid_ssd_full":                                              "0",
		"tiergrid_keyspace_hits_total":                                   "1",
		"tiergrid_keyspace_misses_total":                                 "1",
		`tiergrid_cache_entries{cache="0"}`:                              "1",
		`tiergrid_cache_deadlines{cache="0"}`:                            "1",
		`tiergrid_cache_entries{cache="1"}`:                              "0",
		"tiergrid_http_undecided_connections":                            "0",
		"tiergrid_http_panics_total":                                     "0",
		"tiergrid_http_refused_connections_total":                        "0",
		"tiergrid_http_resp_connections_total":                           "0",
		"tiergrid_memory_evicted_total":                                  "0",
		"tiergrid_ssd_write_stalls_total":                                "0",
		`tiergrid_http_requests_total{code="200",route="/health/ready"}`: "",
		"tiergrid_ssd_used_bytes":                                        "",
		"tiergrid_ssd_free_bytes":                                        "",
		"tiergrid_expired_total":                                         "0",
		"go_goroutines":                                                  "",
		"process_resident_memory_bytes":                                  "",
	} {
		got, found := values[name]
		if !found || want != "" && got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
}

// scrape reads /metrics and checks every line.
func scrape(t *testing.T, s *server) map[string]string {
	t.Helper()
	res := s.get(t, "/metrics", "", "")
	res.want(t, http.StatusOK)
	if kind := res.header.Get("Content-Type"); !strings.HasPrefix(kind, "text/plain; version=0.0.4") {
		t.Errorf("the type is %q", kind)
	}
	values, described := map[string]string{}, map[string]bool{}
	for line := range strings.Lines(res.body) {
		line = strings.TrimSuffix(line, "\n")
		if rest, ok := strings.CutPrefix(line, "# HELP "); ok {
			name, text, _ := strings.Cut(rest, " ")
			described[name] = text != ""
			continue
		}
		if strings.HasPrefix(line, "# TYPE ") {
			continue
		}
		m := sample.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("not a sample: %q", line)
			continue
		}
		base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(m[1], "_count"), "_sum"), "_bucket")
		if !described[m[1]] && !described[base] {
			t.Errorf("%s is not described", m[1])
		}
		values[m[1]+m[2]] = m[4]
	}
	return values
}

// TestRESPOnHTTPPort runs the usual load generator against the HTTP port, as it
// stands in everybody's notes. A connection that begins with "*" is a RESP session.
func TestRESPOnHTTPPort(t *testing.T) {
	t.Parallel()
	s := guardedServer(t)
	_, port, _ := net.SplitHostPort(s.http)
	out := mustRunTool(t, "", "redis-benchmark", "-t", "set,get", "-d", "120000", "-r", "2000", "-n", "4000",
		"-h", "127.0.0.1", "-p", port, "--user", "developer", "-a", "developer")
	if strings.Count(out, "4000 requests completed") != 2 || strings.Contains(out, "ERR") {
		t.Errorf("redis-benchmark says\n%s", out)
	}
	if got, err := s.clientAs("developer", "developer").DBSize(t.Context()).Result(); err != nil || got < 1500 || got > 2000 {
		t.Errorf("DBSIZE = %d, %v, after 4000 SETs of 2000 keys", got, err)
	}
	conn := dial(t, s.http)
	conn.send("*1\r\n")
	conn.send("$4\r\nPING\r\n")
	if got := conn.line(); got != "-NOAUTH Authentication required." {
		t.Errorf("in two pieces and without login: %q", got)
	}
	conn = dial(t, s.http)
	conn.send("GET /health/live HTTP/1.0\r\n\r\n")
	if got := conn.line(); got != "HTTP/1.0 200 OK" {
		t.Errorf("HTTP is answered %q", got)
	}
}
