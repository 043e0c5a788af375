package exec

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/tiergrid/tiergrid/node/resp"
)

// redis is the redis-server that replies are compared with. The first test that
// asks for it starts it, TestMain stops it.
var redis struct {
	once sync.Once
	addr string
	err  error
	stop func()
}

func TestMain(m *testing.M) {
	code := m.Run()
	if redis.stop != nil {
		redis.stop()
	}
	os.Exit(code)
}

// peer is a connection to redis-server.
type peer struct {
	t    testing.TB
	conn net.Conn
	src  *bufio.Reader
	read bytes.Buffer // everything src has taken off conn since the last reply
}

// newPeer connects to an empty redis-server.
func newPeer(t testing.TB, proto int) *peer {
	t.Helper()
	redis.once.Do(startRedis)
	if redis.err != nil {
		t.Fatalf("this test needs redis-server: %v", redis.err)
	}
	conn, err := net.Dial("tcp", redis.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	p := &peer{t: t, conn: conn}
	p.src = bufio.NewReader(io.TeeReader(conn, &p.read))
	p.do("hello", strconv.Itoa(proto))
	p.do("flushall")
	return p
}

// do runs a command and returns its reply.
func (p *peer) do(text ...string) []byte {
	p.t.Helper()
	p.read.Reset()
	if _, err := p.conn.Write(resp.AppendCommand(nil, text...)); err != nil {
		p.t.Fatalf("%q: %v", text, err)
	}
	if _, err := resp.ReadReply(p.src, resp.ReplyLimits{}); err != nil {
		p.t.Fatalf("reply to %q: %v", text, err)
	}
	return bytes.Clone(p.read.Bytes())
}

func startRedis() {
	port, err := freePort()
	if err != nil {
		redis.err = err
		return
	}
	dir, err := os.MkdirTemp("", "exec-redis")
	if err != nil {
		redis.err = err
		return
	}
	server := exec.Command("redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", dir)
	if redis.err = server.Start(); redis.err != nil {
		os.RemoveAll(dir)
		return
	}
	redis.stop = func() {
		_ = server.Process.Kill() // nothing of it is kept
		_ = server.Wait()
		os.RemoveAll(dir)
	}
	redis.addr = net.JoinHostPort("127.0.0.1", port)
	redis.err = waitFor(redis.addr)
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

func waitFor(addr string) error {
	for range 100 {
		if conn, err := net.Dial("tcp", addr); err == nil {
			return conn.Close()
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("redis-server does not answer on %s", addr)
}
