package admin

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tiergrid/tiergrid/admin/internal/memusers"
)

// running is a server that listens on a loopback port.
type running struct {
	fixture
	addr   string
	served chan error
}

// patience bounds what must happen soon.
const patience = 5 * time.Second

// echoRESP answers each line with +line until its connection ends.
func echoRESP(c net.Conn) {
	defer c.Close()
	lines := bufio.NewScanner(c)
	for lines.Scan() {
		fmt.Fprintf(c, "+%s\r\n", lines.Text())
	}
}

func run(t *testing.T, change func(*Config)) *running {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return runOn(t, ln, change)
}

func runOn(t *testing.T, ln net.Listener, change func(*Config)) *running {
	t.Helper()
	r := &running{addr: ln.Addr().String(), served: make(chan error, 1)}
	r.fixture = newFixture(t, memusers.New("admin"), func(c *Config) {
		c.RESP = echoRESP
		if change != nil {
			change(c)
		}
	})
	go func() { r.served <- r.Serve(ln) }()
	t.Cleanup(func() { r.stop(t) })
	return r
}

// stop shuts the server down with force; a second stop does nothing.
func (r *running) stop(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = r.Shutdown(ctx)
	if r.served == nil {
		return
	}
	if err := <-r.served; err != nil {
		t.Errorf("Serve: %v", err)
	}
	r.served = nil
}

func (r *running) dial(t *testing.T) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return c
}

// say sends text and returns the line that comes back.
func say(t *testing.T, c net.Conn, text string) string {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		t.Fatalf("after %q: %v", text, err)
	}
	return strings.TrimSpace(line)
}

const liveRequest = "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n"

// eventually waits until check holds.
func eventually(t *testing.T, what string, check func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !check(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// closedByPeer says that the connection ends without another byte.
func closedByPeer(c net.Conn) bool {
	n, err := c.Read(make([]byte, 1))
	var timeout net.Error
	return n == 0 && err != nil && !(errors.As(err, &timeout) && timeout.Timeout())
}

func TestOnePortForHTTPAndRESP(t *testing.T) {
	r := run(t, nil)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			c := r.dial(t)
			if i%2 == 0 {
				if got := say(t, c, "*1\r\n"); got != "+*1" {
					t.Errorf("RESP got %q", got)
				}
				return
			}
			if got := say(t, c, liveRequest); got != "HTTP/1.1 200 OK" {
				t.Errorf("HTTP got %q", got)
			}
		})
	}
	wg.Wait()
	if got := say(t, r.dial(t), "PING\r\n"); !strings.HasPrefix(got, "HTTP/1.1 400") {
		t.Errorf("an inline command got %q", got)
	}
	if got := r.front.respTotal.Load(); got != 10 {
		t.Errorf("%d RESP connections counted", got)
	}
}

func TestTCPConnectionsAreHandedOverAsTheyAre(t *testing.T) {
	kind := make(chan string, 1)
	r := run(t, func(c *Config) {
		c.RESP = func(c net.Conn) {
			kind <- fmt.Sprintf("%T", c)
			echoRESP(c)
		}
	})
	say(t, r.dial(t), "*1\r\n")
	if got := <-kind; got != "*net.TCPConn" {
		t.Errorf("RESP got a %s; only a *net.TCPConn gathers its writes", got)
	}
}

// pipes is a listener of connections that are not TCP.
type pipes struct{ *queue }

func (p pipes) dial(t *testing.T) net.Conn {
	t.Helper()
	near, far := net.Pipe()
	if !p.put(far) {
		t.Fatal("the listener is closed")
	}
	t.Cleanup(func() { near.Close() })
	return near
}

func TestOtherConnectionsReplayTheFirstByte(t *testing.T) {
	ln := pipes{newQueue()}
	runOn(t, ln, nil)
	c := ln.dial(t)
	go io.WriteString(c, "*2\r\n")
	if got := say(t, c, ""); got != "+*2" {
		t.Errorf("RESP got %q", got)
	}
	h := ln.dial(t)
	if got := say(t, h, liveRequest); got != "HTTP/1.1 200 OK" {
		t.Errorf("HTTP got %q", got)
	}
	r := &replay{Conn: c, first: []byte("*")}
	if n, err := r.Read(nil); n != 0 || err != nil || len(r.first) != 1 {
		t.Errorf("an empty read took %d bytes: %v", n, err)
	}
	if r.NetConn() != c {
		t.Error("NetConn is the connection beneath")
	}
}

func TestSilentConnectionsHoldUpNobody(t *testing.T) {
	r := run(t, func(c *Config) { c.Limits.FirstByteTimeout = 300 * time.Millisecond })
	silent := []net.Conn{r.dial(t), r.dial(t), r.dial(t)}
	eventually(t, "three undecided", func() bool { return r.front.undecidedLen() == 3 })
	if got := say(t, r.dial(t), liveRequest); got != "HTTP/1.1 200 OK" {
		t.Errorf("behind silent connections: %q", got)
	}
	for _, c := range silent {
		if !closedByPeer(c) {
			t.Error("a silent connection stays open")
		}
	}
	if got := r.front.silent.Load(); got != 3 {
		t.Errorf("%d silent connections counted", got)
	}
}

func TestTooManySilentConnectionsCloseTheOldest(t *testing.T) {
	r := run(t, func(c *Config) { c.Limits.Undecided = 2 })
	oldest := r.dial(t)
	eventually(t, "one undecided", func() bool { return r.front.undecidedLen() == 1 })
	second := r.dial(t)
	eventually(t, "two undecided", func() bool { return r.front.undecidedLen() == 2 })
	third := r.dial(t)
	if !closedByPeer(oldest) {
		t.Error("the oldest connection must make room")
	}
	for _, c := range []net.Conn{second, third} {
		if got := say(t, c, "*1\r\n"); got != "+*1" {
			t.Errorf("got %q", got)
		}
	}
	if got := r.front.refused.Load(); got != 1 {
		t.Errorf("%d refused connections counted", got)
	}
}

func TestTooManyHTTPConnections(t *testing.T) {
	r := run(t, func(c *Config) { c.Limits.Connections = 1 })
	first := r.dial(t)
	say(t, first, liveRequest)
	if got := say(t, r.dial(t), liveRequest); !strings.HasPrefix(got, "HTTP/1.1 503") {
		t.Errorf("over the limit: %q", got)
	}
	if got := say(t, r.dial(t), "*1\r\n"); got != "+*1" {
		t.Errorf("RESP has limits of its own: %q", got)
	}
	first.Close()
	eventually(t, "room for another", func() bool { return r.front.httpOpen.Load() == 0 })
	if got := say(t, r.dial(t), liveRequest); got != "HTTP/1.1 200 OK" {
		t.Errorf("with room again: %q", got)
	}
}

func TestSlowAndOversizedHeaders(t *testing.T) {
	r := run(t, func(c *Config) {
		c.Limits.HeaderTimeout = 100 * time.Millisecond
		c.Limits.HeaderBytes = 4 << 10
	})
	slow := r.dial(t)
	if _, err := io.WriteString(slow, "GET /health/live HTTP/1.1\r\nHost:"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(slow); err != nil {
		t.Errorf("a slow header must end the connection: %v", err)
	}
	big := "GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 16<<10) + "\r\n\r\n"
	if got := say(t, r.dial(t), big); !strings.HasPrefix(got, "HTTP/1.1 431") {
		t.Errorf("a big header: %q", got)
	}
}

func TestPanicsInRESPAreSurvived(t *testing.T) {
	r := run(t, func(c *Config) { c.RESP = func(net.Conn) { panic("broken") } })
	c := r.dial(t)
	_, _ = io.WriteString(c, "*")
	if !closedByPeer(c) {
		t.Error("the connection must be closed")
	}
	eventually(t, "a line in the log", func() bool { return strings.Contains(r.log.String(), "broken") })
	if got := say(t, r.dial(t), liveRequest); got != "HTTP/1.1 200 OK" {
		t.Errorf("afterwards: %q", got)
	}
}

func TestWithoutRESPEverythingIsHTTP(t *testing.T) {
	r := run(t, func(c *Config) { c.RESP = nil })
	if got := say(t, r.dial(t), "*1\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 400") {
		t.Errorf("got %q", got)
	}
}

// faulty is a listener whose first calls to Accept fail.
type faulty struct {
	net.Listener
	left atomic.Int32
}

func (f *faulty) Accept() (net.Conn, error) {
	if f.left.Add(-1) >= 0 {
		return nil, errors.New("too many open files")
	}
	return f.Listener.Accept()
}

func TestAcceptIsTriedAgain(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &faulty{Listener: ln}
	f.left.Store(3)
	r := runOn(t, f, nil)
	if got := say(t, r.dial(t), liveRequest); got != "HTTP/1.1 200 OK" {
		t.Errorf("after failures: %q", got)
	}
	if n := strings.Count(r.log.String(), "too many open files"); n != 3 {
		t.Errorf("%d failures in the log", n)
	}
}

func TestServeEndsWithItsListener(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, memusers.New(), nil)
	ln.Close()
	if err := f.Serve(ln); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Serve: %v", err)
	}
	if err := f.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := f.Serve(ln); err != nil {
		t.Errorf("Serve after Shutdown: %v", err)
	}
}

func TestShutdownWithoutServe(t *testing.T) {
	f := newFixture(t, memusers.New(), nil)
	for range 2 {
		if err := f.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestShutdownLetsRequestsEnd(t *testing.T) {
	begun, finish := make(chan struct{}), make(chan struct{})
	r := run(t, func(c *Config) {
		c.Ready = func() error {
			close(begun)
			<-finish
			return nil
		}
	})
	got := make(chan string, 1)
	go func() {
		resp, err := http.Get("http://" + r.addr + "/health/ready")
		if err != nil {
			got <- err.Error()
			return
		}
		resp.Body.Close()
		got <- resp.Status
	}()
	<-begun
	ended := make(chan error, 1)
	go func() { ended <- r.Shutdown(t.Context()) }()
	eventually(t, "no more connections", func() bool {
		c, err := net.Dial("tcp", r.addr)
		if err == nil {
			c.Close()
		}
		return err != nil
	})
	close(finish)
	if s := <-got; s != "200 OK" {
		t.Errorf("the request got %q", s)
	}
	if err := <-ended; err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestShutdownWaitsForRESPAndThenCloses(t *testing.T) {
	r := run(t, nil)
	c := r.dial(t)
	say(t, c, "*1\r\n")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := r.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Shutdown: %v", err)
	}
	if !closedByPeer(c) {
		t.Error("the connection must be closed")
	}
}

func TestShutdownClosesWhatIsSilent(t *testing.T) {
	r := run(t, nil)
	c := r.dial(t)
	eventually(t, "one undecided", func() bool { return r.front.undecidedLen() == 1 })
	if err := r.Shutdown(t.Context()); err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	if !closedByPeer(c) {
		t.Error("the connection must be closed")
	}
}

func TestAdminSocketServesItsOwner(t *testing.T) {
	r := run(t, nil)
	dir := t.TempDir()
	ln, err := ListenSocket(dir)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- r.ServeSocket(ln) }()
	c, err := net.Dial("unix", dir+"/admin.sock")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := say(t, c, "GET /api/v1/users HTTP/1.1\r\nHost: x\r\n\r\n"); got != "HTTP/1.1 200 OK" {
		t.Errorf("the owner got %q", got)
	}
	if got := say(t, r.dial(t), "GET /api/v1/users HTTP/1.1\r\nHost: x\r\n\r\n"); got != "HTTP/1.1 401 Unauthorized" {
		t.Errorf("another got %q", got)
	}
	r.stop(t)
	if err := <-served; err != nil {
		t.Errorf("ServeSocket: %v", err)
	}
}
