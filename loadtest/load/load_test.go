package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/tiergrid/tiergrid/loadtest/internal/fakeserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestKeyAndValue(t *testing.T) {
	if got := string(AppendKey([]byte("<"), 42)); got != "<key:000000000042" {
		t.Errorf("key %q", got)
	}
	for _, size := range []int{0, 1, 7, 8, 9, 100, 120_000} {
		a, b := ValueOf(1, size), ValueOf(2, size)
		if len(a) != size || !bytes.Equal(a, ValueOf(1, size)) {
			t.Errorf("size %d: %d bytes, or not the same again", size, len(a))
		}
		if size >= 8 && bytes.Equal(a, b) {
			t.Errorf("size %d: two keys have one value", size)
		}
	}
}

func TestFillAndRead(t *testing.T) {
	for _, c := range []FillConfig{
		{Keys: 1, Value: 0},
		{Keys: 5000, Value: 100},
		{Keys: 30, Value: 300_000, Connections: 7},
		{Keys: 2, Value: 10, Connections: 16},
	} {
		server := fakeserver.New()
		c.Addr = fakeserver.Listen(t, server)
		if err := Fill(t.Context(), c); err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		if server.Len() != c.Keys {
			t.Errorf("%+v: %d keys", c, server.Len())
		}
		if err := Read(t.Context(), c, 2*c.Keys+1); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestFillFails(t *testing.T) {
	server := fakeserver.New()
	server.Refuse = "OOM no room"
	addr := fakeserver.Listen(t, server)
	if err := Fill(t.Context(), FillConfig{Addr: addr, Keys: 10_000, Value: 100}); !errors.Is(err, ErrReply) || !strings.Contains(err.Error(), "OOM no room") {
		t.Errorf("error %v", err)
	}
	if err := Fill(t.Context(), FillConfig{Addr: addr}); err == nil {
		t.Error("a fill of no keys is a mistake and was accepted")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Fill(ctx, FillConfig{Addr: addr, Keys: 10}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestReadFindsWrongValue(t *testing.T) {
	server := fakeserver.New()
	cfg := FillConfig{Addr: fakeserver.Listen(t, server), Keys: 3, Value: 20}
	if err := Fill(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	server.Put(string(AppendKey(nil, 1)), string(ValueOf(2, 20)))
	if err := Read(t.Context(), cfg, 200); !errors.Is(err, ErrValue) {
		t.Errorf("error %v", err)
	}
}

func TestIdle(t *testing.T) {
	addr := fakeserver.Listen(t, fakeserver.New())
	idle, err := OpenIdle(t.Context(), addr, 300)
	if err != nil {
		t.Fatal(err)
	}
	if idle.Len() != 300 {
		t.Errorf("%d connections", idle.Len())
	}
	if err := idle.Check(); err != nil {
		t.Error(err)
	}
	idle.conns[17].Close()
	if err := idle.Check(); err == nil || !strings.Contains(err.Error(), "connection 17") {
		t.Errorf("a closed connection was not found: %v", err)
	}
	_ = idle.Close() // one is closed already
	if _, err := OpenIdle(t.Context(), "127.0.0.1:1", 10); err == nil {
		t.Error("connected to nobody")
	}
	if _, err := OpenIdle(t.Context(), addr, 1<<40); err == nil || !strings.Contains(err.Error(), "ulimit") {
		t.Errorf("error %v", err)
	}
}

func TestSource(t *testing.T) {
	for _, c := range []struct {
		addr string
		i    int
		want string
	}{
		{"127.0.0.1:1", 0, "127.0.0.1:0"},
		{"127.0.0.1:1", perSource, "127.0.0.2:0"},
		{"127.0.0.1:1", 3*perSource - 1, "127.0.0.3:0"},
		{"10.0.0.1:1", 0, ""},
		{"localhost:1", 0, ""},
		{"[::1]:1", 0, ""},
		{"nonsense", 0, ""},
	} {
		got := ""
		if a := source(c.addr, c.i); a != nil {
			got = a.String()
		}
		if got != c.want {
			t.Errorf("source(%q, %d) = %q, want %q", c.addr, c.i, got, c.want)
		}
	}
}

func replyOf(text string) (string, error) {
	return (&Conn{in: bufio.NewReader(strings.NewReader(text))}).reply()
}

func TestReply(t *testing.T) {
	for in, want := range map[string]string{
		"+OK\r\n": "OK", ":12\r\n": "12", "$3\r\na\rb\r\n": "a\rb", "$0\r\n\r\n": "", "$-1\r\n": "",
	} {
		if got, err := replyOf(in); err != nil || got != want {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "+OK", "+OK\n", "\r\n", "*1\r\n", "$x\r\n", "$-2\r\n", "$9999999999\r\n", "$3\r\nab", "$1\r\nabc\r\n"} {
		if got, err := replyOf(in); err == nil {
			t.Errorf("%q was accepted as %q", in, got)
		}
	}
	if _, err := replyOf("-ERR no\r\n"); !errors.Is(err, ErrReply) || !strings.HasSuffix(err.Error(), "ERR no") {
		t.Errorf("error %v", err)
	}
}

func FuzzReply(f *testing.F) {
	for _, s := range []string{"+OK\r\n", "$3\r\nabc\r\n", "-ERR\r\n", "$536870912\r\n", "$-1\r\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		if got, err := replyOf(in); err != nil && got != "" || len(got) > len(in) {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	})
}

func TestInfo(t *testing.T) {
	info, err := Info(t.Context(), fakeserver.Listen(t, fakeserver.New()), "stats")
	if err != nil || info["keyspace_misses"] != "0" || len(info) != 1 {
		t.Errorf("%v, %v", info, err)
	}
}
