package session

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tiergrid/tiergrid/membership/users"
	"github.com/tiergrid/tiergrid/node/resp"
	"github.com/tiergrid/tiergrid/proxy/auth"
	"github.com/tiergrid/tiergrid/proxy/grid"
)

// eventually waits until ok, and fails the test when that takes too long.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited too long for: " + what)
		}
	}
}

func TestOpenNeedsItsParts(t *testing.T) {
	if _, err := Open(Config{}); !errors.Is(err, ErrConfig) {
		t.Errorf("Open of nothing: %v, want ErrConfig", err)
	}
}

func TestMaxClients(t *testing.T) {
	srv := serve(t, func(c *Config) { c.Limits.Clients = 2 })
	first, second := dial(t, srv.addr), dial(t, srv.addr)
	expect(t, first, "PING\r\n", "+PONG\r\n")
	expect(t, second, "PING\r\n", "+PONG\r\n")
	third := dial(t, srv.addr)
	expect(t, third, "", "-ERR max number of clients reached\r\n")
	expectEnd(t, third)
	if st := srv.Stats(); st.Rejected != 1 || st.Clients != 2 || st.Connections != 3 {
		t.Errorf("rejected %d, clients %d, connections %d; want 1, 2, 3", st.Rejected, st.Clients, st.Connections)
	}
	expect(t, first, "CONFIG SET maxclients 3\r\n", "+OK\r\n")
	expect(t, dial(t, srv.addr), "PING\r\n", "+PONG\r\n")
	expect(t, second, "QUIT\r\n", "+OK\r\n")
	expectEnd(t, second)
	expect(t, dial(t, srv.addr), "PING\r\n", "+PONG\r\n")
}

// TestAKilledClientHasNoPlace: whoever sees the end of its connection may come back at
// once, even if the session still has a command under way.
func TestAKilledClientHasNoPlace(t *testing.T) {
	srv := serve(t, func(c *Config) { c.Limits.Clients = 2 })
	running, finish := make(chan struct{}), make(chan struct{})
	srv.grid.onRequest(func(context.Context, *grid.Request) {
		close(running)
		<-finish
	})
	defer close(finish)
	admin, busy := dial(t, srv.addr), dial(t, srv.addr)
	expect(t, busy, "CLIENT SETNAME busy\r\n", "+OK\r\n")
	expect(t, busy, "GET a\r\n", "")
	<-running
	expect(t, admin, "CLIENT KILL TYPE normal\r\n", ":1\r\n")
	expectEnd(t, busy)
	if n := srv.count(); n != 2 {
		t.Errorf("%d sessions, want the one that was killed among 2", n)
	}
	expect(t, dial(t, srv.addr), "PING\r\n", "+PONG\r\n")
	full := dial(t, srv.addr)
	expect(t, full, "", "-ERR max number of clients reached\r\n")
	expectEnd(t, full)
}

// elsewhere is a connection whose peer is on another machine.
type elsewhere struct{ net.Conn }

func (elsewhere) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 1234} }

func TestWithoutUsersOnlyLocalClients(t *testing.T) {
	srv := serve(t, nil)
	near, far := net.Pipe()
	done := make(chan struct{})
	go func() { srv.ServeConn(elsewhere{far}); close(done) }()
	reply, err := io.ReadAll(near)
	if err != nil || !strings.HasPrefix(string(reply), "-DENIED ") {
		t.Errorf("answered %q (%v), want DENIED", reply, err)
	}
	<-done
}

func TestWithUsersClientsFromElsewhere(t *testing.T) {
	people := withPeople(t)
	srv := serve(t, func(c *Config) { c.Auth = people })
	near, far := net.Pipe()
	done := make(chan struct{})
	go func() { srv.ServeConn(elsewhere{far}); close(done) }()
	expect(t, near, "AUTH developer developer\r\n", "+OK\r\n")
	near.Close()
	<-done
}

func TestLocal(t *testing.T) {
	for _, c := range []struct {
		addr net.Addr
		want bool
	}{
		{&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, true},
		{&net.TCPAddr{IP: net.IPv6loopback}, true},
		{&net.TCPAddr{IP: net.ParseIP("::ffff:127.0.0.1")}, true},
		{&net.TCPAddr{IP: net.IPv4(192, 168, 0, 1)}, false},
		{&net.TCPAddr{IP: net.ParseIP("::ffff:10.0.0.1")}, false},
		{&net.UnixAddr{Name: "/run/x.sock", Net: "unix"}, true},
		{&net.IPAddr{IP: net.IPv4(127, 0, 0, 1)}, false},
		{nil, false},
	} {
		if got := local(c.addr); got != c.want {
			t.Errorf("local(%v) = %v, want %v", c.addr, got, c.want)
		}
	}
}

func TestPanicEndsOneSession(t *testing.T) {
	var log bytes.Buffer
	srv := serve(t, func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	srv.grid.onRequest(func(_ context.Context, r *grid.Request) {
		if string(r.Args[1]) == "bad" {
			panic("a bug")
		}
	})
	victim, other := dial(t, srv.addr), dial(t, srv.addr)
	expect(t, other, "PING\r\n", "+PONG\r\n")
	if _, err := io.WriteString(victim, "GET bad\r\n"); err != nil {
		t.Fatal(err)
	}
	expectEnd(t, victim)
	expect(t, other, "GET good\r\n", "$-1\r\n")
	eventually(t, "the count of the panic", func() bool { return srv.Stats().Panics == 1 && srv.count() == 1 })
	if text := log.String(); !strings.Contains(text, "a bug") || !strings.Contains(text, "fakegrid_test.go") {
		t.Errorf("the log lacks cause or stack: %s", text)
	}
}

func TestDrainLetsSessionsFinish(t *testing.T) {
	srv := serve(t, nil)
	running, release := make(chan struct{}), make(chan struct{})
	srv.grid.onRequest(func(_ context.Context, r *grid.Request) {
		if r.Cmd.Name == "set" {
			close(running)
			<-release
		}
	})
	busy, idle := dial(t, srv.addr), dial(t, srv.addr)
	expect(t, idle, "PING\r\n", "+PONG\r\n")
	io.WriteString(busy, "SET slow 1\r\nGET slow\r\n")
	<-running
	drained := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		drained <- srv.Drain(ctx)
	}()
	expectEnd(t, idle)
	if _, err := net.Dial("tcp", srv.addr); err == nil {
		t.Error("a draining server accepts clients")
	}
	close(release)
	expect(t, busy, "", "+OK\r\n$1\r\n1\r\n")
	expectEnd(t, busy)
	if err := <-drained; err != nil {
		t.Errorf("Drain: %v", err)
	}
}

func TestCloseCutsOffWhatDoesNotEnd(t *testing.T) {
	srv, err := Open(Config{Grid: newFakeGrid(), Auth: auth.New(auth.Config{}), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	near, far := net.Pipe()
	go srv.ServeConn(far)
	running := make(chan struct{})
	srv.grid.(*fakeGrid).onRequest(func(ctx context.Context, _ *grid.Request) {
		close(running)
		<-ctx.Done()
	})
	io.WriteString(near, "GET a\r\n")
	<-running
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if err := srv.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Close: %v, want DeadlineExceeded", err)
	}
	if n := srv.count(); n != 0 {
		t.Errorf("%d sessions after Close", n)
	}
}

// failingListener fails a few times before it is closed.
type failingListener struct {
	fails atomic.Int32
	left  int32
}

func (l *failingListener) Accept() (net.Conn, error) {
	if l.fails.Add(1) <= l.left {
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return nil, net.ErrClosed
}
func (l *failingListener) Close() error   { return nil }
func (l *failingListener) Addr() net.Addr { return &net.UnixAddr{} }

func TestAcceptBacksOff(t *testing.T) {
	srv := serve(t, nil)
	ln := &failingListener{left: 4}
	start := time.Now()
	if err := srv.Serve(ln); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Serve: %v, want net.ErrClosed", err)
	}
	if took := time.Since(start); took < 60*time.Millisecond { // 5 + 10 + 20 + 40, less some slack
		t.Errorf("4 failures took %v: accept is tried again at once", took)
	}
}

func TestServeAfterClose(t *testing.T) {
	srv, err := Open(Config{Grid: newFakeGrid(), Auth: auth.New(auth.Config{}), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := srv.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := srv.Serve(&failingListener{}); !errors.Is(err, ErrClosed) {
		t.Errorf("Serve: %v, want ErrClosed", err)
	}
	near, far := net.Pipe()
	srv.ServeConn(far)
	expectEnd(t, near)
}

func TestIdleClientsAreClosed(t *testing.T) {
	srv := serve(t, func(c *Config) { c.Limits.Idle = time.Second })
	conn, monitor := dial(t, srv.addr), dial(t, srv.addr)
	expect(t, monitor, "MONITOR\r\n", "+OK\r\n")
	expect(t, conn, "CONFIG GET timeout\r\n", "*2\r\n$7\r\ntimeout\r\n$1\r\n1\r\n")
	expectEnd(t, conn)
	expect(t, monitor, "CLIENT REPLY ON\r\n", "+OK\r\n")
}

func TestClientThatDoesNotReadIsClosed(t *testing.T) {
	srv := serve(t, func(c *Config) { c.Limits.WriteTimeout = 100 * time.Millisecond })
	conn, other := dial(t, srv.addr), dial(t, srv.addr)
	expect(t, other, "SET big "+strings.Repeat("x", 60_000)+"\r\n", "+OK\r\n")
	if _, err := io.WriteString(conn, strings.Repeat("GET big\r\n", 1000)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end of the slow reader", func() bool { return srv.Stats().SlowReaders == 1 })
	expect(t, other, "PING\r\n", "+PONG\r\n")
}

func TestMonitorThatDoesNotReadIsClosed(t *testing.T) {
	srv := serve(t, func(c *Config) { c.Limits.Output = 100_000 })
	monitor, other := dial(t, srv.addr), dial(t, srv.addr)
	expect(t, monitor, "MONITOR\r\n", "+OK\r\n")
	value := strings.Repeat("x", 50_000)
	for range 1000 {
		expect(t, other, "SET a "+value+"\r\n", "+OK\r\n")
		if srv.Stats().SlowReaders == 1 {
			break
		}
	}
	if st := srv.Stats(); st.SlowReaders != 1 {
		t.Errorf("%d slow readers, want 1", st.SlowReaders)
	}
	eventually(t, "the end of the monitor", func() bool { return srv.Stats().MonitorClients == 0 && srv.count() == 1 })
}

// changing is an Authenticator whose users can be replaced.
func changing(list ...users.User) (*auth.Authenticator, func(...users.User)) {
	var present atomic.Pointer[users.Directory]
	version := uint64(0)
	set := func(list ...users.User) {
		version++
		present.Store(users.NewDirectory(version, list))
	}
	set(list...)
	verifier, err := users.NewVerifier(users.VerifierConfig{})
	if err != nil {
		panic(err)
	}
	return auth.New(auth.Config{Users: present.Load, Verifier: verifier}), set
}

func person(t *testing.T, name, role string) users.User {
	t.Helper()
	hash, err := users.Hash([]byte(name), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return users.User{Name: name, Hash: hash, Roles: []string{role}}
}

func TestUsersChange(t *testing.T) {
	dev, app := person(t, "dev", "admin"), person(t, "app", "application")
	a, set := changing()
	srv := serve(t, func(c *Config) { c.Auth = a })
	open := dial(t, srv.addr)
	expect(t, open, "SET a 1\r\n", "+OK\r\n")

	set(dev, app) // who was let in without login must log in now
	expect(t, open, "GET a\r\nAUTH dev dev\r\nGET a\r\n", "-NOAUTH Authentication required.\r\n+OK\r\n$1\r\n1\r\n")

	limited, idle := dial(t, srv.addr), dial(t, srv.addr)
	expect(t, limited, "AUTH app app\r\nSET a 2\r\n", "+OK\r\n+OK\r\n")
	expect(t, idle, "AUTH app app\r\n", "+OK\r\n")
	app.Roles = []string{"observer"}
	set(dev, app) // another role holds from the next command on
	expect(t, limited, "SET a 3\r\nGET a\r\n", "-NOPERM User app has no permissions to run the 'set' command\r\n$1\r\n2\r\n")

	expect(t, limited, "MULTI\r\nGET a\r\n", "+OK\r\n+QUEUED\r\n")
	set(dev) // a removed user is cut off, at its next command or soon after
	io.WriteString(limited, "EXEC\r\n")
	expectEnd(t, limited)
	expectEnd(t, idle)
	expect(t, open, "PING\r\n", "+PONG\r\n")
}

func TestRulesThatChangeBeforeExec(t *testing.T) {
	dev, app := person(t, "dev", "admin"), person(t, "app", "application")
	a, set := changing(dev, app)
	srv := serve(t, func(c *Config) { c.Auth = a })
	conn := dial(t, srv.addr)
	expect(t, conn, "AUTH app app\r\nMULTI\r\nSET a 1\r\nGET a\r\n", "+OK\r\n+OK\r\n+QUEUED\r\n+QUEUED\r\n")
	app.Roles = []string{"observer"}
	set(dev, app)
	expect(t, conn, "EXEC\r\n", "*2\r\n-NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC call. "+
		"This command is no longer allowed for the following reason: User app has no permissions to run the 'set' command\r\n$-1\r\n")
}

func TestTransactionsAreBounded(t *testing.T) {
	srv := serve(t, func(c *Config) { c.Limits.Transaction = 10_000 })
	conn := dial(t, srv.addr)
	value := strings.Repeat("v", 4000)
	expect(t, conn, "MULTI\r\nSET a "+value+"\r\nSET b "+value+"\r\nSET c "+value+"\r\nEXEC\r\n",
		"+OK\r\n+QUEUED\r\n+QUEUED\r\n-ERR the transaction takes more memory than one may\r\n"+
			"-EXECABORT Transaction discarded because of previous errors.\r\n")
	expect(t, conn, "WATCH "+value+"\r\nWATCH "+value+"\r\nWATCH "+value+"\r\n",
		"+OK\r\n+OK\r\n-ERR the watched keys take more memory than they may\r\n")
	expect(t, conn, "UNWATCH\r\nWATCH "+value+"\r\n", "+OK\r\n+OK\r\n")
}

func TestStats(t *testing.T) {
	srv := serve(t, nil)
	conn := dial(t, srv.addr)
	expect(t, conn, "SET a 1\r\nGET a\r\nGET a\r\nINCR\r\nNOSUCH\r\n*x\r\n",
		"+OK\r\n$1\r\n1\r\n$1\r\n1\r\n-ERR wrong number of arguments for 'incr' command\r\n"+
			"-ERR unknown command 'NOSUCH', with args beginning with: \r\n-ERR Protocol error: invalid multibulk length\r\n")
	expectEnd(t, conn)
	st := srv.Stats()
	if st.Commands != 3 || st.ErrorReplies != 3 || st.ErrorsByPrefix["ERR"] != 3 || st.ProtocolErrors != 1 || st.BytesIn == 0 || st.BytesOut == 0 {
		t.Errorf("stats are %+v", st)
	}
	for _, c := range st.ByCommand {
		want := map[string][2]int64{"set": {1, 0}, "get": {2, 0}, "incr": {0, 1}}[c.Command.Name]
		if got := [2]int64{c.Calls, c.Rejected}; got != want {
			t.Errorf("%s: calls and rejected %v, want %v", c.Command.Name, got, want)
		}
	}
}

// TestBytesOut: what the grid sends and what monitors are shown counts too.
func TestBytesOut(t *testing.T) {
	srv := serve(t, nil)
	conn, monitor := dial(t, srv.addr), dial(t, srv.addr)
	value := strings.Repeat("v", 100_000)
	expect(t, conn, string(resp.AppendCommand(nil, "SET", "a", value)), "+OK\r\n")
	want := 5 + 8*(9+100_000+2)
	expect(t, conn, strings.Repeat("GET a\r\n", 8), strings.Repeat("$100000\r\n"+value+"\r\n", 8))
	expect(t, monitor, "MONITOR\r\n", "+OK\r\n")
	expect(t, conn, "PING\r\n", "+PONG\r\n")
	line, err := bufio.NewReader(monitor).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	expect(t, monitor, "QUIT\r\n", "+OK\r\n")
	expectEnd(t, monitor)
	expect(t, conn, "QUIT\r\n", "+OK\r\n")
	expectEnd(t, conn)
	want += 4*5 + 2 + len(line)
	if got := srv.Stats().BytesOut; got != int64(want) {
		t.Errorf("%d bytes, sent were %d", got, want)
	}
}

func TestHumanSizes(t *testing.T) {
	for n, want := range map[int64]string{0: "0B", 1023: "1023B", 1024: "1.00K", 1536: "1.50K", 941048: "918.99K", 25276059648: "23.54G"} {
		if got := human(n); got != want {
			t.Errorf("human(%d) = %s, want %s", n, got, want)
		}
	}
}

// TestAMonitorThatDoesNotReadHoldsNoStop: the Server ends in order although a
// monitor has left much unread. The check is in the Close that ends the test.
func TestAMonitorThatDoesNotReadHoldsNoStop(t *testing.T) {
	srv := serve(t, nil)
	conn, monitor := dial(t, srv.addr), dial(t, srv.addr)
	expect(t, monitor, "MONITOR\r\n", "+OK\r\n")
	set := "SET a " + strings.Repeat("x", 60_000) + "\r\n"
	for range 400 { // more than the buffers of two sockets hold
		expect(t, conn, set, "+OK\r\n")
	}
	if n := srv.Stats().MonitorClients; n != 1 {
		t.Fatalf("%d clients monitor", n)
	}
}
