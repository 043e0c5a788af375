package users

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tiergrid/tiergrid/node/command"
)

// The tests compare with a real redis-server (Debian's 7.0), which is started by
// the first that asks for it and stopped by TestMain.
var redis struct {
	once sync.Once
	addr string
	err  error
	stop func()
}

type redisConn struct {
	t testing.TB
	c net.Conn
	r *bufio.Reader
}

func dialRedis(t testing.TB) *redisConn {
	t.Helper()
	redis.once.Do(startRedis)
	if redis.err != nil {
		t.Fatalf("this test needs redis-server: %v", redis.err)
	}
	c, err := net.Dial("tcp", redis.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &redisConn{t, c, bufio.NewReader(c)}
}

func startRedis() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		redis.err = err
		return
	}
	redis.addr = l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(redis.addr)
	cmd := exec.Command("redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no")
	if redis.err = cmd.Start(); redis.err != nil {
		return
	}
	redis.stop = func() {
		cmd.Process.Kill()
		cmd.Wait()
	}
	for range 100 {
		c, err := net.Dial("tcp", redis.addr)
		if err == nil {
			c.Close()
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	redis.err = fmt.Errorf("it does not answer on %s", redis.addr)
}

// do returns a status, an error or a bulk string as text.
func (c *redisConn) do(args ...string) string {
	c.t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
	}
	if _, err := io.WriteString(c.c, b.String()); err != nil {
		c.t.Fatal(err)
	}
	line, err := c.r.ReadString('\n')
	if err != nil {
		c.t.Fatal(err)
	}
	line = strings.TrimRight(line, "\r\n")
	if line[0] != '$' {
		return line[1:]
	}
	n, _ := strconv.Atoi(line[1:])
	text := make([]byte, n+2)
	if _, err := io.ReadFull(c.r, text); err != nil {
		c.t.Fatal(err)
	}
	return string(text[:n])
}

// call is a command with as many dummy arguments as it must have.
func call(c *command.Command) []string {
	words := strings.Split(c.Name, "|")
	for len(words) < max(c.Arity, -c.Arity) {
		words = append(words, "1")
	}
	return words
}

func TestRolesAllowWhatRedisAllowsWithTheirRules(t *testing.T) {
	conn := dialRedis(t)
	for _, r := range roles {
		user := "role-" + string(r.role)
		if got := conn.do(append([]string{"ACL", "SETUSER", user, "on", "nopass"}, strings.Fields(r.rules.String())...)...); got != "OK" {
			t.Fatalf("%s: redis-server refuses the rules: %s", r.role, got)
		}
		p, compared := Compile([]string{string(r.role)}), 0
		for _, c := range command.Commands() {
			answer := conn.do(append([]string{"ACL", "DRYRUN", user}, call(c)...)...)
			if strings.Contains(answer, "not found") || strings.Contains(answer, "wrong number") {
				continue // not a command of 7.0, or a container
			}
			compared++
			allowed := answer == "OK" || !strings.Contains(answer, "to run the")
			if got := p.Command(c); got != allowed {
				t.Errorf("%s: %s is %v, redis-server says %q", r.role, c.Name, got, answer)
			}
		}
		if compared < 300 {
			t.Errorf("%s: only %d commands were compared", r.role, compared)
		}
	}
}

// A rule of keys allows the keys that Redis allows by it.
func TestKeyPatternsMatchAsInRedis(t *testing.T) {
	conn := dialRedis(t)
	texts := []string{"", "a", "b", "abc", "aXc", "a*c", "[", "]", "a-c", "-", "^", `\`, "aaab", "foo:bar:baz", "\x00\xff"}
	for i, glob := range []string{
		"", "a", "*", "a**", "a*", "*c", "a*c", "?", "a?c", "???", "[abc]", "[a-c]", "[^a]", "[^a-b]*", "[c-a]", "[]", "[", "[a", "a[",
		`\*`, `a\*c`, `\`, `[\]]`, `[a\-c]`, "[a-]", "*:*:*", "*a*b", "foo:*", "[^", "[a-c", "?*?",
	} {
		user := "glob-" + strconv.Itoa(i)
		if got := conn.do("ACL", "SETUSER", user, "on", "+get", "~"+glob); got != "OK" {
			t.Fatalf("%q: %s", glob, got)
		}
		p := &Permission{}
		if err := p.rule("~" + glob); err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			want := conn.do("ACL", "DRYRUN", user, "GET", text) == "OK"
			if got := p.Key([]byte(text), command.Access); got != want {
				t.Errorf("~%s allows %q: %v, redis-server says %v", glob, text, got, want)
			}
		}
	}
}
