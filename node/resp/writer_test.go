package resp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
	"net"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var encoderCases = []struct {
	name         string
	write        func(*Writer)
	resp2, resp3 string
}{
	{"status", func(w *Writer) { w.Status("OK") }, "+OK\r\n", "+OK\r\n"},
	{"status with line end", func(w *Writer) { w.Status("a\r\nb") }, "+a  b\r\n", "+a  b\r\n"},
	{"error", func(w *Writer) { w.Error("ERR no") }, "-ERR no\r\n", "-ERR no\r\n"},
	{"error with line ends", func(w *Writer) { w.Error("\r\nERR a\rb\nc\r\n\n") }, "-ERR a b c\r\n", "-ERR a b c\r\n"},
	{"int", func(w *Writer) { w.Int(-42) }, ":-42\r\n", ":-42\r\n"},
	{"least int", func(w *Writer) { w.Int(math.MinInt64) }, ":-9223372036854775808\r\n", ":-9223372036854775808\r\n"},
	{"bulk", func(w *Writer) { w.Bulk([]byte("a\r\nb")) }, "$4\r\na\r\nb\r\n", "$4\r\na\r\nb\r\n"},
	{"empty bulk", func(w *Writer) { w.Bulk(nil) }, "$0\r\n\r\n", "$0\r\n\r\n"},
	{"owned bulk without a buffer", func(w *Writer) { w.BulkOwned([]byte("ab"), nil) }, "$2\r\nab\r\n", "$2\r\nab\r\n"},
	{"bulk string", func(w *Writer) { w.BulkString("ab") }, "$2\r\nab\r\n", "$2\r\nab\r\n"},
	{"null", func(w *Writer) { w.Null() }, "$-1\r\n", "_\r\n"},
	{"null array", func(w *Writer) { w.NullArray() }, "*-1\r\n", "_\r\n"},
	{"array", func(w *Writer) { w.Array(3) }, "*3\r\n", "*3\r\n"},
	{"map", func(w *Writer) { w.Map(3) }, "*6\r\n", "%3\r\n"},
	{"set", func(w *Writer) { w.Set(3) }, "*3\r\n", "~3\r\n"},
	{"push", func(w *Writer) { w.Push(3) }, "*3\r\n", ">3\r\n"},
	{"double", func(w *Writer) { w.Double(1.5) }, "$3\r\n1.5\r\n", ",1.5\r\n"},
	{"infinity", func(w *Writer) { w.Double(math.Inf(-1)) }, "$4\r\n-inf\r\n", ",-inf\r\n"},
	{"true", func(w *Writer) { w.Bool(true) }, ":1\r\n", "#t\r\n"},
	{"false", func(w *Writer) { w.Bool(false) }, ":0\r\n", "#f\r\n"},
	{"big number", func(w *Writer) { w.BigNumber("-123") }, "$4\r\n-123\r\n", "(-123\r\n"},
	{"verbatim", func(w *Writer) { w.Verbatim("txt", "a b") }, "$3\r\na b\r\n", "=7\r\ntxt:a b\r\n"},
	{"verbatim of odd format", func(w *Writer) { w.Verbatim("x", "a") }, "$1\r\na\r\n", "=5\r\nx  :a\r\n"},
	{"raw", func(w *Writer) { w.Raw([]byte("+x\r\n")) }, "+x\r\n", "+x\r\n"},
}

func TestEncoders(t *testing.T) {
	for _, c := range encoderCases {
		for proto, want := range map[int]string{2: c.resp2, 3: c.resp3} {
			w := NewWriter(nil, 2)
			w.SetProto(proto)
			c.write(w)
			if got := string(w.Bytes()); got != want || w.Proto() != proto {
				t.Errorf("%s in RESP%d: got %q, want %q", c.name, proto, got, want)
			}
			if w.Pending() != len(want) {
				t.Errorf("%s: %d pending of %d", c.name, w.Pending(), len(want))
			}
			w.Discard(true)
			c.write(w)
			w.Discard(false)
			if got := string(w.Bytes()); got != want {
				t.Errorf("%s is not discarded: %q", c.name, got)
			}
			checkDecodable(t, c.name, w.Bytes())
		}
	}
}

// checkDecodable decodes what a client would get, unless it is an aggregate
// header alone.
func checkDecodable(t *testing.T, name string, reply []byte) {
	t.Helper()
	if strings.ContainsRune("*%~>", rune(reply[0])) && name != "null array" {
		return
	}
	if _, err := ReadReply(bufio.NewReader(bytes.NewReader(reply)), ReplyLimits{}); err != nil {
		t.Errorf("%s: %q cannot be decoded: %v", name, reply, err)
	}
}

func TestDoubleAsRedisPrintsIt(t *testing.T) {
	for _, c := range []struct {
		f    float64
		want string
	}{
		{0, "0"}, {math.Copysign(0, -1), "-0"}, {1, "1"}, {-3, "-3"}, {3.14, "3.14"}, {-0.5, "-0.5"},
		{0.1, "0.1"}, {math.Nextafter(0.3, 1), "0.30000000000000004"}, {1.0 / 3, "0.3333333333333333"}, {100.25, "100.25"},
		{1e15, "1000000000000000"}, {1e18, "1000000000000000000"}, {1e19, "1e+19"}, {1.2345678901234567e19, "12345678901234567000"}, {1e20, "1e+20"},
		{1.5e300, "1.5e+300"}, {1e-5, "0.00001"}, {1e-7, "1e-7"}, {1.5e-7, "1.5e-7"}, {123e-9, "1.23e-7"},
		{0.001234, "0.001234"}, {5e-324, "5e-324"}, {math.MaxFloat64, "1.7976931348623157e+308"},
		{math.Pi, "3.141592653589793"}, {17179869184.5, "17179869184.5"}, {-1e100, "-1e+100"},
		{math.Inf(1), "inf"}, {math.Inf(-1), "-inf"}, {math.NaN(), "nan"},
	} {
		if got := string(AppendDouble(nil, c.f)); got != c.want {
			t.Errorf("%g: got %s, want %s", c.f, got, c.want)
		}
	}
}

func TestDoubleReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
		w := NewWriter(nil, 3)
		w.Double(f)
		v, err := ReadReply(bufio.NewReader(bytes.NewReader(w.Bytes())), ReplyLimits{})
		if err != nil || v.Double != f && !math.IsNaN(f) {
			t.Fatalf("%g became %q: %v", f, w.Bytes(), err)
		}
	})
}

// TestWritten: what a destination took counts, of a write that failed as well.
func TestWritten(t *testing.T) {
	server, client := tcpPair(t)
	w := NewWriter(server, 2)
	payload := bytes.Repeat([]byte("x"), 100_000)
	w.Int(1)
	w.Bulk(payload)
	n := int64(w.Pending())
	got := readAll(client, int(n))
	if w.Written() != 0 {
		t.Errorf("%d bytes before the flush", w.Written())
	}
	if err := w.Flush(); err != nil || w.Written() != n || int64(len(<-got)) != n {
		t.Errorf("%v, %d bytes of %d", err, w.Written(), n)
	}
	half := NewWriter(&takes{n: 70_000}, 2)
	half.Bulk(payload)
	if err := half.Flush(); err == nil || half.Written() != 70_000 {
		t.Errorf("%v, %d bytes where 70000 were taken", err, half.Written())
	}
}

// takes fails once it was given n bytes.
type takes struct{ n int }

func (d *takes) Write(p []byte) (int, error) {
	n := min(len(p), d.n)
	d.n -= n
	if n < len(p) {
		return n, io.ErrClosedPipe
	}
	return n, nil
}

func TestLastError(t *testing.T) {
	w := NewWriter(nil, 2)
	w.Error("ERR one")
	w.Discard(true)
	w.Error("ERR two")
	if w.LastError() != "ERR two" {
		t.Errorf("got %q", w.LastError())
	}
	if w.ResetError(); w.LastError() != "" {
		t.Errorf("after reset: %q", w.LastError())
	}
}

// owned returns n bytes of c in a Buffer, as BulkOwned takes them.
func owned(n int, c byte) ([]byte, *Buffer) {
	buf := GetBuffer(n + 10)
	buf.B = append(buf.B, "header"...)
	buf.B = append(buf.B, bytes.Repeat([]byte{c}, n)...)
	return buf.B[6:], buf
}

// Any replies, with marks, truncations and flushes between them, come out in
// order, and all buffers go back.
func TestWriterOutput(t *testing.T) {
	sizes := rapid.SampledFrom([]int{0, 1, 100, 300, ownedMin - 1, ownedMin, 5000, segmentMin - 1, segmentMin, 70000})
	rapid.Check(t, func(t *rapid.T) {
		_, before := BuffersInUse()
		var sent bytes.Buffer
		w := NewWriter(&sent, 2)
		model := writerModel{w: w}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			n := sizes.Draw(t, "size")
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0:
				model.flush(t)
			case 1:
				model.mark()
			case 2:
				model.truncate(t)
			default:
				model.append(rapid.IntRange(0, 5).Draw(t, "encoder"), n)
			}
			if w.Pending() != len(model.want)-model.flushed {
				t.Fatalf("%d pending, want %d", w.Pending(), len(model.want)-model.flushed)
			}
		}
		if !bytes.Equal(w.Bytes(), model.want[model.flushed:]) {
			t.Fatal("Bytes differ")
		}
		model.flush(t)
		if !bytes.Equal(sent.Bytes(), model.want) {
			t.Fatal("output differs")
		}
		if _, after := BuffersInUse(); after != before {
			t.Fatalf("%d bytes of buffers lost", after-before)
		}
	})
}

// writerModel does to a slice what it does to the Writer.
type writerModel struct {
	w       *Writer
	want    []byte
	flushed int
	marked  Mark
	at      int // length of want at the mark, -1 without one
	n       int
}

func (m *writerModel) append(encoder, n int) {
	m.n++
	value := bytes.Repeat([]byte{byte(m.n)}, n)
	bulk := AppendCommand(nil, value)[len("*1\r\n"):]
	switch encoder {
	case 0:
		m.w.Bulk(value)
	case 1:
		m.w.BulkString(string(value))
	case 2:
		m.w.Raw(bulk)
	case 3:
		m.w.Discard(true)
		m.w.BulkOwned(owned(n, byte(m.n)))
		m.w.Discard(false)
		return
	default:
		m.w.BulkOwned(owned(n, byte(m.n)))
	}
	m.want = append(m.want, bulk...)
}

func (m *writerModel) flush(t *rapid.T) {
	if err := m.w.Flush(); err != nil {
		t.Fatal(err)
	}
	m.flushed = len(m.want)
}

func (m *writerModel) mark() { m.marked, m.at = m.w.Mark(), len(m.want) }

func (m *writerModel) truncate(t *rapid.T) {
	if m.marked == (Mark{}) || m.at > len(m.want) {
		return
	}
	ok := m.w.Truncate(m.marked)
	if valid := m.at >= m.flushed; ok && !valid {
		t.Fatal("truncated past a flush")
	}
	if ok {
		m.want = m.want[:m.at]
	}
}

func TestTruncateOfOldMark(t *testing.T) {
	w := NewWriter(&bytes.Buffer{}, 2)
	w.Status("one")
	m := w.Mark()
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	w.Status("two")
	if w.Truncate(m) || string(w.Bytes()) != "+two\r\n" {
		t.Errorf("a mark survived a flush: %q", w.Bytes())
	}
}

func TestDue(t *testing.T) {
	w := NewWriter(&bytes.Buffer{}, 2)
	for w.Pending() < dueBytes {
		if w.Due() {
			t.Fatalf("due at %d bytes", w.Pending())
		}
		w.Bulk(make([]byte, 10000))
	}
	if !w.Due() {
		t.Fatalf("not due at %d bytes", w.Pending())
	}
	if err := w.Flush(); err != nil || w.Due() || w.Pending() != 0 {
		t.Fatalf("after Flush: %d pending, %v", w.Pending(), err)
	}
}

func TestCollectingWriter(t *testing.T) {
	w := NewWriter(nil, 2)
	w.Status("OK")
	w.Bulk(make([]byte, 20000))
	want := w.Bytes()
	if err := w.Flush(); err != nil || w.Pending() != len(want) {
		t.Fatalf("Flush without destination: %d pending, %v", w.Pending(), err)
	}
	var out bytes.Buffer
	if n, err := w.WriteTo(&out); err != nil || int(n) != len(want) || !bytes.Equal(out.Bytes(), want) {
		t.Fatalf("WriteTo: %d, %v", n, err)
	}
	if w.Pending() != 0 {
		t.Fatalf("%d pending after WriteTo", w.Pending())
	}
}

// countingWriter counts writes and fails at one of them.
type countingWriter struct {
	bytes.Buffer
	writes, failAt int
	short          bool
}

var errBroken = errors.New("broken")

func (c *countingWriter) Write(p []byte) (int, error) {
	c.writes++
	if c.writes == c.failAt {
		return 0, errBroken
	}
	if c.short {
		return 0, nil
	}
	return c.Buffer.Write(p)
}

func TestFlushWritesOnce(t *testing.T) {
	var dst countingWriter
	w := NewWriter(&dst, 2)
	for range 100 {
		w.Int(1)
	}
	w.BulkOwned(owned(20000, 'x'))
	w.Status("OK")
	if err := w.Flush(); err != nil || dst.writes != 1 {
		t.Fatalf("%d writes, %v", dst.writes, err)
	}
	if err := w.Flush(); err != nil || dst.writes != 1 {
		t.Fatalf("empty Flush: %d writes, %v", dst.writes, err)
	}
}

func TestWriteErrorIsFinal(t *testing.T) {
	used := buffersUsed(t)
	dst := countingWriter{failAt: 2}
	w := NewWriter(&dst, 2)
	w.Status("OK")
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	w.BulkOwned(owned(20000, 'x'))
	for range 3 {
		w.Status("lost")
		w.BulkOwned(owned(20000, 'x'))
		if err := w.Flush(); err != errBroken || w.Err() != errBroken {
			t.Fatalf("got %v", err)
		}
	}
	if dst.writes != 2 || dst.String() != "+OK\r\n" || w.Pending() != 0 {
		t.Errorf("%d writes, %q sent, %d pending", dst.writes, dst.String(), w.Pending())
	}
	if n := used(); n != 0 {
		t.Errorf("%d bytes of buffers in use", n)
	}
}

func TestWriteWithoutProgressIsAnError(t *testing.T) {
	w := NewWriter(&countingWriter{short: true}, 2)
	w.Status("OK")
	if err := w.Flush(); err == nil {
		t.Fatal("no error")
	}
}

// Large payloads within a pipeline are sent once and in their place.
func TestOwnedPayloadInPipelineIsSentOnce(t *testing.T) {
	for name, dial := range map[string]func(testing.TB) (server, client net.Conn){"tcp": tcpPair, "pipe": pipePair} {
		t.Run(name, func(t *testing.T) {
			server, client := dial(t)
			w := NewWriter(server, 2)
			var want []byte
			for i := range 200 { // more than one writev takes
				w.Int(int64(i))
				w.BulkOwned(owned(ownedMin+i, byte(i)))
				want = append(want, encodedInt(i)...)
				want = append(want, AppendCommand(nil, bytes.Repeat([]byte{byte(i)}, ownedMin+i))[len("*1\r\n"):]...)
			}
			got := readAll(client, len(want))
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(<-got, want) {
				t.Error("output differs")
			}
		})
	}
}

// encodedInt is the encoding of i.
func encodedInt(i int) []byte {
	w := NewWriter(nil, 2)
	w.Int(int64(i))
	return w.Bytes()
}
