package session

import (
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tiergrid/tiergrid/node/resp"
)

// repeated is n bytes.
func repeated(b byte, n int64) io.Reader { return io.LimitReader(stream(b), n) }

type stream byte

func (s stream) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(s)
	}
	return len(p), nil
}

// held is what the heap and the pooled buffers hold after a collection.
func held() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	_, pooled := resp.BuffersInUse()
	return int64(m.HeapAlloc) + pooled
}

// What no client should send gets a protocol error and a close, or an error
// reply, before login and after it; memory stays flat, other clients are served.
func TestBadInput(t *testing.T) {
	people := withPeople(t)
	const login = "AUTH developer developer\r\n"
	const tooLong = "-ERR Protocol error: too big inline request\r\n"
	for _, c := range []struct {
		name, login string
		input       io.Reader
		want        string // "" for a command that is never complete
	}{
		{"a bulk near 2^63", "", strings.NewReader("*1\r\n$9223372036854775807\r\n"), "-ERR Protocol error: invalid bulk length\r\n"},
		{"a bulk of the most allowed", "", strings.NewReader("*1\r\n$536870912\r\n"), "-ERR Protocol error: unauthenticated bulk length\r\n"},
		{"a bulk near 2^63", login, strings.NewReader("*1\r\n$9223372036854775807\r\n"), "-ERR Protocol error: invalid bulk length\r\n"},
		{"a bulk past 2^63", login, strings.NewReader("*1\r\n$9223372036854775808\r\n"), "-ERR Protocol error: invalid bulk length\r\n"},
		{"a bulk near 2^31", login, strings.NewReader("*1\r\n$2147483648\r\n"), "-ERR Protocol error: invalid bulk length\r\n"},
		{"a bulk of the most allowed that does not come", login, strings.NewReader("*1\r\n$536870912\r\nabc"), ""},
		{"arguments near 2^63", "", strings.NewReader("*9223372036854775807\r\n"), "-ERR Protocol error: invalid multibulk length\r\n"},
		{"arguments near 2^63", login, strings.NewReader("*9223372036854775807\r\n"), "-ERR Protocol error: invalid multibulk length\r\n"},
		{"a thousand million arguments", "", strings.NewReader("*1000000000\r\n"), "-ERR Protocol error: unauthenticated multibulk length\r\n"},
		{"a thousand million arguments", login, strings.NewReader("*1000000000\r\n"), "-ERR Protocol error: invalid multibulk length\r\n"},
		{"a million arguments that do not come", login, strings.NewReader("*1000000\r\n$1\r\na\r\n"), ""},
		{"100 MB without a line end", "", repeated('a', 100<<20), tooLong},
		{"100 MB without a line end", login, repeated('a', 100<<20), tooLong},
		{"100 MB of digits", login, io.MultiReader(strings.NewReader("*"), repeated('1', 100<<20)), "-ERR Protocol error: too big mbulk count string\r\n"},
		{"10 MB of empty lines", login, repeated('\n', 10<<20), ""},
	} {
		t.Run(c.name+map[bool]string{true: " before login", false: " after login"}[c.login == ""], func(t *testing.T) {
			srv := serve(t, func(cfg *Config) { cfg.Auth = people })
			other := dial(t, srv.addr)
			expect(t, other, login, "+OK\r\n")
			before := held()
			conn := dial(t, srv.addr)
			if c.login != "" {
				expect(t, conn, c.login, "+OK\r\n")
			}
			reply := make(chan string, 1)
			go func() {
				b, _ := io.ReadAll(conn) // the connection may be reset after the reply
				conn.Close()
				reply <- string(b)
			}()
			_, err := io.Copy(conn, c.input)
			expect(t, other, "PING\r\n", "+PONG\r\n")
			if grown := held() - before; grown > 4<<20 {
				t.Errorf("memory grew by %d bytes", grown)
			}
			if c.want == "" {
				if err != nil {
					t.Errorf("sending failed: %v", err)
				}
				conn.(*net.TCPConn).CloseWrite()
			}
			if got := <-reply; got != c.want {
				t.Errorf("answered %q, want %q", got, c.want)
			}
			eventually(t, "the end of the session", func() bool { return srv.count() == 1 })
			expect(t, other, "SET a 1\r\nGET a\r\n", "+OK\r\n$1\r\n1\r\n")
		})
	}
}

// A command that comes byte by byte is read as any other.
func TestOneByteAtATime(t *testing.T) {
	const size = 400_000
	srv := serve(t, nil)
	conn, other := dial(t, srv.addr), dial(t, srv.addr)
	conn.SetDeadline(time.Now().Add(time.Minute))
	packet := resp.AppendCommand(nil, "SET", "big", strings.Repeat("x", size))
	before := held()
	for i := range packet {
		if _, err := conn.Write(packet[i : i+1]); err != nil {
			t.Fatal(err)
		}
		if i%100_000 == 0 {
			expect(t, other, "PING\r\n", "+PONG\r\n")
		}
	}
	expect(t, conn, "", "+OK\r\n")
	if grown := held() - before; grown > 4*size {
		t.Errorf("memory grew by %d bytes", grown)
	}
}

// A pipeline whose replies are far more than may wait for a client is answered in
// full to one that reads.
func TestLargePipelineOfReplies(t *testing.T) {
	const size, n = 1 << 20, 300
	srv := serve(t, nil)
	conn := dial(t, srv.addr)
	expect(t, conn, string(resp.AppendCommand(nil, "SET", "big", strings.Repeat("x", size))), "+OK\r\n")
	before := held()
	if _, err := io.WriteString(conn, strings.Repeat("GET big\r\n", n)+"QUIT\r\n"); err != nil {
		t.Fatal(err)
	}
	most := int64(0)
	got, buf := int64(0), make([]byte, 1<<20)
	for {
		k, err := conn.Read(buf)
		got += int64(k)
		if got%(32<<20) < int64(k) {
			most = max(most, held()-before)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if want := int64(n*(size+len("$1048576\r\n\r\n")) + len("+OK\r\n")); got != want {
		t.Errorf("got %d bytes, want %d", got, want)
	}
	if most > 16<<20 {
		t.Errorf("%d bytes waited for the client", most)
	}
}
