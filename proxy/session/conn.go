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

// linger ends our side of a connection and waits shortly for the client to end
// its own.
func linger(conn net.Conn) {
	half, ok := conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	if conn.SetReadDeadline(time.Now().Add(lingerTime)) != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, conn, lingerBytes) // whatever comes, the connection is closed next
}
