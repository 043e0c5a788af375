package session

import (
	"io"
	"net"
	"time"
)

const (
	// What a client still sends after its last reply is read and dropped for
	// this long and up to this many bytes: closing a socket with unread input
	// resets it, and the client may then lose the reply.
	lingerTime  = 500 * time.Millisecond
	lingerBytes = 1 << 20
)

// Replay returns conn with head, which was read from it already, before the rest.
// Unlike other wrappers it does not hide from ServeConn what kind conn is, so
// large replies still go out with one system call.
func Replay(conn net.Conn, head []byte) net.Conn { return &replayed{Conn: conn, head: head} }

type replayed struct {
	net.Conn
	head []byte // nil once it was read
}

// Read returns the head first.
func (c *replayed) Read(p []byte) (int, error) {
	if c.head == nil {
		return c.Conn.Read(p)
	}
	n := copy(p, c.head)
	c.head = c.head[n:]
	if len(c.head) == 0 {
		c.head = nil
	}
	return n, nil
}

// bare is the connection to write to.
func bare(conn net.Conn) net.Conn {
	if r, ok := conn.(*replayed); ok {
		return r.Conn
	}
	return conn
}

// linger ends our side of a connection and waits shortly for the client to end
// its own.
func linger(conn net.Conn) {
	half, ok := bare(conn).(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	if conn.SetReadDeadline(time.Now().Add(lingerTime)) != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, conn, lingerBytes) // whatever comes, the connection is closed next
}
