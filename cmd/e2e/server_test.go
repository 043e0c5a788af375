package e2e

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// readyWithin is how long a server may take to answer, on a busy machine.
	readyWithin = 60 * time.Second
	// stopWithin is how long an ordered stop may take: after ten seconds
	// containers are killed.
	stopWithin = 10 * time.Second
)

// server is a tiergrid server. Its ports and directory stay the same over
// restarts.
type server struct {
	*process
	t          *testing.T
	data       string
	resp, http string
	args       []string
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

// startConfigured starts a server with a configuration file.
func startConfigured(t *testing.T, config string, args ...string) *server {
	t.Helper()
	return startServer(t, append(args, "--config", writeFile(t, "tiergrid.yaml", config))...)
}

// start starts the process and waits until it is ready.
func (s *server) start() {
	s.t.Helper()
	s.launch()
	eventually(s.t, "the server to be ready", func() bool {
		s.alive(s.t)
		return s.ready()
	})
}

// launch starts the process, which may end at once.
func (s *server) launch() {
	s.t.Helper()
	s.process = startProcess(s.t, binary, append([]string{"server", "--data", s.data, "--name", "m1",
		"--resp-bind", s.resp, "--http-bind", s.http, "--memory-max-size", "64MiB"}, s.args...)...)
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

// stop ends the server in order and checks that it does so.
func (s *server) stop() {
	s.t.Helper()
	if code := s.terminate(s.t, stopWithin); code != 0 {
		s.t.Fatalf("the server ended with exit code %d:\n%s", code, s.stderr)
	}
}

// client returns a client of the RESP port, which never repeats a command.
func (s *server) client() *redis.Client { return s.clientAs("", "") }

func (s *server) clientAs(user, password string) *redis.Client {
	return newClient(s.t, &redis.Options{Addr: s.resp, Username: user, Password: password})
}

func newClient(t *testing.T, options *redis.Options) *redis.Client {
	options.MaxRetries = -1
	options.DialTimeout, options.ReadTimeout = 10*time.Second, 60*time.Second
	options.DialerRetries = 1
	c := redis.NewClient(options)
	t.Cleanup(func() { c.Close() })
	return c
}

// createUser creates a user through the admin socket, or offline.
func (s *server) createUser(name, password, groups string) {
	s.t.Helper()
	mustRun(s.t, "user", "create", name, "-p", password, "-g", groups, "--data", s.data)
}

// residentBytes is how much memory the process takes.
func (s *server) residentBytes() int64 {
	s.t.Helper()
	n, err := residentBytes(s.cmd.Process.Pid)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

func residentBytes(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "VmRSS:" {
			kib, err := strconv.ParseInt(fields[1], 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("no VmRSS in %q", text)
}

// redisServer starts a redis-server that keeps nothing and returns its address.
func redisServer(t *testing.T) string {
	t.Helper()
	addr := freePort(t)
	_, port, _ := net.SplitHostPort(addr)
	p := startProcess(t, "redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", t.TempDir(),
		"--logfile", "redis.log")
	eventually(t, "redis-server to answer", func() bool {
		p.alive(t)
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return false
		}
		conn.Close()
		return true
	})
	return addr
}

// wire is a plain connection, on which a test decides each byte.
type wire struct {
	net.Conn
	t  *testing.T
	in *bufio.Reader
}

// dial connects to an address; the deadline covers the whole conversation.
func dial(t *testing.T, addr string) *wire {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return &wire{Conn: conn, t: t, in: bufio.NewReader(conn)}
}

// send writes text as it is.
func (w *wire) send(text string) {
	w.t.Helper()
	if _, err := w.Write([]byte(text)); err != nil {
		w.t.Fatal(err)
	}
}

// line reads one line of a reply, without its end.
func (w *wire) line() string {
	w.t.Helper()
	line, err := w.in.ReadString('\n')
	if err != nil {
		w.t.Fatalf("after %q: %v", line, err)
	}
	return strings.TrimSuffix(line, "\r\n")
}

// ask sends a line, as an inline command, and returns the first line of the reply.
func (w *wire) ask(text string) string {
	w.t.Helper()
	w.send(text + "\r\n")
	return w.line()
}
