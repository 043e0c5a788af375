package command

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// The tests compare with a real redis-server (Debian's 7.0). One is started by
// the first test that asks for it and stopped by TestMain.
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

// dialRedis returns a connection that speaks the protocol version proto.
func dialRedis(t testing.TB, proto int) *redisConn {
	t.Helper()
	redis.once.Do(startRedis)
	if redis.err != nil {
		t.Fatalf("these tests need redis-server: %v", redis.err)
	}
	nc, err := net.Dial("tcp", redis.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	c := &redisConn{t: t, c: nc, r: bufio.NewReader(nc)}
	if proto == 3 {
		c.do("HELLO", "3")
	}
	return c
}

func startRedis() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		redis.err = err
		return
	}
	redis.addr = l.Addr().String()
	_, port, _ := net.SplitHostPort(redis.addr)
	l.Close()
	dir, err := os.MkdirTemp("", "command-redis-")
	if err != nil {
		redis.err = err
		return
	}
	cmd := exec.Command("redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", dir)
	if redis.err = cmd.Start(); redis.err != nil {
		os.RemoveAll(dir)
		return
	}
	redis.stop = func() {
		cmd.Process.Kill()
		cmd.Wait()
		os.RemoveAll(dir)
	}
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if nc, err := net.Dial("tcp", redis.addr); err == nil {
			nc.Close()
			return
		}
	}
	redis.err = fmt.Errorf("redis-server does not answer on %s", redis.addr)
}

// A redisConn sends calls and reads replies as trees.
type redisConn struct {
	t testing.TB
	c net.Conn
	r *bufio.Reader
}

func (c *redisConn) do(args ...string) *node {
	c.t.Helper()
	var b bytes.Buffer
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
	}
	c.c.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := c.c.Write(b.Bytes()); err != nil {
		c.t.Fatal(err)
	}
	return readNode(c.t, c.r)
}

// A node is one RESP value. kind is its type byte; of a map the children are
// keys and values in turn.
type node struct {
	kind byte
	text string
	sub  []*node
}

func readNode(t testing.TB, r *bufio.Reader) *node {
	t.Helper()
	line, err := r.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	line = strings.TrimSuffix(line, "\r\n")
	n := &node{kind: line[0], text: line[1:]}
	size, _ := strconv.Atoi(n.text)
	switch n.kind {
	case '$':
		if size < 0 {
			break
		}
		b := make([]byte, size+2)
		if _, err := io.ReadFull(r, b); err != nil {
			t.Fatal(err)
		}
		n.text = string(b[:size])
	case '*', '~', '%':
		if n.kind == '%' {
			size *= 2
		}
		n.text = ""
		for range size {
			n.sub = append(n.sub, readNode(t, r))
		}
	}
	return n
}

// String encodes the node again, indented so that differences can be read.
func (n *node) String() string {
	var b strings.Builder
	n.print(&b, "")
	return b.String()
}

func (n *node) print(b *strings.Builder, indent string) {
	fmt.Fprintf(b, "%s%c%d %q\n", indent, n.kind, len(n.sub), n.text)
	for _, s := range n.sub {
		s.print(b, indent+" ")
	}
}

// get returns the value of a key of a map, or of the array a map is in RESP2.
func (n *node) get(key string) *node {
	for i := 0; i+1 < len(n.sub); i += 2 {
		if n.sub[i].text == key {
			return n.sub[i+1]
		}
	}
	return nil
}

// drop removes a key from a map.
func (n *node) drop(key string) {
	for i := 0; i+1 < len(n.sub); i += 2 {
		if n.sub[i].text == key {
			n.sub = slices.Delete(n.sub, i, i+2)
			return
		}
	}
}

// texts returns the children's texts.
func (n *node) texts() []string {
	var out []string
	for _, s := range n.sub {
		out = append(out, s.text)
	}
	return out
}

// sortByName orders children that are arrays by their first element.
func (n *node) sortByName() {
	slices.SortFunc(n.sub, func(a, b *node) int { return strings.Compare(a.sub[0].text, b.sub[0].text) })
}

// respWriter is a plain encoder that satisfies Reply.
type respWriter struct {
	bytes.Buffer
	proto int
}

func (w *respWriter) head(three, two byte, n int) {
	if w.proto == 2 {
		three = two
	}
	fmt.Fprintf(w, "%c%d\r\n", three, n)
}

func (w *respWriter) Array(n int) { w.head('*', '*', n) }
func (w *respWriter) Set(n int)   { w.head('~', '*', n) }
func (w *respWriter) Map(n int) {
	if w.proto == 2 {
		n *= 2
	}
	w.head('%', '*', n)
}
func (w *respWriter) Status(s string)     { fmt.Fprintf(w, "+%s\r\n", s) }
func (w *respWriter) Error(s string)      { fmt.Fprintf(w, "-%s\r\n", s) }
func (w *respWriter) BulkString(s string) { fmt.Fprintf(w, "$%d\r\n%s\r\n", len(s), s) }
func (w *respWriter) Bulk(b []byte)       { w.BulkString(string(b)) }
func (w *respWriter) Int(n int64)         { fmt.Fprintf(w, ":%d\r\n", n) }
func (w *respWriter) Null() {
	if w.proto == 2 {
		w.WriteString("$-1\r\n")
		return
	}
	w.WriteString("_\r\n")
}

// reply encodes what write appends and reads it as a tree; it must be exactly one value.
func reply(t testing.TB, proto int, write func(w Reply)) *node {
	t.Helper()
	w := &respWriter{proto: proto}
	write(w)
	r := bufio.NewReader(&w.Buffer)
	n := readNode(t, r)
	if rest, _ := io.ReadAll(r); len(rest) > 0 {
		t.Fatalf("%q after the reply", rest)
	}
	return n
}

// words makes a call out of strings.
func words(args ...string) [][]byte {
	out := make([][]byte, len(args))
	for i, a := range args {
		out[i] = []byte(a)
	}
	return out
}
