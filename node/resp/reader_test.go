package resp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// pieces is a connection that delivers its input cut in the given way and
// then ends.
type pieces struct {
	data []byte
	next func(left int) int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.data) == 0 {
		return 0, io.EOF
	}
	n := min(len(b), max(1, p.next(len(p.data))), len(p.data))
	copy(b, p.data[:n])
	p.data = p.data[n:]
	return n, nil
}

func whole(left int) int { return left }

func bytewise(int) int { return 1 }

// cutAt delivers the first n bytes in one read and the rest in another.
func cutAt(n int) func(int) int {
	first := true
	return func(left int) int {
		if first && n > 0 {
			first = false
			return n
		}
		return left
	}
}

// transcript reads src to its end and returns one line per command, and one
// for the error that ended it unless that is io.EOF.
func transcript(t testing.TB, src io.Reader, l Limits, releaseEvery int) string {
	r := NewReader(src, l)
	defer r.Close()
	var out strings.Builder
	for n := 1; ; n++ {
		args, err := r.Next()
		if err == io.EOF {
			return out.String()
		}
		if err != nil {
			fmt.Fprintf(&out, "!%s\n", err)
			if _, again := r.Next(); again != err && errors.As(err, new(*ProtocolError)) {
				t.Errorf("after the error %q Next gave %v", err, again)
			}
			return out.String()
		}
		for i, a := range args {
			if cap(a) != len(a) {
				t.Errorf("argument %d has %d bytes and capacity for %d", i, len(a), cap(a))
			}
			fmt.Fprintf(&out, "%q ", a)
		}
		out.WriteByte('\n')
		if n%releaseEvery == 0 {
			r.Release()
		}
	}
}

func bulks(n, size int) string {
	return strings.Repeat(string(AppendCommand(nil, "SET", "key", strings.Repeat("v", size))), n)
}

const (
	badCount = "!Protocol error: invalid multibulk length\n"
	badBulk  = "!Protocol error: invalid bulk length\n"
	badQuote = "!Protocol error: unbalanced quotes in request\n"
	cutOff   = "!unexpected EOF\n"
)

// Inputs and what redis-server 7.0 makes of them.
var readerCases = []struct {
	name, in, want string
	limits         Limits
}{
	{name: "two commands", in: "*1\r\n$4\r\nPING\r\n*2\r\n$4\r\nECHO\r\n$3\r\na\r\n\r\n", want: "\"PING\" \n\"ECHO\" \"a\\r\\n\" \n"},
	{name: "empty argument", in: "*2\r\n$0\r\n\r\n$1\r\nx\r\n", want: "\"\" \"x\" \n"},
	{name: "empty commands are skipped", in: "*0\r\n*-1\r\n*-99\r\n*-9223372036854775808\r\n*1\r\n$4\r\nPING\r\n", want: "\"PING\" \n"},
	{name: "count is no number", in: "*x\r\n", want: badCount},
	{name: "count is missing", in: "*\r\n", want: badCount},
	{name: "count with plus", in: "*+1\r\n", want: badCount},
	{name: "count with leading zero", in: "*01\r\n", want: badCount},
	{name: "count with blank", in: "* 1\r\n", want: badCount},
	{name: "count with rest", in: "*1x\r\n", want: badCount},
	{name: "count is minus zero", in: "*-0\r\n", want: badCount},
	{name: "count with bare newline", in: "*1\n$4\r\nPING\r\n", want: badCount},
	{name: "count of max int64", in: "*9223372036854775807\r\n", want: badCount},
	{name: "count beyond int64", in: "*9223372036854775808\r\n", want: badCount},
	{name: "count beyond uint64", in: "*99999999999999999999\r\n", want: badCount},
	{name: "count beyond int32", in: "*2147483648\r\n", want: badCount},
	{name: "count of 10^9", in: "*1000000000\r\n", want: badCount},
	{name: "count at its limit", in: "*3\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n", limits: Limits{MaxArgs: 3}, want: "\"a\" \"b\" \"c\" \n"},
	{name: "count above its limit", in: "*4\r\n", limits: Limits{MaxArgs: 3}, want: badCount},
	{name: "no bulk", in: "*1\r\nx4\r\n", want: "!Protocol error: expected '$', got 'x'\n"},
	{name: "empty line instead of bulk", in: "*1\r\n\r\n", want: "!Protocol error: expected '$', got '\r'\n"},
	{name: "bulk of minus one", in: "*1\r\n$-1\r\n", want: badBulk},
	{name: "bulk is no number", in: "*1\r\n$x\r\n", want: badBulk},
	{name: "bulk length missing", in: "*1\r\n$\r\n", want: badBulk},
	{name: "bulk beyond 512 MiB", in: "*1\r\n$536870913\r\n", want: badBulk},
	{name: "bulk of max int64", in: "*1\r\n$9223372036854775807\r\n", want: badBulk},
	{name: "bulk beyond int32", in: "*2\r\n$4\r\nECHO\r\n$2147483648\r\n", want: badBulk},
	{name: "bulk at its limit", in: "*1\r\n$3\r\nabc\r\n", limits: Limits{MaxBulk: 3}, want: "\"abc\" \n"},
	{name: "bulk above its limit", in: "*1\r\n$4\r\n", limits: Limits{MaxBulk: 3}, want: badBulk},
	{name: "anything ends a bulk", in: "*1\r\n$4\r\nPINGxx*1\r\n$4\r\nPING\r\n", want: "\"PING\" \n\"PING\" \n"},
	{name: "anything follows a return", in: "*1\rX$4\rXPINGzz", want: "\"PING\" \n"},
	{name: "too large in all", in: "*2\r\n$10\r\n0123456789\r\n$30\r\n", limits: Limits{MaxCommand: 100}, want: "!Protocol error: too big request\n"},
	{name: "unauthenticated count", in: "*11\r\n", limits: BeforeLogin(), want: "!Protocol error: unauthenticated multibulk length\n"},
	{name: "unauthenticated count beyond all", in: "*99999999999\r\n", limits: BeforeLogin(), want: badCount},
	{name: "unauthenticated bulk", in: "*1\r\n$16385\r\n", limits: BeforeLogin(), want: "!Protocol error: unauthenticated bulk length\n"},
	{name: "unauthenticated bulk beyond all", in: "*1\r\n$99999999999\r\n", limits: BeforeLogin(), want: badBulk},
	{name: "unauthenticated within limits", in: "*10\r\n" + strings.Repeat("$1\r\na\r\n", 10), limits: BeforeLogin(), want: strings.Repeat("\"a\" ", 10) + "\n"},

	{name: "inline", in: "PING\r\nset k v\n", want: "\"PING\" \n\"set\" \"k\" \"v\" \n"},
	{name: "inline and array", in: "PING\r\n*1\r\n$4\r\nPING\r\nPING\r\n", want: "\"PING\" \n\"PING\" \n\"PING\" \n"},
	{name: "empty lines", in: "\r\n\n\n   \r\nPING\n", want: "\"PING\" \n"},
	{name: "inline with blanks", in: "  ECHO \x0b\x0c\t x  \r\r\n", want: "\"ECHO\" \"x\" \n"},
	{name: "inline with vertical tab inside", in: "ECHO a\x0bb\r\n", want: "\"ECHO\" \"a\\vb\" \n"},
	{name: "inline with return inside", in: "PING\rX\n", want: "\"PING\" \"X\" \n"},
	{name: "double quotes", in: `ECHO "a\x41\n\r\t\b\a\q\"\\"` + "\r\n", want: `"ECHO" "aA\n\r\t\b\aq\"\\" ` + "\n"},
	{name: "double quotes hex", in: `ECHO "\x4g" "\xFf" "\x0"` + "\r\n", want: `"ECHO" "x4g" "\xff" "x0" ` + "\n"},
	{name: "single quotes", in: `ECHO 'a\x41\'b"'` + "\r\n", want: `"ECHO" "a\\x41'b\"" ` + "\n"},
	{name: "quotes inside a word", in: `ECHO a"b c"` + "\r\n", want: "\"ECHO\" \"ab c\" \n"},
	{name: "empty quotes", in: `ECHO "" ''` + "\r\n", want: "\"ECHO\" \"\" \"\" \n"},
	{name: "text behind double quote", in: `ECHO "a"b` + "\r\n", want: badQuote},
	{name: "text behind single quote", in: `ECHO 'a'b` + "\r\n", want: badQuote},
	{name: "open double quote", in: `ECHO "a` + "\r\nPING\r\n", want: badQuote},
	{name: "open single quote", in: `ECHO 'a` + "\r\n", want: badQuote},
	{name: "backslash before the end", in: `ECHO "a\` + "\n", want: badQuote},
	{name: "error behind a command", in: "PING\r\n\"\r\nPING\r\n", want: "\"PING\" \n" + badQuote},
	{name: "inline at its limit", in: "12345678\n", limits: Limits{MaxInline: 8}, want: "\"12345678\" \n"},
	{name: "inline above its limit", in: "123456789\n", limits: Limits{MaxInline: 8}, want: "!Protocol error: too big inline request\n"},
	{name: "count header above its limit", in: "*00000000001\r\n", limits: Limits{MaxInline: 8}, want: "!Protocol error: too big mbulk count string\n"},
	{name: "bulk header above its limit", in: "*1\r\n$00000000001\r\n", limits: Limits{MaxInline: 8}, want: "!Protocol error: too big bulk count string\n"},
	{name: "junk instead of a bulk header", in: "*1\r\nyyyyyyyyyyyyy", limits: Limits{MaxInline: 8}, want: "!Protocol error: too big bulk count string\n"},

	{name: "cut in a count", in: "*1", want: cutOff},
	{name: "cut behind a count", in: "*1\r\n", want: cutOff},
	{name: "cut in a bulk header", in: "*1\r\n$4", want: cutOff},
	{name: "cut in a bulk", in: "*1\r\n$4\r\nPIN", want: cutOff},
	{name: "cut before the end of a bulk", in: "*1\r\n$4\r\nPING\r", want: cutOff},
	{name: "cut in a line", in: "PING", want: cutOff},
	{name: "nothing", in: "", want: ""},
}

func TestReaderAtEverySplitPoint(t *testing.T) {
	for _, c := range readerCases {
		t.Run(c.name, func(t *testing.T) {
			check := func(how string, next func(int) int, releaseEvery int) {
				t.Helper()
				got := transcript(t, &pieces{[]byte(c.in), next}, c.limits, releaseEvery)
				if got != c.want {
					t.Fatalf("%s:\n got %q\nwant %q", how, got, c.want)
				}
			}
			check("byte by byte", bytewise, 1)
			check("byte by byte, never released", bytewise, 1000)
			for i := range len(c.in) + 1 {
				check(fmt.Sprintf("cut at %d", i), cutAt(i), 1)
			}
		})
	}
}

// Sizes around every boundary at which the Reader treats an argument
// differently, cut around the places that matter.
func TestReaderAcrossChunkSizes(t *testing.T) {
	for _, size := range []int{1, smallChunk - 40, smallChunk, maxChunked - 3, maxChunked - 2, maxChunked - 1,
		maxChunked, largeChunk, aheadMin - 2, aheadMin - 1, aheadMin, 120000, 128 << 10, aheadMax, 700_000} {
		in := bulks(3, size) + "PING\r\n"
		want := strings.Repeat(fmt.Sprintf("%q %q %q \n", "SET", "key", strings.Repeat("v", size)), 3) + "\"PING\" \n"
		cuts := []int{5, 30, size / 2, size + 31, size + 33, size + 40, 2 * size}
		for _, cut := range cuts {
			for _, every := range []int{1, 1000} {
				if got := transcript(t, &pieces{[]byte(in), cutAt(cut)}, Limits{}, every); got != want {
					t.Fatalf("size %d cut at %d released every %d: wrong commands", size, cut, every)
				}
			}
		}
	}
}

// Any commands in any chunking, released at any time, come out as they went in.
func TestReaderRoundTrip(t *testing.T) {
	size := rapid.OneOf(rapid.IntRange(0, 20), rapid.IntRange(0, 5000), rapid.IntRange(0, 100_000))
	rapid.Check(t, func(t *rapid.T) {
		var in []byte
		var want [][][]byte
		for range rapid.IntRange(1, 12).Draw(t, "commands") {
			var args [][]byte
			for i := range rapid.IntRange(1, 9).Draw(t, "args") {
				args = append(args, bytes.Repeat([]byte{byte(len(want)), byte(i), '\r', '\n'}, size.Draw(t, "size")/4))
			}
			want = append(want, args)
			in = AppendCommand(in, args...)
		}
		most := rapid.SampledFrom([]int{100, 4000, 40000, 1 << 20}).Draw(t, "most")
		r := NewReader(&pieces{in, func(int) int { return rapid.IntRange(1, most).Draw(t, "n") }}, Limits{})
		defer r.Close()
		checkBatches(t, r, want)
	})
}

// checkBatches reads want in batches of random length and looks at the
// arguments only before their Release.
func checkBatches(t *rapid.T, r *Reader, want [][][]byte) {
	for len(want) > 0 {
		batch := min(len(want), rapid.IntRange(1, 5).Draw(t, "batch"))
		var got [][][]byte
		for range batch {
			args, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, args)
		}
		for i, args := range got {
			if len(args) != len(want[i]) {
				t.Fatalf("%d arguments, want %d", len(args), len(want[i]))
			}
			for j, a := range args {
				if !bytes.Equal(a, want[i][j]) {
					t.Fatalf("command %d argument %d differs", i, j)
				}
			}
		}
		r.Release()
		if r.Pending() != 0 {
			t.Fatalf("%d pending after Release", r.Pending())
		}
		want = want[batch:]
	}
}

func TestTryNextNeverReads(t *testing.T) {
	in := "PING\r\n*1\r\n$4\r\nECHO\r\n*1\r\n$4\r\nPI"
	r := NewReader(&pieces{[]byte(in + "NG\r\n"), cutAt(len(in))}, Limits{})
	defer r.Close()
	if _, ok, err := r.TryNext(); ok || err != nil {
		t.Fatalf("TryNext before any read: %v, %v", ok, err)
	}
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	args, ok, err := r.TryNext()
	if err != nil || !ok || string(args[0]) != "ECHO" {
		t.Fatalf("TryNext: %q, %v, %v", args, ok, err)
	}
	if _, ok, err := r.TryNext(); ok || err != nil {
		t.Fatalf("TryNext of half a command: %v, %v", ok, err)
	}
	if got := r.Buffered(); got != len("PI") {
		t.Errorf("%d bytes buffered", got)
	}
	if got, want := r.Pending(), 2*len("PING")+2*argOverhead; got != want {
		t.Errorf("%d bytes pending, want %d", got, want)
	}
	r.Release()
	if args, err := r.Next(); err != nil || string(args[0]) != "PING" {
		t.Fatalf("Next: %q, %v", args, err)
	}
}

// A command that is half read when others are released keeps its arguments.
func TestReleaseKeepsTheCommandBeingRead(t *testing.T) {
	first := AppendCommand(nil, "A", strings.Repeat("x", 2900))
	second := AppendCommand(nil, "MSET", "k1", strings.Repeat("1", 9000), "k2", strings.Repeat("2", 90000))
	in := append(first, second...)
	for cut := len(first); cut < len(in); cut += 501 {
		r := NewReader(&pieces{in, cutAt(cut)}, Limits{})
		for range 2 {
			args, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			if got := AppendCommand(nil, args...); !bytes.Contains(in, got) {
				t.Fatalf("cut at %d: a command was damaged", cut)
			}
			_, _, _ = r.TryNext() // begins the second command
			r.Release()
		}
		r.Close()
	}
}

// A token at the end of a full chunk moves to its front when nothing else in
// the chunk is needed.
func TestChunkIsReusedUnderSteadyLoad(t *testing.T) {
	used := buffersUsed(t)
	line := "GET 0123456789012345678901234567890123456789\r\n"
	r := NewReader(&loop{data: []byte(strings.Repeat(line, 999))}, Limits{})
	defer r.Close()
	for i := range 5000 {
		args, err := r.Next()
		if err != nil || string(args[1]) != "0123456789012345678901234567890123456789" {
			t.Fatalf("command %d: %q, %v", i, args, err)
		}
		r.Release()
		if n := used(); n > largeChunk {
			t.Fatalf("%d bytes of buffers", n)
		}
	}
}

func TestBufferedCountsTheArgumentBeingRead(t *testing.T) {
	in := AppendCommand(nil, "SET", "k", strings.Repeat("v", 50000))
	r := NewReader(bytes.NewReader(in[:40000]), Limits{})
	defer r.Close()
	if _, err := r.Next(); err != io.ErrUnexpectedEOF {
		t.Fatal(err)
	}
	if got, want := r.Buffered(), 40000-len("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$50000\r\n"); got != want {
		t.Errorf("%d bytes buffered, want %d", got, want)
	}
}

func TestSetLimitsAfterLogin(t *testing.T) {
	big := AppendCommand(nil, "SET", "k", strings.Repeat("v", 17000))
	in := append(AppendCommand(nil, "AUTH", "p"), big...)
	r := NewReader(bytes.NewReader(in), BeforeLogin())
	defer r.Close()
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	r.SetLimits(Limits{})
	if args, err := r.Next(); err != nil || len(args[2]) != 17000 {
		t.Fatalf("after login: %d arguments, %v", len(args), err)
	}
}

// A read deadline interrupts Next and loses nothing.
func TestNextContinuesAfterTimeout(t *testing.T) {
	in := AppendCommand(nil, "SET", "k", strings.Repeat("v", 50000))
	r := NewReader(iotest.TimeoutReader(&pieces{in, cutAt(20000)}), Limits{})
	defer r.Close()
	if _, err := r.Next(); err != iotest.ErrTimeout {
		t.Fatalf("got %v", err)
	}
	if args, err := r.Next(); err != nil || len(args[2]) != 50000 {
		t.Fatalf("after the timeout: %v", err)
	}
}

func TestDataWithErrorComesFirst(t *testing.T) {
	r := NewReader(iotest.DataErrReader(strings.NewReader("PING\r\n")), Limits{})
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(); err != io.EOF {
		t.Fatalf("got %v", err)
	}
}

type silentSource struct{}

func (silentSource) Read([]byte) (int, error) { return 0, nil }

func TestSourceWithoutProgress(t *testing.T) {
	if _, err := NewReader(silentSource{}, Limits{}).Next(); err != ErrNoProgress {
		t.Fatalf("got %v", err)
	}
}

func TestReaderAfterClose(t *testing.T) {
	r := NewReader(strings.NewReader("PING\r\nPING\r\n"), Limits{})
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	r.Close()
	if _, err := r.Next(); err == nil {
		t.Fatal("a closed Reader returned a command")
	}
}
