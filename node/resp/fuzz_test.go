package resp

import (
	"bufio"
	"bytes"
	"strings"
	"testing"
)

// FuzzReader: no input makes the Reader panic, exceed its limits or hold more
// than they allow, and how the input is cut makes no difference.
func FuzzReader(f *testing.F) {
	for _, c := range readerCases {
		f.Add([]byte(c.in), uint8(3))
	}
	f.Add([]byte(bulks(2, 17000)), uint8(200))
	f.Add([]byte(strings.Repeat("*0\r\n\r\n", 30)+"PING\r\n"), uint8(1))
	limits := Limits{MaxBulk: 20000, MaxArgs: 50, MaxInline: 300, MaxCommand: 40000}
	f.Fuzz(func(t *testing.T, in []byte, step uint8) {
		used := buffersUsed(t)
		want := transcript(t, &pieces{bytes.Clone(in), whole}, limits, 1)
		for name, next := range map[string]func(int) int{
			"bytewise": bytewise,
			"in steps": func(int) int { return int(step)*int(step) + 1 },
			"cut once": cutAt(int(step)),
		} {
			if got := transcript(t, &pieces{bytes.Clone(in), next}, limits, 1+int(step%5)); got != want {
				t.Fatalf("%s: got %q, want %q", name, got, want)
			}
		}
		checkLimits(t, in, limits)
		if n := used(); n != 0 {
			t.Fatalf("%d bytes of buffers lost", n)
		}
	})
}

func checkLimits(t *testing.T, in []byte, l Limits) {
	used := buffersUsed(t)
	inline := l.MaxInline/2 + 1
	r := NewReader(bytes.NewReader(in), l)
	defer r.Close()
	for {
		args, err := r.Next()
		if n := used(); n > int64(2*largeChunk+2*l.MaxCommand+aheadMin) {
			t.Fatalf("%d bytes of buffers", n)
		}
		if err != nil {
			return
		}
		if len(args) == 0 || len(args) > max(l.MaxArgs, inline) || r.Pending() > l.MaxCommand {
			t.Fatalf("%d arguments, %d bytes", len(args), r.Pending())
		}
		for _, a := range args {
			if len(a) > max(l.MaxBulk, l.MaxInline) || cap(a) != len(a) {
				t.Fatalf("argument of %d bytes, capacity %d", len(a), cap(a))
			}
		}
		r.Release()
	}
}

// FuzzReadReply: no reply makes the decoder panic or exceed its limits.
func FuzzReadReply(f *testing.F) {
	for _, c := range replyCases {
		f.Add([]byte(c.in))
	}
	f.Add([]byte("*1000000\r\n%1000\r\n*1\r\n"))
	limits := ReplyLimits{MaxBytes: 10000, MaxElems: 1000, MaxDepth: 8}
	f.Fuzz(func(t *testing.T, in []byte) {
		r := bufio.NewReaderSize(bytes.NewReader(in), 64)
		for {
			v, err := ReadReply(r, limits)
			if err != nil {
				return
			}
			if size, elems := measure(v); size > limits.MaxBytes || elems > limits.MaxElems {
				t.Fatalf("%d bytes in %d elements", size, elems)
			}
		}
	})
}

func measure(v Value) (size, elems int) {
	if v.Kind != KindDouble && v.Kind != KindBigNumber {
		size = len(v.Bytes)
	}
	elems = len(v.Elems)
	for _, e := range v.Elems {
		s, n := measure(e)
		size, elems = size+s, elems+n
	}
	return size, elems
}
