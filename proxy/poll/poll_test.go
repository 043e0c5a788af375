package poll

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// timeout is for what should take no time at all.
const timeout = 20 * time.Second

// start opens a Poller that is closed with the test.
func start(t *testing.T, config Config) *Poller {
	t.Helper()
	p, err := Open(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		eventually(t, "the end of all connections", func() bool { return p.Counts().Conns.Load() == 0 })
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if err := p.Close(); err != ErrClosed {
			t.Errorf("a second Close: %v", err)
		}
	})
	return p
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(timeout); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited too long for: " + what)
		}
	}
}

// pair is the two ends of a connection; the second is watched, and owned by the test.
func pair(t *testing.T, p *Poller, network string) (net.Conn, *Conn) {
	t.Helper()
	address := "127.0.0.1:0"
	if network == "unix" {
		address = filepath.Join(t.TempDir(), "s")
	}
	ln, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	client, err := net.Dial(network, ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	accepted, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	c, err := p.Add(accepted)
	if err != nil {
		t.Fatal(err)
	}
	_ = client.SetDeadline(time.Now().Add(timeout))
	return client, c
}

// idle gives a connection to the Poller. Nothing was sent yet.
func idle(t *testing.T, c *Conn) {
	t.Helper()
	if _, err := c.TryRead(make([]byte, 1)); err != ErrWouldBlock {
		t.Fatalf("TryRead of nothing: %v", err)
	}
	if !c.Release() {
		t.Fatal("there is more to read than nothing")
	}
}

// echo answers all that has come, and ends the connection with its input.
func echo(c *Conn) (ended bool) {
	var buf [1000]byte
	for {
		n, err := c.TryRead(buf[:])
		if n > 0 {
			if _, err := c.Write(buf[:n]); err != nil {
				c.End()
				return true
			}
		}
		switch {
		case err == ErrWouldBlock:
			return false
		case err != nil:
			c.End()
			return true
		}
	}
}

// TestEcho: nothing that is sent is missed or taken twice, by which goroutine soever
// it is read, in which pieces soever it comes.
func TestEcho(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		t.Run(network, func(t *testing.T) {
			var others sync.WaitGroup
			t.Cleanup(others.Wait) // when nobody starts any more
			var turns atomic.Int64
			p := start(t, Config{Serve: func(turn *Turn) {
				for c := turn.Next(); c != nil; c = turn.Next() {
					if c.User != &turns {
						t.Error("a connection has lost its user")
					}
					if n := turns.Add(1); n%3 == 0 {
						turn.Yield = true
						others.Go(func() { // goes on until there is nothing more
							for !echo(c) && !c.Release() {
							}
						})
						continue
					} else if n%7 == 0 {
						turn.Delegate()
					}
					if !echo(c) {
						turn.Release(c)
					}
				}
				turn.Work += turn.Len * int(turns.Load()%40)
			}})
			var clients sync.WaitGroup
			for i := range 20 {
				client, c := pair(t, p, network)
				c.User = &turns
				idle(t, c)
				clients.Go(func() { talk(t, client, rand.New(rand.NewPCG(1, uint64(i)))) })
			}
			clients.Wait()
		})
	}
}

// talk sends random bytes in random pieces and expects them back.
func talk(t *testing.T, client net.Conn, random *rand.Rand) {
	defer client.Close()
	for range 300 {
		sent := make([]byte, 1+random.IntN(3000))
		for i := range sent {
			sent[i] = byte(random.Uint32())
		}
		go func() {
			for rest := sent; len(rest) > 0; {
				n := min(len(rest), 1+len(rest)/2)
				if _, err := client.Write(rest[:n]); err != nil {
					return
				}
				rest = rest[n:]
			}
		}()
		got := make([]byte, len(sent))
		if _, err := io.ReadFull(client, got); err != nil {
			t.Errorf("the echo did not come: %v", err)
			return
		}
		if !bytes.Equal(got, sent) {
			t.Error("the echo is another")
			return
		}
	}
}

// TestEnds: the end of a client is noticed, whenever it comes.
func TestEnds(t *testing.T) {
	errs := make(chan error, 1)
	release := make(chan struct{}, 1)
	p := start(t, Config{Serve: func(turn *Turn) {
		c := turn.Next()
		got, err := 0, error(nil)
		for err == nil {
			var n int
			n, err = c.TryRead(make([]byte, 10))
			got += n
		}
		if err == ErrWouldBlock {
			if got > 0 && c.User == "slow" {
				<-release // the end comes while the connection is owned
			}
			turn.Release(c)
			return
		}
		c.End()
		errs <- err
	}})
	reset := func(client net.Conn) { _ = client.(*net.TCPConn).SetLinger(0) }
	for name, test := range map[string]struct {
		end  func(client net.Conn, c *Conn)
		want func(error) bool
	}{
		"closed": {func(client net.Conn, _ *Conn) { client.Close() }, func(err error) bool { return err == io.EOF }},
		"half":   {func(client net.Conn, _ *Conn) { client.(*net.TCPConn).CloseWrite() }, func(err error) bool { return err == io.EOF }},
		"with the last bytes": {func(client net.Conn, _ *Conn) {
			io.WriteString(client, "0123456789")
			client.(*net.TCPConn).CloseWrite()
		}, func(err error) bool { return err == io.EOF }},
		"while owned": {func(client net.Conn, c *Conn) {
			c.User = "slow"
			idle(t, c)
			io.WriteString(client, "0123")
			time.Sleep(10 * time.Millisecond)
			client.Close()
			time.Sleep(10 * time.Millisecond)
			release <- struct{}{}
		}, func(err error) bool { return err == io.EOF }},
		"reset": {func(client net.Conn, _ *Conn) {
			reset(client)
			client.Close()
		}, func(err error) bool { return err != io.EOF }},
		"cut off": {func(_ net.Conn, c *Conn) { c.Close() }, func(err error) bool { return errors.Is(err, net.ErrClosed) }},
		"deadline": {func(_ net.Conn, c *Conn) {
			c.SetReadDeadline(time.Unix(1, 0))
			if !c.Claim() {
				t.Error("an idle connection has an owner")
			}
			_, err := c.TryRead(make([]byte, 10))
			c.End()
			errs <- err
		}, func(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }},
	} {
		t.Run(name, func(t *testing.T) {
			client, c := pair(t, p, "tcp")
			if name != "while owned" {
				idle(t, c)
			}
			test.end(client, c)
			select {
			case err := <-errs:
				if !test.want(err) {
					t.Errorf("ended by %v", err)
				}
			case <-time.After(timeout):
				t.Fatal("nobody has noticed")
			}
		})
	}
}

// TestWaiting: Read and Write wait, until there is something, the deadline, or the end.
func TestWaiting(t *testing.T) {
	p := start(t, Config{Serve: func(*Turn) {}})
	client, c := pair(t, p, "tcp")
	defer c.End()
	read := func() (n int, err error) { return c.Read(make([]byte, 100)) }
	later := func(f func()) { time.AfterFunc(20*time.Millisecond, f) }

	later(func() { io.WriteString(client, "hello") })
	if n, err := read(); n != 5 || err != nil {
		t.Errorf("Read: %d, %v", n, err)
	}
	later(func() { c.SetReadDeadline(time.Now().Add(time.Millisecond)) })
	if _, err := read(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Read with a deadline set meanwhile: %v", err)
	}
	c.SetReadDeadline(time.Time{})

	large := bytes.Repeat([]byte("0123456789"), 2_000_000)
	pieces := [][]byte{nil, large[:7], {}, large[7:10_000_000], large[10_000_000:]}
	received := make(chan []byte, 1)
	later(func() {
		b := make([]byte, 2*len(large))
		io.ReadFull(client, b)
		received <- b
	})
	if n, err := c.Write(large); n != len(large) || err != nil {
		t.Errorf("Write: %d, %v", n, err)
	}
	if n, err := c.WriteBuffers(pieces); n != int64(len(large)) || err != nil {
		t.Errorf("WriteBuffers: %d, %v", n, err)
	}
	if got := <-received; !bytes.Equal(got[:len(large)], large) || !bytes.Equal(got[len(large):], large) {
		t.Error("what was written has not come")
	}

	c.SetWriteDeadline(time.Now().Add(50 * time.Millisecond))
	n, err := c.Write(large)
	if n == 0 || n == len(large) || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Write to who does not read: %d of %d, %v", n, len(large), err)
	}
	c.SetWriteDeadline(time.Time{})
	later(func() { c.Close() })
	if _, err := c.Write(large); err == nil {
		t.Error("Write has ended well on a connection that was cut off")
	}
	if _, err := read(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Read after Close: %v", err)
	}
}

// TestTryWrite takes what the socket takes and says how much that was.
func TestTryWrite(t *testing.T) {
	p := start(t, Config{Serve: func(*Turn) {}})
	client, c := pair(t, p, "tcp")
	defer c.End()
	large := bytes.Repeat([]byte("0123456789"), 2_000_000)
	written := 0
	for {
		n, err := c.TryWriteBuffers([][]byte{large[written : written+100_000], nil, large[written+100_000:]})
		if err != nil {
			t.Fatal(err)
		}
		if written += n; n == 0 {
			break
		}
	}
	if written == 0 || written >= len(large) {
		t.Fatalf("%d bytes were taken", written)
	}
	if n, err := c.TryWrite(large[written:]); n != 0 || err != nil {
		t.Errorf("TryWrite to a full socket: %d, %v", n, err)
	}
	got := make([]byte, written)
	if _, err := io.ReadFull(client, got); err != nil || !bytes.Equal(got, large[:written]) {
		t.Errorf("what was taken has not come: %v", err)
	}
}

// TestAStuckTurnStopsNobody: while one turn waits, others are served: those that come
// later, those of the same turn, and those that it would have served again. That holds
// whether the turn has given the leadership away or not, and while the worker that got
// it waits for its sockets.
func TestAStuckTurnStopsNobody(t *testing.T) {
	t.Run("leading", func(t *testing.T) { testStuckTurn(t, false) })
	t.Run("delegated", func(t *testing.T) { testStuckTurn(t, true) })
}

func testStuckTurn(t *testing.T, delegates bool) {
	held := map[any]chan struct{}{"one": make(chan struct{}), "two": make(chan struct{}), "stuck": make(chan struct{})}
	turns := make(chan []any, 100) // whom each turn has served
	p := start(t, Config{Workers: 2, Serve: func(turn *Turn) {
		var served []any
		for c := turn.Next(); c != nil; c = turn.Next() {
			who := c.User
			served = append(served, who)
			if who == "again" {
				c.User = "second time"
				turn.Again(c)
				continue
			}
			if who == "stuck" {
				turns <- served
				if delegates {
					turn.Delegate()
				}
			}
			if hold := held[who]; hold != nil {
				<-hold
			}
			if !echo(c) {
				turn.Release(c)
			}
		}
	}})
	clients := make(map[string]net.Conn)
	for _, name := range []string{"one", "two", "again", "stuck", "behind", "later"} {
		client, c := pair(t, p, "tcp")
		clients[name], c.User = client, name
		idle(t, c)
	}
	ask := func(name string) { io.WriteString(clients[name], "x") }
	answered := func(name string) {
		t.Helper()
		if _, err := io.ReadFull(clients[name], make([]byte, 1)); err != nil {
			t.Fatalf("%s waits: %v", name, err)
		}
	}
	// Both workers are held until three connections have something for one turn.
	for i, name := range []string{"one", "two"} {
		ask(name)
		eventually(t, "a turn", func() bool { return p.Counts().Turns.Load() == int64(i+1) })
	}
	for _, name := range []string{"again", "stuck", "behind"} {
		ask(name)
	}
	close(held["one"])
	answered("one")
	if served := <-turns; !slices.Equal(served, []any{"again", "stuck"}) {
		t.Fatalf("the turn has served %v", served)
	}
	late := p.Counts().Late.Load()
	close(held["two"])
	for _, name := range []string{"two", "behind", "again"} {
		answered(name)
	}
	for range 100 {
		ask("later")
		answered("later")
	}
	if p.Counts().Late.Load() == late {
		t.Error("nothing says that a turn took too long")
	}
	close(held["stuck"])
	answered("stuck")
	for _, client := range clients {
		client.Close()
	}
}

// TestWhoHasMoreStopsNobody: connections that come again at once, more of them than
// there are workers, do not keep others from being served.
func TestWhoHasMoreStopsNobody(t *testing.T) {
	var over atomic.Bool
	p := start(t, Config{Workers: 2, Serve: func(turn *Turn) {
		for c := turn.Next(); c != nil; c = turn.Next() {
			switch {
			case c.User == "busy" && !over.Load():
				turn.Delegate()
				turn.Again(c)
			case !echo(c):
				turn.Release(c)
			}
		}
	}})
	for range 6 {
		client, c := pair(t, p, "tcp")
		c.User = "busy"
		idle(t, c)
		io.WriteString(client, "x")
		defer client.Close()
	}
	client, c := pair(t, p, "tcp")
	idle(t, c)
	for range 100 {
		io.WriteString(client, "y")
		if _, err := io.ReadFull(client, make([]byte, 1)); err != nil {
			t.Fatalf("nobody serves the others: %v", err)
		}
	}
	client.Close()
	over.Store(true)
}

// TestStaleEvents: an event of a connection that has ended is not taken for one of the
// next with the same number.
func TestStaleEvents(t *testing.T) {
	var conns table
	first, next := &Conn{fd: 3}, &Conn{fd: 3}
	conns.add(first)
	conns.remove(first)
	conns.add(next)
	conns.remove(first) // comes late
	if got := conns.find(3, first.generation); got != nil {
		t.Error("an old event finds a connection")
	}
	if got := conns.find(3, next.generation); got != next {
		t.Error("a new event finds nothing")
	}
	for _, fd := range []int{-1, 4, pageConns, maxConns} {
		if conns.find(fd, next.generation) != nil {
			t.Errorf("there is a connection %d", fd)
		}
	}
}

// TestClaims: a connection has one owner, and what happens meanwhile is not lost.
func TestClaims(t *testing.T) {
	p := start(t, Config{Serve: func(*Turn) { t.Error("an owned connection was served") }})
	client, c := pair(t, p, "tcp")
	defer c.End()
	if c.Claim() {
		t.Error("an owned connection was claimed")
	}
	if c.Release() {
		t.Error("released although nobody has read since it was claimed")
	}
	buf := make([]byte, 1)
	if _, err := c.TryRead(buf); err != ErrWouldBlock {
		t.Error(err)
	}
	io.WriteString(client, "abc")
	eventually(t, "the event", func() bool { return c.state.Load()&input != 0 })
	if c.Release() {
		t.Error("released although there is input")
	}
	for range 3 { // one byte a time fills the buffer, so there may be more
		if n, err := c.TryRead(buf); n != 1 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		if c.Release() {
			t.Error("released although there may be more")
		}
	}
	if _, err := c.TryRead(buf); err != ErrWouldBlock {
		t.Error(err)
	}
}

func TestUnsupported(t *testing.T) {
	p := start(t, Config{Serve: func(*Turn) {}})
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	if _, err := p.Add(near); err != ErrUnsupported {
		t.Errorf("Add of a pipe: %v", err)
	}
	if _, err := Open(Config{}); err == nil {
		t.Error("opened without Serve")
	}
}
