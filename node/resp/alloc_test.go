//go:build !race

// The race detector makes sync.Pool forget on purpose, so the ceilings hold
// without it only.

package resp

import "testing"

func TestReadingAllocatesNothing(t *testing.T) {
	for name, c := range map[string]struct{ batch, size int }{
		"100 B alone":        {1, 100},
		"100 B by 40":        {40, 100},
		"100 B pipelined":    {256, 100},
		"16 kB pipelined":    {4, 16_000},
		"120 kB pipelined":   {4, 120_000},
		"5 kB one at a time": {1, 5000},
	} {
		r := NewReader(&loop{data: pipeline(c.batch, c.size)}, Limits{})
		allocs := testing.AllocsPerRun(300, func() {
			if _, err := readBatch(r); err != nil {
				t.Fatal(err)
			}
		})
		if allocs > 0 {
			t.Errorf("%s: %v allocations per batch", name, allocs)
		}
		r.Close()
	}
}

func TestInlineCommandAllocatesNothing(t *testing.T) {
	r := NewReader(&loop{data: []byte("SET key \"a\\x41\"\r\n")}, Limits{})
	defer r.Close()
	allocs := testing.AllocsPerRun(300, func() {
		if _, err := readBatch(r); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 0 {
		t.Errorf("%v allocations per batch", allocs)
	}
}

func TestSmallRepliesAllocateNothing(t *testing.T) {
	value := make([]byte, 100)
	for _, proto := range []int{2, 3} {
		w := NewWriter(discardConn{}, proto)
		allocs := testing.AllocsPerRun(300, func() {
			for range 100 {
				w.Status("OK")
				w.Error("ERR no")
				w.Int(1234567)
				w.Bulk(value)
				w.BulkString("x")
				w.Null()
				w.Map(2)
				w.Double(3.25)
				w.Bool(true)
				w.Verbatim("txt", "x")
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		})
		if allocs > 0 {
			t.Errorf("RESP%d: %v allocations per flush", proto, allocs)
		}
	}
}

func TestOwnedRepliesAllocateNothing(t *testing.T) {
	server, client := tcpPair(t)
	w := NewWriter(server, 2)
	const replies = 4
	total := replies * (len("$120000\r\n") + 120000 + len("\r\n"))
	in := make([]byte, total)
	allocs := testing.AllocsPerRun(50, func() {
		for range replies {
			buf := GetBuffer(120000)
			w.BulkOwned(buf.B[:120000], buf)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			for n := 0; n < total; {
				m, err := client.Read(in[n:])
				if err != nil {
					return
				}
				n += m
			}
		}()
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		<-done
	})
	if allocs > 3 { // of the test's own goroutine and channel
		t.Errorf("%v allocations per flush", allocs)
	}
}
