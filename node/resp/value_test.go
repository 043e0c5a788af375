package resp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// show prints a value in a form that tells all kinds apart.
func show(v Value) string {
	switch {
	case v.Null:
		return string(rune(v.Kind)) + "null"
	case v.Kind == KindInt || v.Kind == KindBool:
		return fmt.Sprintf("%c%d", v.Kind, v.Int)
	case v.Kind == KindDouble:
		return fmt.Sprintf("%c%g", v.Kind, v.Double)
	case strings.ContainsRune("*%~>", rune(v.Kind)):
		var elems []string
		for _, e := range v.Elems {
			elems = append(elems, show(e))
		}
		return fmt.Sprintf("%c[%s]", v.Kind, strings.Join(elems, " "))
	}
	return fmt.Sprintf("%c%s", v.Kind, v.Text())
}

var replyCases = []struct{ in, want string }{
	{"+OK\r\n", "+OK"},
	{"+\r\n", "+"},
	{"-ERR no\r\n", "-ERR no"},
	{":-12\r\n", ":-12"},
	{"$3\r\na\r\n\r\n", "$a\r\n"},
	{"$0\r\n\r\n", "$"},
	{"$-1\r\n", "$null"},
	{"*-1\r\n", "*null"},
	{"_\r\n", "_null"},
	{"*2\r\n:1\r\n*1\r\n+a\r\n", "*[:1 *[+a]]"},
	{"*0\r\n", "*[]"},
	{"%1\r\n+a\r\n:1\r\n", "%[+a :1]"},
	{"~1\r\n+a\r\n", "~[+a]"},
	{">1\r\n+a\r\n", ">[+a]"},
	{",1.5\r\n", ",1.5"},
	{",-inf\r\n", ",-Inf"},
	{",nan\r\n", ",NaN"},
	{"#t\r\n", "#1"},
	{"#f\r\n", "#0"},
	{"(-123456789012345678901234567890\r\n", "(-123456789012345678901234567890"},
	{"=5\r\ntxt:a\r\n", "=a"},
	{"!5\r\nERR a\r\n", "!ERR a"},
	{"|1\r\n+ttl\r\n:1\r\n+OK\r\n", "+OK"},
	{"+" + strings.Repeat("x", 5000) + "\r\n", "+" + strings.Repeat("x", 5000)},
}

func TestReadReply(t *testing.T) {
	for _, c := range replyCases {
		for name, src := range map[string]io.Reader{
			"whole":        strings.NewReader(c.in),
			"byte by byte": iotest.OneByteReader(strings.NewReader(c.in)),
		} {
			br := bufio.NewReaderSize(src, 16)
			v, err := ReadReply(br, ReplyLimits{})
			if err != nil || show(v) != c.want {
				t.Errorf("%.40q %s: got %s, %v", c.in, name, show(v), err)
			}
			if _, err := ReadReply(br, ReplyLimits{}); err != io.EOF {
				t.Errorf("%.40q %s: at the end: %v", c.in, name, err)
			}
		}
		for n := 1; n < len(c.in) && n < 100; n++ {
			_, err := ReadReply(bufio.NewReader(strings.NewReader(c.in[:n])), ReplyLimits{})
			if err != io.ErrUnexpectedEOF {
				t.Errorf("%.40q cut at %d: %v", c.in, n, err)
			}
		}
	}
}

func TestReadReplyRefusesBadReplies(t *testing.T) {
	for _, in := range []string{"x\r\n", "\r\n", "+OK\n", ":x\r\n", ":\r\n", "$x\r\n", "$-2\r\n", "*-2\r\n", "$1\r\nabc", "#x\r\n",
		"(1x\r\n", "(\r\n", "_x\r\n", ",x\r\n", "|-1\r\n", "|x\r\n", "|1\r\nx\r\n", "$?\r\n", "*?\r\n", "*1\r\nx\r\n"} {
		if _, err := ReadReply(bufio.NewReader(strings.NewReader(in)), ReplyLimits{}); !errors.Is(err, ErrBadReply) {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func TestReadReplyKeepsItsLimits(t *testing.T) {
	l := ReplyLimits{MaxBytes: 100, MaxElems: 10, MaxDepth: 3}
	for _, in := range []string{
		"$101\r\n", "$9223372036854775807\r\n", "*11\r\n", "*9223372036854775807\r\n", "%6\r\n", "%9223372036854775807\r\n",
		"*1\r\n*1\r\n*1\r\n*1\r\n", "*2\r\n*9\r\n", "+" + strings.Repeat("x", 101) + "\r\n", "+" + strings.Repeat("x", 9000),
		"*2\r\n$60\r\n" + strings.Repeat("x", 60) + "\r\n$60\r\n",
	} {
		if _, err := ReadReply(bufio.NewReader(strings.NewReader(in)), l); !errors.Is(err, ErrReplyLimit) {
			t.Errorf("%.40q: %v", in, err)
		}
	}
}

func TestReplyAsError(t *testing.T) {
	for in, want := range map[string]error{
		"-ERR a\r\n":        ReplyError("ERR a"),
		"!5\r\nERR b\r\n":   ReplyError("ERR b"),
		"+ERR no error\r\n": nil,
	} {
		v, err := ReadReply(bufio.NewReader(strings.NewReader(in)), ReplyLimits{})
		if err != nil || v.Err() != want {
			t.Errorf("%q: %v, %v", in, v.Err(), err)
		}
	}
	if got := ReplyError("ERR a").Error(); got != "ERR a" {
		t.Errorf("got %q", got)
	}
}

func TestReadReplyOfLargeBulk(t *testing.T) {
	value := bytes.Repeat([]byte("0123456789"), 150_000)
	w := NewWriter(nil, 2)
	w.Bulk(value)
	v, err := ReadReply(bufio.NewReader(bytes.NewReader(w.Bytes())), ReplyLimits{})
	if err != nil || !bytes.Equal(v.Bytes, value) {
		t.Fatalf("%d bytes, %v", len(v.Bytes), err)
	}
}
