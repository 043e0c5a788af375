package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// readyWithin is how long a server may take to answer, on a busy machine.
const readyWithin = 60 * time.Second

// binary is the path of the built program.
var binary string

func TestMain(m *testing.M) { os.Exit(build(m)) }

// build makes the binary in a directory that goes with the tests.
func build(m *testing.M) int {
	dir, err := os.MkdirTemp("", "tiergrid-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "tiergrid")
	cmd := exec.Command("go", "build", "-o", binary, "github.com/tiergrid/tiergrid/cmd/tiergrid")
	if out, err := cmd.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the binary: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// server is a tiergrid process. Its ports and directory stay the same over
// restarts.
type server struct {
	t          *testing.T
	data       string
	resp, http string
	args       []string

	cmd    *exec.Cmd
	stderr *logBuffer
	exited chan struct{}
	err    error // of the process, after exited
}

// logBuffer keeps what a process writes.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// freePort returns an address that nobody listens on.
func freePort(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// newServer prepares a server that is not started.
func newServer(t *testing.T, args ...string) *server {
	t.Helper()
	return &server{t: t, data: filepath.Join(t.TempDir(), "data"), resp: freePort(t), http: freePort(t), args: args}
}

// startServer starts a server and waits until it is ready.
func startServer(t *testing.T, args ...string) *server {
	t.Helper()
	s := newServer(t, args...)
	s.start()
	return s
}

// start starts the process and waits until it is ready.
func (s *server) start() {
	s.t.Helper()
	s.launch()
	deadline := time.Now().Add(readyWithin)
	for !s.ready() {
		select {
		case <-s.exited:
			s.t.Fatalf("the server ended: %v\n%s", s.err, s.stderr)
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("the server is not ready:\n%s", s.stderr)
		}
	}
}

// launch starts the process. The test ends it when it has not ended before.
func (s *server) launch() {
	s.t.Helper()
	args := append([]string{"server", "--data", s.data, "--resp-bind", s.resp, "--http-bind", s.http,
		"--memory-max-size", "64MiB"}, s.args...)
	s.stderr = &logBuffer{}
	s.cmd = exec.Command(binary, args...)
	s.cmd.Stderr = s.stderr
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	cmd, exited := s.cmd, make(chan struct{})
	s.exited = exited
	go func() {
		s.err = cmd.Wait()
		close(exited)
	}()
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-exited
	})
}

func (s *server) ready() bool {
	client := http.Client{Timeout: time.Second}
	res, err := client.Get("http://" + s.http + "/health/ready")
	if err != nil {
		return false
	}
	res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// kill ends the process as a power switch would end it.
func (s *server) kill() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		s.t.Fatal(err)
	}
	<-s.exited
}

// stop ends the process in order and checks that it does so.
func (s *server) stop() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	select {
	case <-s.exited:
	case <-time.After(readyWithin):
		s.t.Fatalf("the server does not stop:\n%s", s.stderr)
	}
	if s.err != nil {
		s.t.Fatalf("the server ended with %v:\n%s", s.err, s.stderr)
	}
}

// client returns a client of the RESP port.
func (s *server) client() *redis.Client { return s.clientAs("", "") }

func (s *server) clientAs(user, password string) *redis.Client {
	c := redis.NewClient(&redis.Options{Addr: s.resp, Username: user, Password: password, MaxRetries: -1})
	s.t.Cleanup(func() { c.Close() })
	return c
}

// result is what a command of the binary did.
type result struct {
	code           int
	stdout, stderr string
}

// run runs a command of the binary to its end.
func run(t *testing.T, args ...string) result {
	t.Helper()
	return runTool(t, binary, args...)
}

// runTool runs any program to its end.
func runTool(t *testing.T, name string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// mustRun is run for commands that must succeed.
func mustRun(t *testing.T, args ...string) result {
	t.Helper()
	r := run(t, args...)
	if r.code != 0 {
		t.Fatalf("tiergrid %s: exit code %d\n%s%s", strings.Join(args, " "), r.code, r.stdout, r.stderr)
	}
	return r
}
