package admin

import (
	"net"
	"sync"
	"time"
)

// queue is the listener that the HTTP server accepts from: it holds nothing,
// putting and accepting meet.
type queue struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newQueue() *queue {
	return &queue{conns: make(chan net.Conn), done: make(chan struct{})}
}

// put waits until c is accepted; false says that the queue is closed.
func (q *queue) put(c net.Conn) bool {
	select {
	case q.conns <- c:
		return true
	case <-q.done:
		return false
	}
}

// sleep waits, but not beyond Close.
func (q *queue) sleep(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-q.done:
	}
}

// Accept is for the HTTP server.
func (q *queue) Accept() (net.Conn, error) {
	select {
	case c := <-q.conns:
		return c, nil
	case <-q.done:
		return nil, net.ErrClosed
	}
}

// Close lets every Accept and put end.
func (q *queue) Close() error {
	q.once.Do(func() { close(q.done) })
	return nil
}

// Addr is only there to make the queue a listener.
func (q *queue) Addr() net.Addr { return &net.TCPAddr{} }
