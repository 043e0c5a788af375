package admin

import (
	"io"
	"net"
	"syscall"
	"time"
)

// firstByte waits for the first byte of c. The connection it returns still has
// the byte in front. A TCP connection is returned as it is: the byte is looked
// at in the kernel, so what is written to it later can be gathered in one system
// call. In front of any other connection stands one that replays the byte.
func firstByte(c net.Conn, timeout time.Duration) (byte, net.Conn, error) {
	if err := c.SetReadDeadline(time.Now().Add(timeout)); err != nil {
		return 0, c, err
	}
	b, c, err := look(c)
	if err != nil {
		return 0, c, err
	}
	return b, c, c.SetReadDeadline(time.Time{})
}

func look(c net.Conn) (byte, net.Conn, error) {
	if tcp, ok := c.(*net.TCPConn); ok {
		b, err := peek(tcp)
		return b, c, err
	}
	var b [1]byte
	if _, err := io.ReadFull(c, b[:]); err != nil {
		return 0, c, err
	}
	return b[0], &replay{Conn: c, first: b[:]}, nil
}

// peek waits for a byte and leaves it in the connection.
func peek(c *net.TCPConn) (byte, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var b [1]byte
	var n int
	var errRecv error
	err = raw.Read(func(fd uintptr) bool {
		for {
			n, _, errRecv = syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK)
			if errRecv != syscall.EINTR {
				return errRecv != syscall.EAGAIN
			}
		}
	})
	switch {
	case err != nil:
		return 0, err
	case errRecv != nil:
		return 0, errRecv
	case n == 0:
		return 0, io.EOF
	}
	return b[0], nil
}

// replay is a connection whose first byte was read already.
type replay struct {
	net.Conn
	first []byte // the byte, or empty once it was read again
}

// Read begins with the byte.
func (r *replay) Read(p []byte) (int, error) {
	if len(r.first) == 0 {
		return r.Conn.Read(p)
	}
	n := copy(p, r.first)
	r.first = r.first[n:]
	return n, nil
}

// NetConn returns the connection beneath, from which the first byte is missing.
func (r *replay) NetConn() net.Conn { return r.Conn }
