package poll

import (
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Conn is a connection that a Poller watches. It is a net.Conn with these rules:
// one goroutine at a time reads, its owner; one writes, which may be another one;
// Close cuts the connection off, from any goroutine, and the owner ends it with End.
type Conn struct {
	// User is whatever whoever added the connection wants to find it by. It is set
	// before the first Release.
	User any

	poller        *Poller
	fd            int
	generation    uint32
	local, remote net.Addr

	// state says whether somebody owns the connection, and what has happened since
	// the owner last looked.
	state atomic.Uint32

	// drained says that there was nothing left to read. It belongs to the owner.
	drained bool

	reading, writing waiter

	mu     sync.Mutex
	closed bool // guarded by mu: cut off
	ended  bool // guarded by mu: fd is no longer ours
}

// Bits of Conn.state.
const (
	owned uint32 = 1 << iota
	// input: the socket has got something to read since it was claimed or input was
	// last taken.
	input
	// hungUp: the peer has ended its side, or the connection broke. It stays, as
	// the end is read behind everything else.
	hungUp
)

const (
	readable = unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLHUP | unix.EPOLLERR
	writable = unix.EPOLLOUT | unix.EPOLLHUP | unix.EPOLLERR
	ending   = unix.EPOLLRDHUP | unix.EPOLLHUP | unix.EPOLLERR
)

// happened takes events of the socket, and reports whether the caller owns the
// connection by them.
func (c *Conn) happened(events uint32) bool {
	claimed := false
	if events&readable != 0 {
		bits := owned | input
		if events&ending != 0 {
			bits |= hungUp
		}
		claimed = c.state.Or(bits)&owned == 0
		c.reading.wake()
	}
	if events&writable != 0 {
		c.writing.wake()
	}
	return claimed
}

// Claim makes the caller the owner, if nobody is; otherwise the owner will try to
// read once more before it releases the connection.
func (c *Conn) Claim() bool {
	claimed := c.state.Or(owned|input)&owned == 0
	c.reading.wake()
	return claimed
}

// Release gives the connection back to the Poller: the caller must not touch it any
// more. It returns false, and the caller still owns it, where there is more to read.
func (c *Conn) Release() bool {
	if !c.drained {
		return false
	}
	for {
		state := c.state.Load()
		if state&input != 0 {
			return false
		}
		if c.state.CompareAndSwap(state, state&^owned) {
			return true
		}
	}
}

// Close implements net.Conn: it cuts the connection off. Whoever reads or writes
// gets an error, and the Poller serves the connection once more if nobody owns it.
func (c *Conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	c.closed = true
	if !c.ended {
		// The peer may have done it before.
		_ = unix.Shutdown(c.fd, unix.SHUT_RDWR)
	}
	c.reading.wake()
	c.writing.wake()
	return nil
}

// End closes the socket. The owner calls it when nobody else reads or writes.
func (c *Conn) End() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	c.closed, c.ended = true, true
	c.poller.conns.remove(c)
	unix.Close(c.fd)
	c.poller.counts.Conns.Add(-1)
}

// CloseWrite ends our side of the connection.
func (c *Conn) CloseWrite() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	return unix.Shutdown(c.fd, unix.SHUT_WR)
}

// Descriptor is the number of the socket.
func (c *Conn) Descriptor() int { return c.fd }

// LocalAddr implements net.Conn.
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr implements net.Conn.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline implements net.Conn.
func (c *Conn) SetDeadline(t time.Time) error {
	_ = c.SetReadDeadline(t) // never fails
	return c.SetWriteDeadline(t)
}

// SetReadDeadline implements net.Conn. It holds for TryRead too.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.reading.setDeadline(t)
	return nil
}

// SetWriteDeadline implements net.Conn. It does not hold for TryWrite.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	c.writing.setDeadline(t)
	return nil
}

func (c *Conn) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

var _ net.Conn = (*Conn)(nil)
