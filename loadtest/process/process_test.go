package process

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tiergrid/tiergrid/loadtest/internal/fakeserver"
	"github.com/tiergrid/tiergrid/loadtest/load"
)

func TestMain(m *testing.M) {
	fakeserver.Main()
	goleak.VerifyTestMain(m)
}

func start(t *testing.T, cfg Config) *Server {
	t.Helper()
	s, err := Start(t.Context(), cfg, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop() })
	return s
}

// gone says whether no process has this id any more.
func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

func TestStartAndStop(t *testing.T) {
	s := start(t, Config{Name: "fake", Args: fakeserver.Args(""),
		Files: map[string]string{"conf": "dir {dir} port {port} http {http}"}})
	if err := load.Ping(t.Context(), s.Addr()); err != nil {
		t.Fatal(err)
	}
	conf, err := os.ReadFile(filepath.Join(s.Dir(), "conf"))
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(string(conf))
	_, port, _ := strings.Cut(s.Addr(), ":")
	if words[1] != s.Dir() || words[3] != port || words[5] == port || strings.Contains(string(conf), "{") {
		t.Errorf("the file says %q", conf)
	}
	u, err := s.Usage()
	if err != nil || u.RSS == 0 || u.PeakRSS < u.RSS {
		t.Errorf("usage %+v, %v", u, err)
	}
	for range 2 {
		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(s.Dir()); !os.IsNotExist(err) || !gone(s.PID()) {
		t.Errorf("left behind: folder %v, process gone %v", err, gone(s.PID()))
	}
	if _, err := s.Usage(); !errors.Is(err, ErrEnded) {
		t.Errorf("usage after the end: %v", err)
	}
}

func TestStartFails(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  Config
		is   error
		says string
	}{
		{"no command", Config{Name: "none"}, nil, "none: no command"},
		{"no such program", Config{Name: "x", Args: []string{"/nonexistent/server"}}, os.ErrNotExist, "start x"},
		{"ends", Config{Name: "x", Args: fakeserver.Args("exit")}, ErrEnded, "cannot go on"},
		{"mute", Config{Name: "x", Args: fakeserver.Args("mute"), ReadyWithin: 200 * time.Millisecond}, context.DeadlineExceeded, "no answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			parent := t.TempDir()
			_, err := Start(t.Context(), c.cfg, parent)
			if err == nil || !strings.Contains(err.Error(), c.says) || c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("error %v, want %v that says %q", err, c.is, c.says)
			}
			if left, _ := os.ReadDir(parent); len(left) != 0 {
				t.Errorf("%s was left behind", left[0].Name())
			}
		})
	}
}

func TestStopKillsStubborn(t *testing.T) {
	s := start(t, Config{Name: "fake", Args: fakeserver.Args("stubborn"), StopWithin: 100 * time.Millisecond})
	if err := s.Stop(); err == nil || !strings.Contains(err.Error(), "was killed") {
		t.Errorf("error %v, want that it was killed", err)
	}
	if !gone(s.PID()) {
		t.Error("it still runs")
	}
}

func TestAwaitQuiet(t *testing.T) {
	s := start(t, Config{Name: "fake", Args: fakeserver.Args("")})
	if err := AwaitQuiet(t.Context(), 10*time.Second, s); err != nil {
		t.Fatal(err)
	}
	before, err := s.Usage()
	if err != nil {
		t.Fatal(err)
	}
	c, err := load.Dial(t.Context(), s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Do("BURN", "500"); err != nil {
		t.Fatal(err)
	}
	if err := AwaitQuiet(t.Context(), 20*time.Second, s); err != nil {
		t.Fatal(err)
	}
	after, err := s.Usage()
	if burnt := after.CPU - before.CPU; err != nil || burnt < 50*time.Millisecond {
		t.Errorf("quiet after %v of work, %v; it had half a second to do", burnt, err)
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := AwaitQuiet(t.Context(), time.Second, s); !errors.Is(err, ErrEnded) {
		t.Errorf("waiting for an ended server: %v", err)
	}
}

func TestAwaitQuietEndsWithContext(t *testing.T) {
	s := start(t, Config{Name: "fake", Args: fakeserver.Args("")})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := AwaitQuiet(ctx, time.Hour, s); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
