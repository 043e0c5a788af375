// Package socket listens on and dials the admin socket, a Unix socket in a data
// directory which only the owner of the directory can open: Path, Listen, Dial.
//
// Listen replaces the file that a killed process left, after it has made sure
// that nobody listens there. It does not arbitrate between two processes that
// start at the same moment; the lock of the data directory does. The functions
// may be called from any goroutine and start none.
package socket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// Name is the file name of the socket.
const Name = "admin.sock"

var (
	// ErrInUse is returned by Listen while another process listens.
	ErrInUse = errors.New("another process serves this admin socket")
	// ErrNotSocket is returned by Listen when something else has the name.
	ErrNotSocket = errors.New("a file that is not a socket is in the way")
)

// mode lets the owner alone connect.
const mode = 0o600

// maxPath is what a socket address can hold, its closing zero byte counted, on
// the system with the smallest one.
const maxPath = 104

// probeTimeout bounds the question whether somebody listens.
const probeTimeout = time.Second

// Path returns the path of the socket of a data directory.
func Path(dir string) string { return filepath.Join(dir, Name) }

// Listen listens at path with mode 0600.
func Listen(path string) (net.Listener, error) {
	if err := clearStale(path); err != nil {
		return nil, fmt.Errorf("admin socket %s: %w", path, err)
	}
	addr, release, err := address(path)
	if err != nil {
		return nil, fmt.Errorf("admin socket %s: %w", path, err)
	}
	// Where the system honours it, the mode is set before the file exists.
	lc := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { _ = syscall.Fchmod(int(fd), mode) })
	}}
	ln, err := lc.Listen(context.Background(), "unix", addr)
	if err != nil {
		release()
		return nil, fmt.Errorf("admin socket %s: %w", path, err)
	}
	if err := os.Chmod(path, mode); err != nil {
		ln.Close()
		release()
		return nil, fmt.Errorf("admin socket: %w", err)
	}
	return &listener{ln, release}, nil
}

// Dial connects to the socket at path.
func Dial(ctx context.Context, path string) (net.Conn, error) {
	addr, release, err := address(path)
	if err != nil {
		return nil, err
	}
	defer release()
	var d net.Dialer
	return d.DialContext(ctx, "unix", addr)
}

// listener keeps the directory open as long as its address needs it.
type listener struct {
	net.Listener
	release func()
}

// Close also removes the socket's file.
func (l *listener) Close() error {
	defer l.release()
	return l.Listener.Close()
}

// clearStale removes a socket that nobody listens on.
func clearStale(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return ErrNotSocket
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	c, err := Dial(ctx, path)
	switch {
	case err == nil:
		c.Close()
		return ErrInUse
	case errors.Is(err, syscall.ECONNREFUSED):
		return os.Remove(path)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, context.DeadlineExceeded):
		return ErrInUse // its queue is full: somebody is there
	}
	return err
}

// address returns a form of path that fits into a socket address, and a function
// that releases what the form depends on. A long path is reached through its
// open directory.
func address(path string) (addr string, release func(), err error) {
	if len(path) < maxPath {
		return path, func() {}, nil
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return "", nil, err
	}
	addr = filepath.Join("/proc/self/fd", strconv.Itoa(int(dir.Fd())), filepath.Base(path))
	if _, err := os.Stat(filepath.Dir(addr)); err != nil {
		dir.Close()
		return "", nil, fmt.Errorf("the path is longer than %d bytes; use a data directory with a shorter one", maxPath)
	}
	return addr, func() { dir.Close() }, nil
}
