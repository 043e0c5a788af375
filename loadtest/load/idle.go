package load

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"syscall"
)

const (
	idleDialers = 32
	// perSource is how many connections share one loopback source address; the
	// ports of one address would end at some 28,000.
	perSource = 20_000
	spareFDs  = 200
	// idleBuffer is the read buffer of a connection that only hears PONG, or one
	// line that says why it is not wanted.
	idleBuffer = 1 << 10
)

// Idle is a set of open connections on which nothing happens.
type Idle struct{ conns []*Conn }

// OpenIdle opens n connections to addr and lets each answer one PING, so that
// the server has made a session of it. A loopback server is reached from several
// loopback addresses.
func OpenIdle(ctx context.Context, addr string, n int) (*Idle, error) {
	if err := needFiles(n + spareFDs); err != nil {
		return nil, err
	}
	idle := &Idle{conns: make([]*Conn, n)}
	var next atomic.Int64
	err := inParallel(ctx, idleDialers, func(ctx context.Context, _ int) error {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			c, err := openOne(ctx, addr, i)
			if err != nil {
				return err
			}
			idle.conns[i] = c
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %d connections: %w", n, err), idle.Close())
	}
	return idle, nil
}

// openOne opens connection number i and waits for its PONG.
func openOne(ctx context.Context, addr string, i int) (*Conn, error) {
	d := net.Dialer{LocalAddr: source(addr, i)}
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	conn := newConn(c, idleBuffer)
	if err := conn.pong(); err != nil {
		return nil, errors.Join(fmt.Errorf("connection %d: %w", i, err), c.Close())
	}
	return conn, nil
}

// source is the local address of connection i, nil where the system chooses.
func source(addr string, i int) net.Addr {
	host, _, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err != nil || ip == nil || ip.To4() == nil || !ip.IsLoopback() {
		return nil
	}
	return &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(1+i/perSource))}
}

// Len is the number of connections.
func (d *Idle) Len() int { return len(d.conns) }

// Check asks every connection for a PONG: it fails when one was closed.
func (d *Idle) Check() error {
	for i, c := range d.conns {
		if err := c.pong(); err != nil {
			return fmt.Errorf("connection %d: %w", i, err)
		}
	}
	return nil
}

// Close closes all connections.
func (d *Idle) Close() error {
	var errs []error
	for _, c := range d.conns {
		if c != nil {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// needFiles raises the limit of open files of this process to its hard limit,
// and fails when that is not enough.
func needFiles(n int) error {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return err
	}
	if l.Max < uint64(n) {
		return fmt.Errorf("%d open files are needed and the hard limit is %d: raise it with ulimit -Hn", n, l.Max)
	}
	if l.Cur >= uint64(n) {
		return nil
	}
	l.Cur = l.Max
	return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &l)
}
