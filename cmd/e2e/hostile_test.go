package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// different holds what the server answers otherwise than Redis, after login.
var different = map[string]string{
	// More than 2^20 arguments are refused at once, and not when memory is short.
	"*2147483647\r\n": `"-ERR Protocol error: invalid multibulk length\r\n" and closes`,
	"*1000000000\r\n": `"-ERR Protocol error: invalid multibulk length\r\n" and closes`,
	"*1048577\r\n":    `"-ERR Protocol error: invalid multibulk length\r\n" and closes`,
}

// TestBadInputAsRedis sends what is not RESP, or promises too much, to the server
// and to a real redis-server, before and after login: both answer the same and
// close the connection, or both wait for more.
func TestBadInputAsRedis(t *testing.T) {
	t.Parallel()
	s := guardedServer(t)
	peer := redisServer(t)
	copyUsers(t, s, peer)
	for _, input := range []string{
		"*2147483647\r\n", "*2147483648\r\n", "*4294967297\r\n", "*1000000000\r\n", "*1048577\r\n",
		"*9223372036854775807\r\n", "*9223372036854775808\r\n", "*-9223372036854775808\r\n", "*-1\r\n", "*0\r\n",
		"*99999999999999999999999999\r\n", "*+1\r\n", "* 1\r\n", "*1 \r\n", "*01\r\n", "*\r\n", "*x\r\n", "*1\n$4\nPING\n",
		"*1\r\n$2147483647\r\n", "*1\r\n$2147483648\r\n", "*1\r\n$536870912\r\n", "*1\r\n$536870913\r\n", "*1\r\n$16385\r\n",
		"*1\r\n$9223372036854775807\r\n", "*1\r\n$9223372036854775808\r\n", "*1\r\n$-1\r\n", "*1\r\n$-9223372036854775808\r\n",
		"*1\r\n$\r\n", "*1\r\n$x\r\n", "*1\r\n:4\r\n", "*1\r\nPING\r\n", "*1\r\n\r\n", "*1\r\n*1\r\n", "*11\r\n",
		"*1\r\n$4\r\nPINGxx*1\r\n$4\r\nPING\r\n",
		"*3\r\n$3\r\nGET\r\n$2147483647\r\n", "*2\r\n$3\r\nGET\r\n$-2147483649\r\n",
		"\"unbalanced\r\n", "'unbalanced\r\n", "GET \"a\"b\r\n", "\r\n\r\n\n", "nosuch\r\n", "GET\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\n\r\nSET a b\r\n", "Host: x\r\n", "post\r\n",
		"*" + strings.Repeat("1", 70_000), "*1\r\n$" + strings.Repeat("1", 70_000), strings.Repeat("x", 70_000),
		"PING\r\n*1\r\n$-5\r\nPING\r\n",
	} {
		name := input[:min(len(input), 40)]
		for _, login := range []string{"", "AUTH developer developer\r\n"} {
			t.Run(strconv.Quote(name)+map[bool]string{true: " after login"}[login != ""], func(t *testing.T) {
				ours, theirs := converse(t, s.resp, login, input), converse(t, peer, login, input)
				if known, found := different[input]; found && login != "" {
					theirs = known
				}
				if ours != theirs {
					t.Errorf("answered\n\t%s\nRedis answers\n\t%s", ours, theirs)
				}
			})
		}
	}
	s.alive(t)
}

// converse sends input, after a login where there is one, and returns what comes
// and how it ends.
func converse(t *testing.T, addr, login, input string) string {
	t.Helper()
	conn := dial(t, addr)
	defer conn.Close()
	if login != "" {
		conn.send(login)
		conn.line()
	}
	conn.send(input)
	var got bytes.Buffer
	for {
		if err := conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		_, err := io.CopyN(&got, conn.in, 1)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return fmt.Sprintf("%q and waits", got.String())
		case err != nil:
			return fmt.Sprintf("%q and closes", got.String())
		}
	}
}

// attack is something that clients do to a server, and how much memory it may
// take while they do it.
type attack struct {
	name   string
	growth int64
	run    func(t *testing.T, s *server)
}

var attacks = []attack{
	{"100 MB without a line end", 64 << 20, func(t *testing.T, s *server) {
		endless(t, s, "", "A", "-ERR Protocol error: too big inline request")
		endless(t, s, loginDeveloper, "A", "-ERR Protocol error: too big inline request")
		endless(t, s, loginDeveloper, "*1\r\n$", "-ERR Protocol error: too big bulk count string")
	}},
	{"promises that are not kept", 64 << 20, func(t *testing.T, s *server) {
		for _, promise := range []string{
			"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$536870912\r\n", "*1000000000\r\n$4\r\nMGET\r\n", "*2\r\n$3\r\nGET\r\n$536870912\r\nxxx",
		} {
			for range 100 {
				dial(t, s.resp).send(loginDeveloper + promise)
			}
		}
	}},
	{"connections that end in the middle", 64 << 20, func(t *testing.T, s *server) {
		for i := range 300 {
			conn := dial(t, s.resp)
			conn.send(loginDeveloper + "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$100000\r\n" + strings.Repeat("x", 300*i))
			if i%2 == 0 { // a reset in place of an end
				if err := conn.Conn.(*net.TCPConn).SetLinger(0); err != nil {
					t.Fatal(err)
				}
			}
			conn.Close()
		}
	}},
	{"clients that do not read", 192 << 20, notReading},
	{"one byte at a time", 64 << 20, byteByByte},
}

const loginDeveloper = "AUTH developer developer\r\n"

// endless sends 100 MB after a beginning, and wants to be told why not.
func endless(t *testing.T, s *server, login, begin, want string) {
	t.Helper()
	conn := dial(t, s.resp)
	if login != "" {
		conn.send(login)
		conn.line()
	}
	conn.send(begin)
	var wg sync.WaitGroup
	wg.Go(func() {
		block := bytes.Repeat([]byte("1"), 1<<20)
		for range 100 {
			if _, err := conn.Write(block); err != nil {
				return // as it should be
			}
		}
	})
	got, err := conn.in.ReadString('\n')
	if err != nil || got != want+"\r\n" {
		t.Errorf("%q…: answered %q, %v", login+begin, got, err)
	}
	wg.Wait()
	if rest, err := io.Copy(io.Discard, conn.in); rest > 0 {
		t.Errorf("%q…: %d bytes follow the error, %v", login+begin, rest, err)
	}
}

// notReading asks for far more than fits anywhere and reads nothing of it.
func notReading(t *testing.T, s *server) {
	const clients = 20
	asks := strings.Repeat("GET megabyte\r\n", 500)
	conns := make([]*wire, clients)
	for i := range conns {
		conns[i] = dial(t, s.resp)
		conns[i].send(loginDeveloper + asks)
	}
	eventually(t, "all clients that do not read to be closed", func() bool {
		return infoField(t, s, "client_output_buffer_limit_disconnections") == clients
	})
}

// infoField is a number that INFO tells.
func infoField(t *testing.T, s *server, name string) int64 {
	t.Helper()
	info, err := s.clientAs("developer", "developer").Info(t.Context()).Result()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(info) {
		if value, found := strings.CutPrefix(strings.TrimSpace(line), name+":"); found {
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("INFO has no %s", name)
	return 0
}

// byteByByte writes more than a megabyte in packets of one byte, as one command
// after login and as many before it.
func byteByByte(t *testing.T, s *server) {
	const size = 1_100_000
	value := strings.Repeat("v", size)
	one := dial(t, s.resp)
	one.send(loginDeveloper)
	one.line()
	trickle(t, one, "*3\r\n$3\r\nSET\r\n$7\r\ntrickle\r\n$"+strconv.Itoa(size)+"\r\n"+value+"\r\n")
	if got := one.line(); got != "+OK" {
		t.Errorf("SET byte by byte: %q", got)
	}
	if got := one.ask("STRLEN trickle"); got != ":"+strconv.Itoa(size) {
		t.Errorf("STRLEN: %q", got)
	}
	many := dial(t, s.resp)
	trickle(t, many, strings.Repeat("GET k\r\n", 20_000))
	for range 20_000 {
		if got := many.line(); got != "-NOAUTH Authentication required." {
			t.Fatalf("before login: %q", got)
		}
	}
}

func trickle(t *testing.T, conn *wire, text string) {
	t.Helper()
	for i := range len(text) {
		if _, err := conn.Write([]byte{text[i]}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestHostileClients attacks a server while another client works with it: the
// process lives, its memory stays flat, and the other client notices nothing.
func TestHostileClients(t *testing.T) {
	t.Parallel()
	s := newServer(t, "--config", writeFile(t, "tiergrid.yaml", "resp: {write-timeout: 2s}\n"))
	for name, group := range roles {
		s.createUser(name, name, group)
	}
	s.start()
	warmUp(t, s)
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			other, watch := startWitness(t, s), startWatch(t, s)
			a.run(t, s)
			other.end(t)
			if growth := watch.end(); growth > a.growth {
				t.Errorf("the process grew by %d MiB, allowed are %d", growth>>20, a.growth>>20)
			} else {
				t.Logf("the process grew by %d MiB", growth>>20)
			}
			s.alive(t)
		})
	}
	if panics := infoField(t, s, "failed_sessions"); panics != 0 {
		t.Errorf("%d sessions failed:\n%s", panics, s.stderr)
	}
}

// warmUp fills the memory tier, so that what is watched later is not its growth.
func warmUp(t *testing.T, s *server) {
	t.Helper()
	ctx, c := t.Context(), s.clientAs("developer", "developer")
	value := content("warm", 1, 50_000)
	for range 40 {
		if _, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i := range 50 {
				p.Set(ctx, fmt.Sprint("warm:", i), value, 0)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Set(ctx, "megabyte", content("megabyte", 1, 1<<20), 0).Err(); err != nil {
		t.Fatal(err)
	}
}

// witness is a client that works all the time.
type witness struct {
	wg   sync.WaitGroup
	stop atomic.Bool
	n    int
	err  error
	slow time.Duration // the longest that a command took
}

func startWitness(t *testing.T, s *server) *witness {
	t.Helper()
	w, c := &witness{}, s.clientAs("developer", "developer")
	ctx := t.Context()
	w.wg.Go(func() {
		for !w.stop.Load() && w.err == nil {
			begun := time.Now()
			w.err = w.work(ctx, c)
			w.slow = max(w.slow, time.Since(begun))
			w.n++
			time.Sleep(5 * time.Millisecond)
		}
	})
	return w
}

func (w *witness) work(ctx context.Context, c *redis.Client) error {
	if err := c.Set(ctx, "witness", w.n, 0).Err(); err != nil {
		return err
	}
	got, err := c.Get(ctx, "witness").Int()
	if err == nil && got != w.n {
		err = fmt.Errorf("read %d, written was %d", got, w.n)
	}
	return err
}

func (w *witness) end(t *testing.T) {
	t.Helper()
	w.stop.Store(true)
	w.wg.Wait()
	if w.err != nil || w.n == 0 || w.slow > 5*time.Second {
		t.Errorf("another client: %d rounds, the slowest took %v, %v", w.n, w.slow, w.err)
	}
}

// watch looks at the memory of a process.
type watch struct {
	wg          sync.WaitGroup
	stop        atomic.Bool
	first, most int64
}

func startWatch(t *testing.T, s *server) *watch {
	t.Helper()
	w := &watch{first: s.residentBytes()}
	w.wg.Go(func() {
		for !w.stop.Load() {
			if now, err := residentBytes(s.cmd.Process.Pid); err == nil {
				w.most = max(w.most, now)
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	return w
}

// end returns by how much the process has grown at most.
func (w *watch) end() int64 {
	w.stop.Store(true)
	w.wg.Wait()
	return w.most - w.first
}
