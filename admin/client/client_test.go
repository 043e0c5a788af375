package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tiergrid/tiergrid/admin"
	"github.com/tiergrid/tiergrid/admin/api"
	"github.com/tiergrid/tiergrid/admin/client"
	"github.com/tiergrid/tiergrid/admin/internal/memusers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve runs a server on a loopback port and on the socket of a data directory.
func serve(t *testing.T, store *memusers.Store, ready error) (url, dataDir string) {
	t.Helper()
	s, err := admin.New(admin.Config{
		Users:        store,
		Authenticate: store.Authenticate,
		Ready:        func() error { return ready },
		Metrics:      admin.NewRegistry("1.2.3"),
		Version:      "1.2.3",
	})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dataDir = t.TempDir()
	sock, err := admin.ListenSocket(dataDir)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 2)
	go func() { ended <- s.Serve(ln) }()
	go func() { ended <- s.ServeSocket(sock) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := errors.Join(s.Shutdown(ctx), <-ended, <-ended); err != nil {
			t.Error(err)
		}
	})
	return "http://" + ln.Addr().String(), dataDir
}

func connect(t *testing.T, cfg client.Config) *client.Client {
	t.Helper()
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// TestEverything walks through all methods over both ways to a server.
func TestEverything(t *testing.T) {
	url, dir := serve(t, memusers.New("admin"), errors.New("warming up"))
	for name, cfg := range map[string]client.Config{
		"url":          {URL: url + "/", User: "admin", Password: "admin"},
		"login in url": {URL: strings.Replace(url, "//", "//admin:admin@", 1)},
		"no scheme":    {URL: strings.TrimPrefix(url, "http://"), User: "admin", Password: "admin"},
		"socket":       {Socket: client.SocketPath(dir)},
	} {
		t.Run(name, func(t *testing.T) { walk(t, connect(t, cfg), name == "socket") })
	}
}

func walk(t *testing.T, c *client.Client, owner bool) {
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(c.CreateUser(ctx, api.NewUser{Name: "ä/b?", Password: "p", Groups: []string{"observer"}}))
	if err := c.CreateUser(ctx, api.NewUser{Name: "ä/b?", Password: "p"}); !errors.Is(err, api.ErrUserExists) {
		t.Errorf("created twice: %v", err)
	}
	must(c.SetPassword(ctx, "ä/b?", "q"))
	must(c.SetGroups(ctx, "ä/b?", []string{"monitor", "observer"}))
	u, err := c.User(ctx, "ä/b?")
	must(err)
	if want := (api.User{Name: "ä/b?", Groups: []string{"monitor", "observer"}}); !reflect.DeepEqual(u, want) {
		t.Errorf("user %+v", u)
	}
	must(c.SetGroups(ctx, "ä/b?", nil))
	all, err := c.Users(ctx)
	must(err)
	if got := fmt.Sprint(all); got != "[{admin [admin]} {ä/b? []}]" {
		t.Errorf("users %s", got)
	}
	must(c.RemoveUser(ctx, "ä/b?"))
	if err := c.RemoveUser(ctx, "ä/b?"); !errors.Is(err, api.ErrNoUser) {
		t.Errorf("removed twice: %v", err)
	}
	acl, err := c.ACL(ctx)
	must(err)
	if want := map[bool]string{true: "default", false: "admin"}[owner]; acl.User != want {
		t.Errorf("logged in as %q, want %q", acl.User, want)
	}
	v, err := c.Version(ctx)
	must(err)
	if v.Version != "1.2.3" {
		t.Errorf("version %+v", v)
	}
	live, err := c.Live(ctx)
	must(err)
	ready, err := c.Ready(ctx)
	must(err)
	if live.Status != api.StatusLive || ready != (api.Health{Status: api.StatusNotReady, Reason: "warming up"}) {
		t.Errorf("health %+v %+v", live, ready)
	}
	metrics, err := c.Metrics(ctx)
	must(err)
	if !strings.Contains(string(metrics), "tiergrid_build_info") {
		t.Error("the metrics are not those of the server")
	}
}

func TestNamesThatNoPathCarries(t *testing.T) {
	c := connect(t, client.Config{URL: "http://127.0.0.1:1"})
	for _, name := range []string{"", ".", ".."} {
		_, err := c.User(t.Context(), name)
		for _, err := range []error{err, c.RemoveUser(t.Context(), name),
			c.SetPassword(t.Context(), name, "x"), c.SetGroups(t.Context(), name, nil)} {
			if !errors.Is(err, api.ErrNoUser) {
				t.Errorf("name %q: %v", name, err)
			}
		}
	}
}

func TestBadConfigs(t *testing.T) {
	for _, cfg := range []client.Config{
		{}, {URL: "http://x", Socket: "y"}, {URL: "ftp://x"}, {URL: "http://"}, {URL: "http://a b:secret@x"},
	} {
		if _, err := client.New(cfg); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("New(%+v): %v", cfg, err)
		}
	}
}

func TestNobodyAnswers(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	ln.Close()
	for _, cfg := range []client.Config{{URL: "http://" + addr}, {Socket: client.SocketPath(t.TempDir())}} {
		c := connect(t, cfg)
		_, err := c.Users(t.Context())
		if !errors.Is(err, client.ErrUnreachable) || !strings.Contains(err.Error(), c.Place()) {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
}

func TestSlowServerAndCancelledCall(t *testing.T) {
	release := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer s.Close()
	defer close(release)
	c := connect(t, client.Config{URL: s.URL, Timeout: 50 * time.Millisecond})
	if _, err := c.Version(t.Context()); !errors.Is(err, client.ErrUnreachable) {
		t.Errorf("slow server: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Version(ctx); !errors.Is(err, context.Canceled) || errors.Is(err, client.ErrUnreachable) {
		t.Errorf("cancelled call: %v", err)
	}
}

func TestAnswersThatAreNotTheAPI(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"html":  func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>") },
		"error": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusBadGateway) },
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://elsewhere.invalid/", http.StatusTemporaryRedirect)
		},
		"broken problem": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", api.ProblemType)
			w.WriteHeader(500)
			io.WriteString(w, "{")
		},
		"endless": func(w http.ResponseWriter, _ *http.Request) {
			for range 9 {
				w.Write(make([]byte, 1<<20))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(handler)
			defer s.Close()
			c := connect(t, client.Config{URL: s.URL, User: "u", Password: "p"})
			if _, err := c.Users(t.Context()); !errors.Is(err, client.ErrNotAPI) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestSocketOfSomebodyElse(t *testing.T) {
	if os.Geteuid() == 0 {
		checkPermissionText(t)
		return
	}
	_, dir := serve(t, memusers.New(), nil)
	path := client.SocketPath(dir)
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	_, err := connect(t, client.Config{Socket: path}).Users(t.Context())
	if err == nil || !strings.Contains(err.Error(), "permission denied; only the owner") {
		t.Errorf("got %v", err)
	}
}

// checkPermissionText is what is left to check where the user may do everything:
// a socket in whose place a directory stands is no unreachable server either.
func checkPermissionText(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(client.SocketPath(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	c := connect(t, client.Config{Socket: client.SocketPath(dir)})
	if _, err := c.Users(t.Context()); !errors.Is(err, client.ErrUnreachable) {
		t.Errorf("got %v", err)
	}
}
