package resp

import (
	"io"
	"net"
	"strings"
	"testing"
)

// loop is an endless connection that repeats data.
type loop struct {
	data []byte
	at   int
	most int // bytes of one read, 0 for any
}

func (l *loop) Read(p []byte) (int, error) {
	if l.most > 0 && len(p) > l.most {
		p = p[:l.most]
	}
	n := copy(p, l.data[l.at:])
	l.at += n
	if l.at == len(l.data) {
		l.at = 0
	}
	return n, nil
}

func setCommand(size int) []byte {
	return AppendCommand(nil, "SET", "key:000000012345", strings.Repeat("v", size))
}

// pipeline returns n SETs of size bytes.
func pipeline(n, size int) []byte {
	return []byte(strings.Repeat(string(setCommand(size)), n))
}

// readBatch takes what a session would: one command, and all that is buffered.
func readBatch(r *Reader) (commands int, err error) {
	if _, err := r.Next(); err != nil {
		return 0, err
	}
	commands = 1
	for commands < 128 {
		_, ok, err := r.TryNext()
		if err != nil {
			return commands, err
		}
		if !ok {
			break
		}
		commands++
	}
	r.Release()
	return commands, nil
}

func benchmarkRead(b *testing.B, src io.Reader, size int) {
	r := NewReader(src, Limits{})
	b.SetBytes(int64(len(setCommand(size))))
	b.ReportAllocs()
	b.ResetTimer()
	for done := 0; done < b.N; {
		n, err := readBatch(r)
		if err != nil {
			b.Fatal(err)
		}
		done += n
	}
}

func BenchmarkReadPipeline100B(b *testing.B) {
	benchmarkRead(b, &loop{data: pipeline(256, 100)}, 100)
}

func BenchmarkReadSixteen100B(b *testing.B) {
	benchmarkRead(b, &loop{data: pipeline(16, 100)}, 100)
}

func BenchmarkReadOne100B(b *testing.B) {
	benchmarkRead(b, &loop{data: pipeline(1, 100)}, 100)
}

func BenchmarkRead16kB(b *testing.B) {
	benchmarkRead(b, &loop{data: pipeline(4, 16000)}, 16000)
}

func BenchmarkRead120kB(b *testing.B) {
	benchmarkRead(b, &loop{data: pipeline(4, 120000)}, 120000)
}

// discardConn is a net.Conn that takes everything.
type discardConn struct{ net.Conn }

func (discardConn) Write(p []byte) (int, error) { return len(p), nil }

func BenchmarkWriteBulk100B(b *testing.B) {
	w := NewWriter(discardConn{}, 2)
	value := []byte(strings.Repeat("v", 100))
	b.ReportAllocs()
	for i := range b.N {
		w.Bulk(value)
		if i%16 == 15 {
			_ = w.Flush()
		}
	}
}

func BenchmarkWriteStatus(b *testing.B) {
	w := NewWriter(discardConn{}, 2)
	b.ReportAllocs()
	for i := range b.N {
		w.Status("OK")
		if i%16 == 15 {
			_ = w.Flush()
		}
	}
}

func BenchmarkWriteInt(b *testing.B) {
	w := NewWriter(discardConn{}, 2)
	b.ReportAllocs()
	for i := range b.N {
		w.Int(int64(i))
		if i%16 == 15 {
			_ = w.Flush()
		}
	}
}

func BenchmarkWriteOwned120kB(b *testing.B) {
	w := NewWriter(discardConn{}, 2)
	w.vectored = true
	b.ReportAllocs()
	for range b.N {
		buf := GetBuffer(120000)
		w.BulkOwned(buf.B[:120000], buf)
		_ = w.Flush()
	}
}
