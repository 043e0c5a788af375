package resp

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

func tcpPair(t testing.TB) (server, client net.Conn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if client, err = net.Dial("tcp", ln.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if server, err = ln.Accept(); err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, server, client)
	return server, client
}

func pipePair(t testing.TB) (server, client net.Conn) {
	server, client = net.Pipe()
	closeAtEnd(t, server, client)
	return server, client
}

func closeAtEnd(t testing.TB, conns ...net.Conn) {
	t.Cleanup(func() {
		for _, c := range conns {
			c.Close()
		}
	})
}

// readAll reads n bytes in a goroutine that ends with them or with c.
func readAll(c net.Conn, n int) <-chan []byte {
	got := make(chan []byte, 1)
	go func() {
		b := make([]byte, n)
		m, _ := io.ReadFull(c, b)
		got <- b[:m]
	}()
	return got
}

// smallSockets makes the kernel hold little, so that writes block early, but
// several loopback segments, or its probe timer would pace the transfer.
func smallSockets(t testing.TB, server, client net.Conn) {
	t.Helper()
	if err := server.(*net.TCPConn).SetWriteBuffer(256 << 10); err != nil {
		t.Fatal(err)
	}
	if err := client.(*net.TCPConn).SetReadBuffer(256 << 10); err != nil {
		t.Fatal(err)
	}
}

func TestPeerThatReadsNothingTimesOut(t *testing.T) {
	for name, dial := range map[string]func(testing.TB) (server, client net.Conn){"tcp": tcpPair, "pipe": pipePair} {
		t.Run(name, func(t *testing.T) {
			server, _ := dial(t)
			used := buffersUsed(t)
			w := NewWriter(server, 2)
			w.SetWriteTimeout(50 * time.Millisecond)
			for range 4 {
				w.BulkOwned(owned(8<<20, 'x'))
			}
			start := time.Now()
			err := w.Flush()
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatalf("got %v", err)
			}
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("took %v", took)
			}
			if again := w.Flush(); again != err {
				t.Errorf("second Flush: %v", again)
			}
			if n := used(); n != 0 {
				t.Errorf("%d bytes of buffers in use", n)
			}
		})
	}
}

// A slow peer that keeps reading is served for much longer than the timeout.
func TestSlowButSteadyPeerIsServed(t *testing.T) {
	const timeout, size = 300 * time.Millisecond, 8 << 20
	for name, write := range map[string]func(*Writer){
		"one write": func(w *Writer) { w.Raw(make([]byte, 10)); w.BulkString(string(make([]byte, size))) },
		"writev":    func(w *Writer) { w.BulkOwned(owned(size, 'x')) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, client := tcpPair(t)
			smallSockets(t, server, client)
			w := NewWriter(server, 2)
			w.SetWriteTimeout(timeout)
			write(w)
			total := w.Pending()
			done := make(chan int, 1)
			go func() { done <- readSlowly(client, total, 4*timeout) }()
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			if n := <-done; n != total {
				t.Errorf("%d of %d bytes arrived", n, total)
			}
		})
	}
}

// readSlowly spreads the reading of n bytes over about d.
func readSlowly(c net.Conn, n int, d time.Duration) int {
	const steps = 30
	b := make([]byte, n/steps+1)
	got := 0
	for got < n {
		time.Sleep(d / steps)
		m, err := io.ReadFull(c, b[:min(len(b), n-got)])
		got += m
		if err != nil {
			break
		}
	}
	return got
}

// The deadline set for one flush does not fail a later one.
func TestWriteTimeoutAfterIdleTime(t *testing.T) {
	server, client := tcpPair(t)
	w := NewWriter(server, 2)
	w.SetWriteTimeout(20 * time.Millisecond)
	for range 3 {
		w.Status("OK")
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(40 * time.Millisecond)
	}
	w.SetWriteTimeout(0)
	w.Status("OK")
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if got := string(<-readAll(client, 20)); got != "+OK\r\n+OK\r\n+OK\r\n+OK\r\n" {
		t.Errorf("got %q", got)
	}
}
