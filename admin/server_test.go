package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/tiergrid/tiergrid/admin/api"
	"github.com/tiergrid/tiergrid/admin/internal/memusers"
	"github.com/tiergrid/tiergrid/membership/users"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lockedBuffer is a log that several goroutines write.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// everyRole is a store with one user for each role, one without any and one with
// two.
func everyRole() *memusers.Store {
	return memusers.New("admin", "deployer", "application", "observer", "monitor", "nobody:", "both:monitor,observer")
}

// fixture is a server that does not listen, and what it was made of.
type fixture struct {
	*Server
	store *memusers.Store
	log   *lockedBuffer
}

func newFixture(t *testing.T, store *memusers.Store, change func(*Config)) fixture {
	t.Helper()
	f := fixture{store: store, log: &lockedBuffer{}}
	registry := NewRegistry("1.2.3")
	cfg := Config{
		Users:        store,
		Authenticate: store.Authenticate,
		Metrics:      registry,
		Caches:       func() []string { return []string{"0", "sessions"} },
		Version:      "1.2.3",
		Logger:       slog.New(slog.NewTextHandler(f.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	if change != nil {
		change(&cfg)
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	registry.MustRegister(s)
	f.Server = s
	return f
}

// call is one request to a fixture. The zero value of a field means its usual
// one.
type call struct {
	method, path string
	as           string // the user, whose password is its name
	body         string
	media        string // application/json
	from         string // 203.0.113.9:4711
	host         string // dg.example:11222
	header       http.Header
}

func (f fixture) do(c call) *http.Response {
	r := httptest.NewRequest(or(c.method, "GET"), c.path, strings.NewReader(c.body))
	r.RemoteAddr = or(c.from, "203.0.113.9:4711")
	r.Host = or(c.host, "dg.example:11222")
	for k, v := range c.header {
		r.Header[k] = v
	}
	if c.body != "" {
		r.Header.Set("Content-Type", or(c.media, "application/json"))
	}
	if c.as != "" {
		r.SetBasicAuth(c.as, c.as)
	}
	w := httptest.NewRecorder()
	f.handler.ServeHTTP(w, r)
	return w.Result()
}

// text returns the body of an answer with the given status.
func text(t *testing.T, resp *http.Response, status int) string {
	t.Helper()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != status {
		t.Fatalf("status %d, want %d: %s", resp.StatusCode, status, b)
	}
	return strings.TrimSpace(string(b))
}

// problem returns the detail of a problem, after checking that it is one.
func problem(t *testing.T, resp *http.Response, status int, kind string) string {
	t.Helper()
	body := text(t, resp, status)
	var p api.Problem
	if err := json.Unmarshal([]byte(body), &p); err != nil {
		t.Fatal(err)
	}
	if got := resp.Header.Get("Content-Type"); got != api.ProblemType {
		t.Errorf("media type %q", got)
	}
	if p.Status != status || p.Type != "urn:tiergrid:problem:"+kind || p.Title == "" {
		t.Errorf("problem %s, want kind %s and status %d", body, kind, status)
	}
	return p.Detail
}

func TestNewWantsUsersAndAuthenticate(t *testing.T) {
	store := memusers.New()
	for _, cfg := range []Config{{}, {Users: store}, {Authenticate: store.Authenticate}} {
		if _, err := New(cfg); err == nil {
			t.Errorf("New(%+v) must fail", cfg)
		}
	}
	if _, err := New(Config{Users: store, Authenticate: store.Authenticate}); err != nil {
		t.Error(err)
	}
}

func TestHealthNeedsNoLogin(t *testing.T) {
	var live, ready error
	f := newFixture(t, everyRole(), func(c *Config) {
		c.Live = func() error { return live }
		c.Ready = func() error { return ready }
	})
	check := func(path string, status int, want string) {
		t.Helper()
		if got := text(t, f.do(call{path: path}), status); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	check("/health/live", 200, `{"status":"live"}`)
	check("/health/ready", 200, `{"status":"ready"}`)
	live, ready = errors.New("the log failed"), errors.New("draining")
	check("/health/live", 503, `{"status":"not live","reason":"the log failed"}`)
	check("/health/ready", 503, `{"status":"not ready","reason":"draining"}`)
}

// TestEveryRouteAsksForWhatItNeeds tries each route without a login, with a wrong
// one and as each role.
func TestEveryRouteAsksForWhatItNeeds(t *testing.T) {
	allowed := map[need]string{
		needNothing: "nobody admin deployer application observer monitor both",
		needLogin:   "nobody admin deployer application observer monitor both",
		needMonitor: "admin deployer application observer monitor both",
		needAdmin:   "admin",
	}
	for _, rt := range routeTable {
		t.Run(rt.method+" "+rt.path, func(t *testing.T) {
			f := newFixture(t, everyRole(), nil)
			c := call{method: rt.method, path: strings.ReplaceAll(rt.path, "{name}", "nemo")}
			if rt.need != needNothing {
				resp := f.do(c)
				problem(t, resp, 401, "login-required")
				if got := resp.Header.Get("WWW-Authenticate"); !strings.HasPrefix(got, "Basic realm=") {
					t.Errorf("WWW-Authenticate %q", got)
				}
				c.as = "stranger"
				problem(t, f.do(c), 401, "login-required")
			}
			for _, c.as = range []string{"nobody", "admin", "deployer", "application", "observer", "monitor", "both"} {
				resp := f.do(c)
				if may := strings.Contains(allowed[rt.need], c.as); may == (resp.StatusCode == 403) || resp.StatusCode == 401 {
					t.Errorf("as %s: status %d", c.as, resp.StatusCode)
				}
			}
		})
	}
}

func TestWrongPasswordAndUnknownUserLookAlike(t *testing.T) {
	f := newFixture(t, everyRole(), nil)
	answer := func(user, password string) string {
		r := httptest.NewRequest("GET", "/api/v1/security/acl", nil)
		r.SetBasicAuth(user, password)
		w := httptest.NewRecorder()
		f.handler.ServeHTTP(w, r)
		return problem(t, w.Result(), 401, "login-required")
	}
	if a, b := answer("admin", "wrong"), answer("stranger", "wrong"); a != b {
		t.Errorf("%q and %q tell a known user from an unknown one", a, b)
	}
}

func TestLoginFailures(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		kind   string
	}{
		{users.ErrBusy, 503, "busy"},
		{api.ErrUnavailable, 503, "unavailable"},
		{errors.New("secret of the store"), 500, "internal"},
	} {
		f := newFixture(t, everyRole(), nil)
		f.store.Fail(c.err)
		resp := f.do(call{path: "/api/v1/version", as: "admin"})
		if detail := problem(t, resp, c.status, c.kind); strings.Contains(detail, "secret") {
			t.Errorf("the answer tells what failed inside: %s", detail)
		}
		if retry := resp.Header.Get("Retry-After"); (retry != "") != (c.status == 503) {
			t.Errorf("Retry-After %q at status %d", retry, c.status)
		}
		if c.status == 500 && !strings.Contains(f.log.String(), "secret of the store") {
			t.Error("the log must tell what failed inside")
		}
	}
}

func TestWithoutUsersOnlyLocalCallersAreServed(t *testing.T) {
	for _, c := range []struct {
		from, host string
		ok         bool
	}{
		{"127.0.0.1:9", "127.0.0.1:11222", true},
		{"127.0.0.1:9", "localhost", true},
		{"127.0.0.1:9", "dg1:11222", true},
		{"127.0.0.1:9", "x.localhost:11222", true},
		{"[::1]:9", "[::1]:11222", true},
		{"[::ffff:127.0.0.1]:9", "[::1]", true},
		{"127.0.0.1:9", "evil.example:11222", false}, // a name pointed at loopback
		{"127.0.0.1:9", "10.0.0.1:11222", false},
		{"10.0.0.1:9", "127.0.0.1:11222", false},
		{"", "127.0.0.1:11222", false},
	} {
		f := newFixture(t, memusers.New(), nil)
		resp := f.do(call{path: "/api/v1/users", from: c.from, host: c.host})
		if !c.ok {
			if detail := problem(t, resp, 403, "local-only"); !strings.Contains(detail, "user create") {
				t.Errorf("%q names no cure", detail)
			}
			continue
		}
		if got := text(t, resp, 200); got != `{"users":[]}` {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func TestLocalCallersNeedALoginOnceThereIsAUser(t *testing.T) {
	f := newFixture(t, memusers.New(), nil)
	local := call{method: "POST", path: "/api/v1/users", from: "127.0.0.1:9", host: "localhost",
		body: `{"name":"developer","password":"developer","groups":["admin"]}`}
	text(t, f.do(local), 201)
	problem(t, f.do(local), 401, "login-required")
	local.as = "developer"
	problem(t, f.do(local), 409, "user-exists")
}

func TestOtherSitesCannotUseABrowser(t *testing.T) {
	f := newFixture(t, memusers.New(), nil)
	c := call{method: "DELETE", path: "/api/v1/users/x", from: "127.0.0.1:9", host: "localhost"}
	c.header = http.Header{"Sec-Fetch-Site": {"cross-site"}}
	problem(t, f.do(c), 403, "forbidden")
	c.header = http.Header{"Origin": {"http://evil.example"}}
	problem(t, f.do(c), 403, "forbidden")
	c.header = http.Header{"Origin": {"http://localhost"}}
	problem(t, f.do(c), 404, "no-such-user")
}

func TestUnknownPathsAndMethods(t *testing.T) {
	f := newFixture(t, everyRole(), nil)
	for _, path := range []string{"/", "/api/v1", "/api/v1/nothing", "/api/v1/users/a/b/c", "/health"} {
		problem(t, f.do(call{path: path, as: "admin"}), 404, "not-found")
	}
	resp := f.do(call{method: "PATCH", path: "/api/v1/users/x", as: "admin"})
	problem(t, resp, 405, "method-not-allowed")
	if got := resp.Header.Get("Allow"); got != "GET, DELETE" {
		t.Errorf("Allow %q", got)
	}
	resp = f.do(call{method: "HEAD", path: "/health/live"})
	text(t, resp, 200)
}

func TestPanicsAreSurvived(t *testing.T) {
	f := newFixture(t, everyRole(), func(c *Config) {
		c.Ready = func() error { panic("broken") }
	})
	problem(t, f.do(call{path: "/health/ready"}), 500, "internal")
	if !strings.Contains(f.log.String(), "broken") || !strings.Contains(f.log.String(), "server_test.go") {
		t.Error("the log must hold the panic and its stack")
	}
	text(t, f.do(call{path: "/health/live"}), 200)
}

func TestPanicAfterTheAnswerBeganEndsTheConnection(t *testing.T) {
	f := newFixture(t, everyRole(), nil)
	h := f.guard("x", func(w http.ResponseWriter, _ *http.Request) error {
		_, _ = w.Write([]byte("begin"))
		panic("broken")
	})
	defer func() {
		if p := recover(); p != http.ErrAbortHandler {
			t.Errorf("panic %v, want the one that ends the connection", p)
		}
	}()
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
}

func TestMetrics(t *testing.T) {
	f := newFixture(t, everyRole(), nil)
	problem(t, f.do(call{path: "/metrics"}), 401, "login-required")
	problem(t, f.do(call{path: "/metrics", as: "nobody"}), 403, "forbidden")
	f.do(call{path: "/nowhere/at/all"})
	for _, c := range []call{{from: "127.0.0.1:9", host: "localhost"}, {as: "monitor"}} {
		c.path = "/metrics"
		got := text(t, f.do(c), 200)
		for _, want := range []string{
			"go_goroutines ", "process_open_fds ", `tiergrid_build_info{go="go`, `version="1.2.3"} 1`,
			`tiergrid_http_requests_total{code="404",route="none"} 1`,
			"tiergrid_http_refused_logins_total 1", "tiergrid_http_panics_total 0",
			"tiergrid_http_connections 0", "tiergrid_http_connections_max 512",
			"tiergrid_http_undecided_connections 0", "tiergrid_http_undecided_connections_max 1024",
			"tiergrid_http_refused_connections_total 0", "tiergrid_http_silent_connections_total 0",
			"tiergrid_http_resp_connections_total 0",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("no %q in the metrics", want)
			}
		}
	}
}

func TestCallerThatHasGone(t *testing.T) {
	f := newFixture(t, everyRole(), nil)
	f.store.Fail(context.Canceled)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := httptest.NewRequest("GET", "/api/v1/version", nil).WithContext(ctx)
	r.SetBasicAuth("admin", "admin")
	w := httptest.NewRecorder()
	f.handler.ServeHTTP(w, r)
	problem(t, w.Result(), 503, "unavailable")
	if log := f.log.String(); strings.Contains(log, "level=ERROR") {
		t.Errorf("a caller that leaves is no error: %s", log)
	}
}
