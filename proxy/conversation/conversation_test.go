package conversation

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tiergrid/tiergrid/node/resp"
)

func TestRender(t *testing.T) {
	for wire, want := range map[string]string{
		"+OK\r\n":                        "+OK",
		"-ERR no\r\n":                    "-ERR no",
		":-5\r\n":                        ":-5",
		"$5\r\na\"\r\x00\xff\r\n":        `"a\"\r\x00\xff"`,
		"$0\r\n\r\n":                     `""`,
		"$-1\r\n":                        "nil",
		"*-1\r\n":                        "*nil",
		"_\r\n":                          "nil",
		"*2\r\n:1\r\n*1\r\n$1\r\nx\r\n":  `[:1, ["x"]]`,
		"%2\r\n+a\r\n:1\r\n+b\r\n#t\r\n": "{+a: :1, +b: #t}",
		"~1\r\n,1.5\r\n":                 "~[,1.5]",
		">1\r\n(123\r\n":                 ">[(123]",
		"=5\r\ntxt:a\r\n":                `=txt:"a"`,
	} {
		v, err := resp.ReadReply(bufio.NewReader(strings.NewReader(wire)), resp.ReplyLimits{})
		if err != nil {
			t.Errorf("%q: %v", wire, err)
			continue
		}
		if got := Render(v); got != want {
			t.Errorf("Render(%q) = %s, want %s", wire, got, want)
		}
	}
}

func load(t *testing.T, text string) (*Script, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.txt")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(path)
}

func TestLoadRefuses(t *testing.T) {
	for _, text := range []string{
		"> PING\n", "== a\nPING\n", "== a\n>> PING\n", "== a\n!wait long\n", "== a\n<redis +OK\n", "== a\n> PING\n<redis +OK\n",
	} {
		if _, err := load(t, text); !errors.Is(err, ErrSyntax) {
			t.Errorf("Load(%q) = %v, want ErrSyntax", text, err)
		}
	}
}

func TestNeeds(t *testing.T) {
	s, err := load(t, "needs data users\n")
	if err != nil {
		t.Fatal(err)
	}
	if s.NeedsOnly("data") || !s.NeedsOnly("users", "data") {
		t.Errorf("needs %v", s.Needs)
	}
}

// parrot answers what stands for each line in answers, and nothing to others.
func parrot(t *testing.T, answers map[string]string) string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				in := resp.NewReader(conn, resp.Limits{})
				for {
					args, err := in.Next()
					if err != nil || string(args[0]) == "quit" {
						return
					}
					io.WriteString(conn, answers[string(args[0])])
				}
			}()
		}
	}()
	return ln.Addr().String()
}

func TestRun(t *testing.T) {
	addr := parrot(t, map[string]string{"FLUSHALL": "+OK\r\n", "ping": "+PONG\r\n", "id": ":17\r\n", "17": "+it\r\n", "ours": "+a\r\n"})
	for _, c := range []struct{ text, want string }{
		{"> ping\n> id\n< +PONG\n< :17", ""},
		{"> ping\n< +OK", "in place of"},
		{"> id\n< /:(?P<n>\\d+)/\n> ${n}\n< +it", ""},
		{"> ours\n< +a\n<redis +b", ""},
		{"> silent\n<nothing\n> ping\n< +PONG", ""},
		{"> ping\n<nothing", "in place of nothing"},
		{"> quit\n<end", ""},
		{"> ping\n<end", "in place of the end"},
		{"> ping\n@b\n> id\n< :17\n@\n< +PONG", ""},
		{"!shut\n<end", ""},
		{"only redis\n> ping\n< +OK", ""},
		{">> \"PI\" \"NG\\r\\n\"\n<nothing", ""},
	} {
		s, err := load(t, "== one\n"+c.text+"\n")
		if err != nil {
			t.Fatal(err)
		}
		err = Run(addr, s, Tiergrid)
		switch {
		case err == nil && c.want != "":
			t.Errorf("%q passed", c.text)
		case err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%q: %v", c.text, err)
		}
	}
}
