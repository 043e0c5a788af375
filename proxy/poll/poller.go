package poll

import (
	"errors"
	"fmt"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// Errors of this package.
var (
	// ErrWouldBlock is returned by TryRead and TryWrite where Read and Write
	// would wait.
	ErrWouldBlock = errors.New("poll: nothing can be read or written now")
	// ErrUnsupported is returned by Add for connections that are no sockets.
	ErrUnsupported = errors.New("poll: the connection is not a socket")
	// ErrClosed is returned by Add after Close.
	ErrClosed = errors.New("poll: poller closed")
)

// spareWorkers are there beside one for each processor, for turns that have to
// wait after all.
const spareWorkers = 4

// Config says what a Poller does.
type Config struct {
	// Serve works on the connections of a turn, which have something to read. It
	// is called by several workers at once, and takes them one after the other by
	// Turn.Next. It owns them then: each must be released, now or later.
	Serve func(t *Turn)
	// Workers is how many there are; 0 is one for each processor and a few more.
	Workers int
}

// Poller watches connections. Its methods may be called by any goroutine.
type Poller struct {
	config Config
	epoll  int
	stop   int // an event counter that ends the wait of the leader
	bell   int // an event counter that makes it look for spilled connections
	conns  table

	// token is the leadership while no worker has it.
	token    chan struct{}
	workers  []*worker
	watchdog watchdog
	spilled  spilled

	closing atomic.Bool
	quit    chan struct{}
	done    sync.WaitGroup

	counts Counts
}

// Counts are figures since the start, and the connections now.
type Counts struct {
	// Conns is how many connections are watched now.
	Conns atomic.Int64
	// Turns is how often Serve was called, Ready the connections it was given.
	Turns, Ready atomic.Int64
	// Delegated is how often a turn has given the leadership away, and Late how
	// often another worker went on because a turn took too long.
	Delegated, Late atomic.Int64
}

// Counts returns the counters, which go on.
func (p *Poller) Counts() *Counts { return &p.counts }

// Open starts a Poller. Close must be called to end it.
func Open(config Config) (*Poller, error) {
	if config.Serve == nil {
		return nil, errors.New("poll: Serve is missing")
	}
	if config.Workers == 0 {
		config.Workers = runtime.GOMAXPROCS(0) + spareWorkers
	}
	p := &Poller{config: config, token: make(chan struct{}, 1), quit: make(chan struct{})}
	p.watchdog.kick = make(chan struct{}, 1)
	if err := p.open(); err != nil {
		return nil, fmt.Errorf("poll: %w", err)
	}
	p.token <- struct{}{}
	for range config.Workers {
		w := newWorker(p)
		p.workers = append(p.workers, w)
		p.done.Go(w.run)
	}
	p.done.Go(p.watch)
	return p, nil
}

// The keys of the event counters; those of connections are file descriptors, which
// are not negative.
const (
	stopKey = -1
	bellKey = -2
)

func (p *Poller) open() (err error) {
	if p.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return err
	}
	// Level-triggered: every worker that comes to lead sees it.
	if p.stop, err = p.newCounter(stopKey, unix.EPOLLIN); err != nil {
		return errors.Join(err, unix.Close(p.epoll))
	}
	if p.bell, err = p.newCounter(bellKey, unix.EPOLLIN|edgeTriggered); err != nil {
		return errors.Join(err, unix.Close(p.stop), unix.Close(p.epoll))
	}
	return nil
}

// newCounter returns an event counter that the leader watches.
func (p *Poller) newCounter(key int32, events uint32) (int, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return -1, err
	}
	event := unix.EpollEvent{Events: events, Fd: key}
	if err := unix.EpollCtl(p.epoll, unix.EPOLL_CTL_ADD, fd, &event); err != nil {
		return -1, errors.Join(err, unix.Close(fd))
	}
	return fd, nil
}

// ring adds one to an event counter. That can only fail for one that has been rung
// 2^64 times.
func (p *Poller) ring(counter int) {
	_, _ = unix.Write(counter, []byte{1, 0, 0, 0, 0, 0, 0, 0})
}

// Close ends the workers and waits for them. All connections must have ended.
func (p *Poller) Close() error {
	if p.closing.Swap(true) {
		return ErrClosed
	}
	close(p.quit)
	p.ring(p.stop)
	p.done.Wait()
	return errors.Join(unix.Close(p.epoll), unix.Close(p.stop), unix.Close(p.bell))
}

// Add takes conn over: what is returned stands for it from now on, and conn itself
// must not be used again. The caller owns the connection; Serve is called for it once
// it was released. On an error conn is as it was.
func (p *Poller) Add(conn net.Conn) (*Conn, error) {
	fd, err := duplicate(conn)
	if err != nil {
		return nil, err
	}
	c := &Conn{poller: p, fd: fd, local: conn.LocalAddr(), remote: conn.RemoteAddr()}
	c.state.Store(owned)
	if p.closing.Load() {
		unix.Close(fd)
		return nil, ErrClosed
	}
	p.conns.add(c)
	if err := p.register(c); err != nil {
		p.conns.remove(c)
		unix.Close(fd)
		return nil, fmt.Errorf("poll: watch a socket: %w", err)
	}
	p.counts.Conns.Add(1)
	conn.Close() // the duplicate keeps the connection open
	return c, nil
}

func (p *Poller) register(c *Conn) error {
	event := unix.EpollEvent{
		Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | edgeTriggered,
		Fd:     int32(c.fd), Pad: int32(c.generation),
	}
	return unix.EpollCtl(p.epoll, unix.EPOLL_CTL_ADD, c.fd, &event)
}

// edgeTriggered is EPOLLET, which package unix has as a negative number.
const edgeTriggered = 1 << 31

// duplicate returns a descriptor of the same socket, which does not block: the
// runtime's own poller lets go of the original when that is closed.
func duplicate(conn net.Conn) (int, error) {
	var raw syscall.RawConn
	var err error
	switch c := conn.(type) {
	case *net.TCPConn:
		raw, err = c.SyscallConn()
	case *net.UnixConn:
		raw, err = c.SyscallConn()
	default:
		return -1, ErrUnsupported
	}
	if err != nil {
		return -1, fmt.Errorf("poll: %w", err)
	}
	fd, failed := -1, error(nil)
	err = raw.Control(func(original uintptr) {
		fd, failed = unix.FcntlInt(original, unix.F_DUPFD_CLOEXEC, 0)
	})
	if err = errors.Join(err, failed); err != nil {
		return -1, fmt.Errorf("poll: duplicate a socket: %w", err)
	}
	return fd, nil
}
