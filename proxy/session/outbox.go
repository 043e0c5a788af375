package session

import (
	"errors"
	"net"
	"sync"
	"time"
)

// errOutbox is returned for writes to an outbox that was closed.
var errOutbox = errors.New("session: outbox closed")

// outbox is the output of a client that also gets what others cause: a bounded
// queue of encoded bytes, written by a goroutine of its own. All output of the
// session goes through it while it exists, so that nothing is torn.
type outbox struct {
	conn    net.Conn
	limit   int
	lagging func() // called once when the client is cut off for not reading
	wrote   func(n int64)
	done    chan struct{}

	mu struct {
		sync.Mutex
		queue  [][]byte
		size   int
		closed bool // nothing more is queued; what is queued is written
		broken bool // nothing more is written
		// timeout is how long one write may take nothing.
		timeout time.Duration
	}
	ready sync.Cond // on mu: queue is not empty, or closed, or broken
}

func newOutbox(conn net.Conn, limits *Limits, lagging func(), wrote func(n int64)) *outbox {
	o := &outbox{
		conn: conn, limit: limits.Output,
		lagging: lagging, wrote: wrote, done: make(chan struct{}),
	}
	o.mu.timeout = limits.WriteTimeout
	o.ready.L = &o.mu
	go o.run()
	return o
}

// Write queues a copy of p.
func (o *outbox) Write(p []byte) (int, error) {
	if !o.put(append([]byte(nil), p...)) {
		return 0, errOutbox
	}
	return len(p), nil
}

// put queues b, which must not change any more. It never waits: a client that
// has left too much unread is cut off.
func (o *outbox) put(b []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.mu.closed || o.mu.broken {
		return false
	}
	if o.mu.size+len(b) > o.limit {
		o.breakOff()
		o.lagging()
		return false
	}
	o.mu.queue = append(o.mu.queue, b)
	o.mu.size += len(b)
	o.ready.Signal()
	return true
}

// breakOff is called with mu locked.
func (o *outbox) breakOff() {
	o.mu.broken = true
	o.mu.queue, o.mu.size = nil, 0
	o.conn.Close()
	o.ready.Signal()
}

// close writes what is queued and waits for the goroutine to end.
func (o *outbox) close() {
	o.mu.Lock()
	o.mu.closed = true
	o.ready.Signal()
	o.mu.Unlock()
	<-o.done
}

// hurry makes a client that does not read hold close up no longer than patience.
func (o *outbox) hurry(patience time.Duration) {
	o.mu.Lock()
	o.mu.timeout = patience
	o.mu.Unlock()
	o.arm()
}

// arm gives the write under way, or the next one, its time.
func (o *outbox) arm() {
	o.mu.Lock()
	defer o.mu.Unlock()
	_ = o.conn.SetWriteDeadline(time.Now().Add(o.mu.timeout)) // fails only where the write does
}

// abort drops what is queued, closes the connection and waits for the goroutine.
func (o *outbox) abort() {
	o.mu.Lock()
	o.breakOff()
	o.mu.Unlock()
	<-o.done
}

func (o *outbox) run() {
	defer close(o.done)
	for {
		list, size := o.take()
		if list == nil {
			return
		}
		o.arm()
		n, err := list.WriteTo(o.conn)
		o.wrote(n)
		if err != nil {
			o.mu.Lock()
			o.breakOff()
			o.mu.Unlock()
			return
		}
		o.mu.Lock()
		o.mu.size -= size
		o.mu.Unlock()
	}
}

// take waits for something to write. What it took still counts until written.
func (o *outbox) take() (net.Buffers, int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.mu.queue) == 0 && !o.mu.closed && !o.mu.broken {
		o.ready.Wait()
	}
	if o.mu.broken || len(o.mu.queue) == 0 {
		return nil, 0
	}
	list := net.Buffers(o.mu.queue)
	o.mu.queue = nil
	return list, o.mu.size
}
