package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
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

// binary is the path of the program under test.
var binary string

func TestMain(m *testing.M) { os.Exit(runAll(m)) }

func runAll(m *testing.M) int {
	redis.SetLogger(quiet{}) // servers that are gone are what many tests are about
	dir, err := os.MkdirTemp("", "tiergrid-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if binary, err = findBinary(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// findBinary returns the binary that was built already, or builds one in dir.
func findBinary(dir string) (string, error) {
	if built := os.Getenv("TIERGRID_BIN"); built != "" {
		_, err := os.Stat(built)
		return built, err
	}
	path := filepath.Join(dir, "tiergrid")
	cmd := exec.Command("go", "build", "-o", path, "github.com/tiergrid/tiergrid/cmd/tiergrid")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the binary: %w\n%s", err, out)
	}
	return path, nil
}

// quiet drops what the client library reports beside its errors.
type quiet struct{}

// Printf implements the library's interface.
func (quiet) Printf(context.Context, string, ...any) {}

// result is what a program did that ran to its end.
type result struct {
	code           int
	stdout, stderr string
}

// run runs a command of the binary to its end.
func run(t *testing.T, args ...string) result {
	t.Helper()
	return runTool(t, "", binary, args...)
}

// mustRun is run for commands that must succeed. It returns what they print.
func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	return mustRunTool(t, "", binary, args...)
}

// runTool runs any program to its end, with input as its standard input.
func runTool(t *testing.T, input, name string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// mustRunTool is runTool for programs that must succeed.
func mustRunTool(t *testing.T, input, name string, args ...string) string {
	t.Helper()
	r := runTool(t, input, name, args...)
	if r.code != 0 {
		t.Fatalf("%s %s: exit code %d\n%s%s", name, strings.Join(args, " "), r.code, r.stdout, r.stderr)
	}
	return r.stdout
}

// process is a program that runs until the test ends it.
type process struct {
	cmd    *exec.Cmd
	stderr *logBuffer
	exited chan struct{}
	err    error // after exited
}

// startProcess starts a program. Should this process die, so does that one.
func startProcess(t *testing.T, name string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(name, args...), stderr: &logBuffer{}, exited: make(chan struct{})}
	p.cmd.Stderr = p.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.exited)
	}()
	t.Cleanup(p.kill)
	return p
}

// kill ends the process as the kernel ends one, unless it has ended.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // fails only for a process that has ended
	<-p.exited
}

// terminate asks the process to end and returns its exit code.
func (p *process) terminate(t *testing.T, within time.Duration) int {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatalf("the process is gone: %v\n%s", err, p.stderr)
	}
	return p.wait(t, within)
}

// wait returns the exit code of a process that ends by itself.
func (p *process) wait(t *testing.T, within time.Duration) int {
	t.Helper()
	select {
	case <-p.exited:
	case <-time.After(within):
		t.Fatalf("the process runs after %v:\n%s", within, p.stderr)
	}
	return p.cmd.ProcessState.ExitCode()
}

// alive fails the test if the process has ended.
func (p *process) alive(t *testing.T) {
	t.Helper()
	select {
	case <-p.exited:
		t.Fatalf("the process ended: %v\n%s", p.err, p.stderr)
	default:
	}
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

// freePort returns an address of loopback that nobody listens on.
func freePort(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// eventually waits until done returns true, and fails the test if it takes too
// long even for a busy machine.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("in vain waited for this: %s", what)
		}
	}
}

// writeFile writes a file into a new directory and returns its path.
func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
