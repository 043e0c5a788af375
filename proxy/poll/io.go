package poll

import (
	"io"
	"net"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The system calls below never wait, because the sockets do not block, so they are
// made without the runtime's leave.

func rawRead(fd int, p []byte) (int, unix.Errno) {
	n, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	return int(n), errno
}

func rawWrite(fd int, p []byte) (int, unix.Errno) {
	n, _, errno := unix.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	return int(n), errno
}

func rawWritev(fd int, vector []unix.Iovec) (int, unix.Errno) {
	n, _, errno := unix.RawSyscall(unix.SYS_WRITEV, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(vector))), uintptr(len(vector)))
	return int(n), errno
}

// TryRead reads what is there, or returns ErrWouldBlock. It is io.EOF at the end.
func (c *Conn) TryRead(p []byte) (int, error) {
	if c.reading.deadline.Load() != 0 && c.reading.late() {
		c.drained = true
		c.takeInput()
		return 0, os.ErrDeadlineExceeded
	}
	if c.drained && !c.takeInput() {
		return 0, ErrWouldBlock
	}
	c.drained = false // errors and the end can be read again
	for {
		n, errno := rawRead(c.fd, p)
		switch {
		case errno == unix.EINTR:
			continue
		case errno == unix.EAGAIN:
			c.drained = true
			return 0, ErrWouldBlock
		case errno != 0:
			return 0, c.failure("read", errno)
		case n == 0 && len(p) > 0:
			return 0, c.failure("read", 0)
		}
		// Less than there was room for means that there is no more, but for the
		// end itself.
		c.drained = n < len(p) && c.state.Load()&hungUp == 0
		return n, nil
	}
}

// takeInput reports whether there has been input since it was last taken.
func (c *Conn) takeInput() bool {
	return c.state.Load()&input != 0 && c.state.And(^input)&input != 0
}

// failure is the error of a system call, or io.EOF for none.
func (c *Conn) failure(op string, errno unix.Errno) error {
	switch {
	case c.isClosed():
		return net.ErrClosed
	case errno == 0:
		return io.EOF
	}
	return &net.OpError{Op: op, Net: c.remote.Network(), Source: c.local, Addr: c.remote, Err: os.NewSyscallError(op, errno)}
}

// Read implements net.Conn.
func (c *Conn) Read(p []byte) (int, error) {
	for {
		c.reading.arm()
		n, err := c.TryRead(p)
		if err != ErrWouldBlock {
			return n, err
		}
		if err := c.reading.wait(); err != nil {
			return 0, err
		}
	}
}

// TryWrite writes what the socket takes now, which may be nothing. An error means
// that the connection is broken.
func (c *Conn) TryWrite(p []byte) (int, error) {
	return c.tryWrite("write", func() (int, unix.Errno) { return rawWrite(c.fd, p) })
}

func (c *Conn) tryWrite(op string, call func() (int, unix.Errno)) (int, error) {
	for {
		n, errno := call()
		switch errno {
		case 0:
			return n, nil
		case unix.EINTR:
		case unix.EAGAIN:
			return 0, nil
		default:
			return 0, c.failure(op, errno)
		}
	}
}

// maxVector bounds the pieces of one system call.
const maxVector = 64

// TryWriteBuffers is TryWrite for several pieces.
func (c *Conn) TryWriteBuffers(pieces [][]byte) (int, error) {
	var vector [maxVector]unix.Iovec
	n := 0
	for _, piece := range pieces[:min(len(pieces), maxVector)] {
		if len(piece) > 0 {
			vector[n].Base = unsafe.SliceData(piece)
			vector[n].SetLen(len(piece))
			n++
		}
	}
	return c.tryWrite("writev", func() (int, unix.Errno) { return rawWritev(c.fd, vector[:n]) })
}

// Write implements net.Conn.
func (c *Conn) Write(p []byte) (int, error) {
	written := 0
	for written < len(p) {
		n, err := c.write(func() (int, error) { return c.TryWrite(p[written:]) })
		written += n
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// WriteBuffers writes all pieces. Unlike net.Buffers it leaves them alone.
func (c *Conn) WriteBuffers(pieces [][]byte) (int64, error) {
	total, skip := int64(0), 0 // skip is how much of pieces[0] was written
	for len(pieces) > 0 {
		if skip == len(pieces[0]) {
			pieces, skip = pieces[1:], 0
			continue
		}
		n, err := c.write(func() (int, error) {
			if skip > 0 {
				return c.TryWrite(pieces[0][skip:])
			}
			return c.TryWriteBuffers(pieces)
		})
		total += int64(n)
		if err != nil {
			return total, err
		}
		for skip += n; len(pieces) > 0 && skip >= len(pieces[0]); pieces = pieces[1:] {
			skip -= len(pieces[0])
		}
	}
	return total, nil
}

// write tries until something was written.
func (c *Conn) write(try func() (int, error)) (int, error) {
	for {
		c.writing.arm()
		n, err := try()
		if n > 0 || err != nil {
			return n, err
		}
		if c.writing.late() {
			return 0, os.ErrDeadlineExceeded
		}
		if err := c.writing.wait(); err != nil {
			return 0, err
		}
	}
}
