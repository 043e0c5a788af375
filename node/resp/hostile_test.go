package resp

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"
)

// The tests of this file are about input that brought down or inflated other
// parsers of this protocol.

// buffersUsed returns the bytes of Buffers got since it was called.
func buffersUsed(t testing.TB) func() int64 {
	t.Helper()
	_, before := BuffersInUse()
	return func() int64 {
		_, now := BuffersInUse()
		return now - before
	}
}

func heapBytes() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestHugeBulkLengthIsAnError(t *testing.T) {
	for _, n := range []string{"9223372036854775807", "9223372036854775805", "2147483648", "4294967297", "18446744073709551617"} {
		got := transcript(t, strings.NewReader("*1\r\n$"+n+"\r\nx"), Limits{}, 1)
		if got != badBulk {
			t.Errorf("length %s: %q", n, got)
		}
	}
}

func TestHugeCountEndsAtOnce(t *testing.T) {
	start := time.Now()
	for _, n := range []string{"9223372036854775807", "2147483648", "1000000000", "99999999999999999999999"} {
		if got := transcript(t, strings.NewReader("*"+n+"\r\n"), Limits{}, 1); got != badCount {
			t.Errorf("count %s: %q", n, got)
		}
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("took %v", took)
	}
}

// Two megabytes byte by byte: no recursion (the stack of a fresh goroutine
// could not take a frame per read) and no repeated search from the start.
func TestByteByByteIsLinear(t *testing.T) {
	inputs := map[string]string{
		"one large argument":  bulks(1, 2_000_000),
		"many small commands": bulks(60_000, 1),
		"many arguments":      "*200000\r\n" + strings.Repeat("$3\r\nabc\r\n", 200_000),
		"long lines":          strings.Repeat(strings.Repeat("x", 60_000)+"\r\n", 30),
		"empty commands":      strings.Repeat("*0\r\n*-1\r\n\r\n", 150_000) + "PING\r\n",
	}
	for name, in := range inputs {
		t.Run(name, func(t *testing.T) {
			used := buffersUsed(t)
			r := NewReader(&pieces{[]byte(in), bytewise}, Limits{})
			start := time.Now()
			for {
				if _, err := r.Next(); err == io.EOF {
					break
				} else if err != nil {
					t.Fatal(err)
				}
				r.Release()
			}
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("took %v", took)
			}
			if n := used(); n != 0 {
				t.Errorf("%d bytes of buffers still in use", n)
			}
		})
	}
}

// An announcement reserves little, and memory follows the data.
func TestAnnouncedLengthReservesNothing(t *testing.T) {
	for _, in := range []string{"*1\r\n$536870912\r\n", "*1000000\r\n$1\r\na\r\n", "*1048576\r\n"} {
		used := buffersUsed(t)
		heap := heapBytes()
		r := NewReader(strings.NewReader(in), Limits{})
		if _, err := r.Next(); err != io.ErrUnexpectedEOF {
			t.Fatal(err)
		}
		if n := used(); n > aheadMin {
			t.Errorf("%q reserved %d bytes", in, n)
		}
		if n := heapBytes() - heap; n > 2*aheadMin {
			t.Errorf("%q: heap grew by %d bytes", in, n)
		}
		r.Close()
		if n := used(); n != 0 {
			t.Errorf("%q: %d bytes in use after Close", in, n)
		}
	}
}

func TestBufferGrowsWithTheData(t *testing.T) {
	const arrived = 1 << 20
	used := buffersUsed(t)
	in := append([]byte("*1\r\n$536870912\r\n"), make([]byte, arrived)...)
	r := NewReader(bytes.NewReader(in), Limits{})
	defer r.Close()
	if _, err := r.Next(); err != io.ErrUnexpectedEOF {
		t.Fatal(err)
	}
	if n := used(); n > 2*arrived {
		t.Errorf("%d bytes held for %d", n, arrived)
	}
}

func TestLargeArgumentEndsInItsExactClass(t *testing.T) {
	used := buffersUsed(t)
	r := NewReader(strings.NewReader(bulks(1, 5_000_000)), Limits{})
	defer r.Close()
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if n, want := used(), int64(classSize(classOf(5_000_002))); n != want {
		t.Errorf("%d bytes in use, want %d", n, want)
	}
}

// A hundred megabytes without a line end are refused after 64 KiB.
func TestEndlessLineIsRefused(t *testing.T) {
	for first, want := range map[string]string{
		"x":       errInlineSize.Text,
		"*":       errMultibulkHeaderSize.Text,
		"*1\r\n$": errBulkHeaderSize.Text,
		"\"":      errInlineSize.Text,
	} {
		used := buffersUsed(t)
		src := io.MultiReader(strings.NewReader(first), &loop{data: []byte(strings.Repeat("1", 4096))})
		r := NewReader(src, Limits{})
		if _, err := r.Next(); err == nil || err.Error() != want {
			t.Errorf("%q: %v", first, err)
		}
		if n := used(); n > 256<<10 {
			t.Errorf("%q: %d bytes of buffers", first, n)
		}
		r.Close()
	}
}

// Fast pipelining of large values stays within the read buffer and one value.
func TestPipelineOfLargeValuesStaysFlat(t *testing.T) {
	for _, size := range []int{5000, 16_000, 17_000, 120_000} {
		used := buffersUsed(t)
		r := NewReader(&loop{data: pipeline(8, size)}, Limits{})
		most, batch := int64(0), 0
		for range 1000 {
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
			n := 1
			for ok := true; ok && n < 128; n++ {
				_, ok, _ = r.TryNext()
			}
			most, batch = max(most, used()), max(batch, n)
			r.Release()
		}
		if limit := int64(2*largeChunk + size + size/4); most > limit {
			t.Errorf("%d bytes each: %d bytes of buffers, limit %d", size, most, limit)
		}
		r.Close()
	}
}

// After a large command nothing of it stays with the connection.
func TestLargeCommandLeavesNothingBehind(t *testing.T) {
	for _, size := range []int{120_000, 30_000_000} {
		used := buffersUsed(t)
		r := NewReader(strings.NewReader(bulks(1, size)+"PING\r\n"), Limits{})
		for range 2 {
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
			r.Release()
		}
		if n := used(); n != 0 {
			t.Errorf("%d bytes in use after a command of %d", n, size)
		}
		if n := len(r.buf); n > smallChunk {
			t.Errorf("%d bytes of chunk kept", n)
		}
	}
}

// An argument cannot be appended to over its neighbour.
func TestArgumentsHaveNoSpareCapacity(t *testing.T) {
	in := append(AppendCommand(nil, "SET", "key", "value"), "PING\r\n"...)
	r := NewReader(bytes.NewReader(in), Limits{})
	args, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	_ = append(args[0], "overwritten"...)
	_ = append(args, []byte("also"))
	next, _, err := r.TryNext()
	if err != nil || string(next[0]) != "PING" {
		t.Fatalf("next command: %q, %v", next, err)
	}
	if string(args[1]) != "key" || string(args[2]) != "value" {
		t.Fatalf("got %q", args)
	}
}

// Ten thousand idle connections: what Reader and Writer cost beside the
// goroutine and the socket.
func TestIdleConnectionIsSmall(t *testing.T) {
	const conns = 1000
	readers, writers := make([]*Reader, conns), make([]*Writer, conns)
	in := bulks(40, 120) + bulks(1, 150_000)
	used := buffersUsed(t)
	before := heapBytes()
	for i := range readers {
		readers[i] = NewReader(strings.NewReader(in), Limits{})
		writers[i] = NewWriter(discardConn{}, 2)
		for {
			args, err := readers[i].Next()
			if err == io.EOF {
				break
			}
			writers[i].Bulk(args[len(args)-1])
			if readers[i].Buffered() > 0 {
				continue
			}
			if err := writers[i].Flush(); err != nil {
				t.Fatal(err)
			}
			readers[i].Release()
		}
	}
	runtime.GC() // a second collection empties the pools
	if each := (heapBytes() - before) / conns; each > 5<<10 {
		t.Errorf("%d bytes for each idle connection", each)
	}
	if n := used(); n != 0 {
		t.Errorf("%d bytes of buffers in use", n)
	}
	runtime.KeepAlive(readers)
	runtime.KeepAlive(writers)
}
