package session

import (
	"errors"
	"net"
	"time"

	"github.com/tiergrid/tiergrid/node/command"
	"github.com/tiergrid/tiergrid/node/resp"
	"github.com/tiergrid/tiergrid/proxy/poll"
)

const (
	// A failed accept, as with no file descriptors left, is tried again after
	// acceptDelay, doubled each time up to maxAcceptDelay.
	acceptDelay    = 5 * time.Millisecond
	maxAcceptDelay = time.Second
	// refusalTimeout is how long a client that is not served may take to read why.
	refusalTimeout = time.Second
)

// Serve accepts clients from ln until Drain or Close, and then returns ErrClosed.
// It closes ln. Errors of accept are waited out: the listener stays.
func (srv *Server) Serve(ln net.Listener) error {
	defer ln.Close()
	if !srv.addListener(ln) {
		return ErrClosed
	}
	defer srv.removeListener(ln)
	delay := time.Duration(0)
	for {
		conn, err := ln.Accept()
		switch {
		case err == nil:
			delay = 0
			srv.start(conn)
		case srv.draining():
			return ErrClosed
		case errors.Is(err, net.ErrClosed):
			return err
		default:
			delay = min(max(2*delay, acceptDelay), maxAcceptDelay)
			srv.log.Warn("cannot accept a client", "error", err, "retry_in", delay)
			srv.sleep(delay)
		}
	}
}

func (srv *Server) addListener(ln net.Listener) bool {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	if srv.mu.closing {
		return false
	}
	srv.mu.listeners[ln] = struct{}{}
	srv.sessions.Add(1)
	if addr, ok := ln.Addr().(*net.TCPAddr); ok {
		srv.bound.CompareAndSwap(nil, addr)
	}
	return true
}

func (srv *Server) removeListener(ln net.Listener) {
	srv.mu.Lock()
	delete(srv.mu.listeners, ln)
	srv.mu.Unlock()
	srv.sessions.Done()
}

// sleep waits, or until the Server is closed.
func (srv *Server) sleep(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-srv.stop:
	case <-srv.ctx.Done():
	}
}

// start serves conn, by the poller if that can watch it. Close waits for its session.
func (srv *Server) start(conn net.Conn) {
	if !srv.enter() {
		conn.Close()
		return
	}
	go func() {
		if watched, err := srv.poller.Add(conn); err == nil {
			conn = watched
		} else if !errors.Is(err, poll.ErrUnsupported) {
			srv.log.Warn("a client gets a goroutine of its own", "error", err)
		}
		srv.serve(conn)
	}()
}

// ServeConn serves a connection that somebody else accepted and has not read
// from, and closes it when the session ends.
func (srv *Server) ServeConn(conn net.Conn) {
	if !srv.enter() {
		conn.Close()
		return
	}
	srv.serve(conn)
}

// enter counts one more goroutine, unless the Server is closing.
func (srv *Server) enter() bool {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	if srv.mu.closing {
		return false
	}
	srv.sessions.Add(1)
	return true
}

// serve runs one session from greeting to end, or tells why there is none. One that is
// watched by the poller goes on after serve has returned.
func (srv *Server) serve(conn net.Conn) {
	srv.stats.connections.Add(1)
	if tcp, ok := conn.(*net.TCPConn); ok {
		idle := srv.cfg.Limits.KeepAlive
		// A connection that cannot be probed is served all the same.
		_ = tcp.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: idle, Interval: idle / 3, Count: 3})
	}
	if srv.auth.Open() && !local(conn.RemoteAddr()) {
		srv.refuse(conn, command.ErrProtected)
		return
	}
	s := srv.admit(conn)
	if s == nil {
		srv.refuse(conn, command.ErrMaxClients)
		return
	}
	if s.polled != nil {
		s.polled.User = s
		s.open()
		s.resume()
		return
	}
	s.serve()
	srv.forget(s)
}

// admit makes the session of a client, or returns nil if there are too many.
func (srv *Server) admit(conn net.Conn) *session {
	s := newSession(srv, conn)
	srv.mu.Lock()
	if int64(srv.mu.places) >= srv.maxClients.Load() {
		srv.mu.Unlock()
		s.cancel()
		return nil
	}
	srv.mu.lastID++
	s.id = srv.mu.lastID
	srv.mu.sessions[s.id] = s
	srv.mu.places++
	s.counted = true
	closing := srv.mu.closing
	srv.mu.Unlock()
	if closing { // Drain has not seen it
		s.wake()
	}
	return s
}

// leaves gives the place of a session to another client. It comes before the client
// can see the end of its connection, so that whoever has seen it may come back.
func (srv *Server) leaves(s *session) {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	if s.counted {
		srv.mu.places--
		s.counted = false
	}
}

// forget ends a session that is over.
func (srv *Server) forget(s *session) {
	srv.mu.Lock()
	delete(srv.mu.sessions, s.id)
	srv.mu.Unlock()
	srv.sessions.Done()
}

// refuse tells a client why it is not served.
func (srv *Server) refuse(conn net.Conn, why command.Error) {
	defer srv.sessions.Done()
	srv.stats.rejected.Add(1)
	out := resp.NewWriter(conn, 2)
	out.SetWriteTimeout(refusalTimeout)
	out.Error(string(why))
	if out.Flush() == nil {
		linger(conn)
	}
	conn.Close()
	if watched, ok := conn.(*poll.Conn); ok {
		watched.End()
	}
}

// local reports whether a peer is on this machine.
func local(addr net.Addr) bool {
	switch a := addr.(type) {
	case *net.TCPAddr:
		return a.IP.IsLoopback()
	case *net.UnixAddr:
		return true
	}
	return addr != nil && addr.Network() == "pipe"
}
