package session

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tiergrid/tiergrid/node/command"
	"github.com/tiergrid/tiergrid/node/resp"
	"github.com/tiergrid/tiergrid/proxy/auth"
	"github.com/tiergrid/tiergrid/proxy/grid"
	"github.com/tiergrid/tiergrid/proxy/poll"
)

// session is one client.
type session struct {
	// Static after admission.
	srv    *Server
	conn   net.Conn
	polled *poll.Conn // conn, if the poller watches it; see watched.go
	id     uint64
	addr   string // of the peer
	laddr  string
	born   int64 // Unix milliseconds
	ctx    context.Context
	cancel context.CancelFunc

	counted bool // against maxClients; guarded by srv.mu

	// Owned by whoever works on the session.
	in       *resp.Reader
	out      *resp.Writer
	sent     int64          // bytes of out that were counted
	who      *auth.Identity // nil before login
	database int
	work     *work        // nil between batches
	tx       *transaction // nil outside MULTI
	watches  watchList
	outbox   *outbox // set while the client monitors
	mute     bool    // CLIENT REPLY OFF
	skip     bool    // CLIENT REPLY SKIP: the next command has no reply
	inExec   bool    // a queued command is running
	ending   bool    // the session ends after what is in out was written

	// Of a session that is watched.
	next  [][]byte // a command that was read and needs a goroutine
	left  bool     // what was gathered last is left to a goroutine
	more  bool     // there may be more commands in the Reader
	quiet bool     // there was nothing more to read

	// Read by other sessions, set by the owner.
	shown shown
	// labels is what the client calls itself.
	labels struct {
		sync.Mutex
		name, libName, libVersion, user string
	}
}

// shown is what CLIENT LIST tells of a session.
type shown struct {
	flags    atomic.Uint32
	lastSeen atomic.Int64 // Unix milliseconds
	running  atomic.Bool  // a batch is being worked on
	command  atomic.Int32 // ID of the last command, less than 0 for none
	database atomic.Int32
	proto    atomic.Int32
	queued   atomic.Int32 // commands in the transaction, -1 outside
	queueMem atomic.Int64
	buffered atomic.Int64 // bytes read and not yet parsed
	argMem   atomic.Int64
}

// work is what a session needs while it works on a batch, pooled because most
// sessions are idle.
type work struct {
	batch grid.Batch
}

var works = sync.Pool{New: func() any { return new(work) }}

// keptRequests is the most room for requests that goes back to the pool.
const keptRequests = 256

func newSession(srv *Server, conn net.Conn) *session {
	polled, _ := conn.(*poll.Conn)
	s := &session{srv: srv, conn: conn, polled: polled, addr: peerName(conn.RemoteAddr()), laddr: peerName(conn.LocalAddr()), born: srv.now()}
	s.ctx, s.cancel = context.WithCancel(srv.ctx)
	s.shown.lastSeen.Store(s.born)
	s.shown.command.Store(-1)
	s.shown.queued.Store(-1)
	return s
}

// peerName is an address as Redis writes it.
func peerName(addr net.Addr) string {
	switch a := addr.(type) {
	case nil:
		return ""
	case *net.UnixAddr:
		return a.Name + ":0"
	}
	return addr.String()
}

// serve runs the session until its end, and then closes the connection.
func (s *session) serve() {
	defer s.over()
	defer s.recovered()
	s.open()
	for s.turn() {
	}
	s.end()
}

func (s *session) open() {
	s.in = resp.NewReader(s, resp.BeforeLogin())
	s.out = s.newWriter(2)
	s.become(s.srv.auth.Anonymous())
	s.shown.proto.Store(2)
}

// over closes the connection of a session that has ended.
func (s *session) over() {
	s.cancel()
	s.srv.leaves(s)
	s.conn.Close()
	if s.polled != nil {
		s.polled.End()
	}
}

func (s *session) newWriter(proto int) *resp.Writer {
	out := resp.NewWriter(s.conn, proto)
	out.SetWriteTimeout(s.srv.cfg.Limits.WriteTimeout)
	return out
}

// recovered ends the session when something in it panicked. What it held of the
// pools is left to the garbage collector, as nobody knows who else still uses it.
func (s *session) recovered() {
	if cause := recover(); cause != nil {
		s.failed(cause)
	}
}

// failed counts and reports a panic, after which the session must end.
func (s *session) failed(cause any) {
	s.srv.stats.panics.Add(1)
	s.srv.log.Error("a session failed and was closed", "client", s.id, "addr", s.addr,
		"cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
	if s.outbox != nil {
		s.outbox.abort()
	}
}

// end gives back what the session holds.
func (s *session) end() {
	s.dropTransaction()
	s.stopMonitoring()
	s.in.Close()
	s.out.Reset()
}

// Read is the Reader's source: the connection, counted.
func (s *session) Read(p []byte) (n int, err error) {
	if s.polled != nil {
		n, err = s.polled.TryRead(p)
	} else {
		n, err = s.conn.Read(p)
	}
	if n == 0 {
		return n, err
	}
	s.shown.lastSeen.Store(s.srv.now())
	s.srv.stats.bytesIn.Add(int64(n))
	return n, err
}

// turn works on one batch and reports whether there may be another.
func (s *session) turn() bool {
	args, err := s.in.Next()
	if err == poll.ErrWouldBlock {
		s.quiet = true
		return true
	}
	if err != nil {
		return s.inputEnded(err)
	}
	s.begin()
	return s.conclude(s.batch(args))
}

// conclude ends a batch whose commands were all worked on, err being an error of the
// input behind them. It reports whether there may be another batch.
func (s *session) conclude(err error) bool {
	s.runData()
	s.finish()
	if err != nil && !s.ending {
		return s.inputEnded(err)
	}
	if s.ending {
		s.hangUp()
	}
	return !s.ending
}

// batch works on args and on what else has arrived, within the limits of a batch.
// An error is one of the input, after which nothing can be read.
func (s *session) batch(args [][]byte) error {
	limits := &s.srv.cfg.Limits
	for n := 1; ; n++ {
		s.dispatch(args)
		if s.ending || n >= limits.Batch || s.in.Pending() >= limits.BatchBytes {
			return nil
		}
		next, ok, err := s.in.TryNext()
		if err != nil || !ok {
			return err
		}
		args = next
	}
}

// begin takes what a batch needs.
func (s *session) begin() {
	s.shown.running.Store(true)
	s.shown.buffered.Store(int64(s.in.Buffered()))
	s.work = works.Get().(*work)
	s.work.batch.Origin = s.addr
	s.work.batch.Out = s.out
}

// finish sends the replies of a batch and gives everything back.
func (s *session) finish() {
	s.flush()
	s.giveBack()
}

// giveBack gives back what a batch has taken.
func (s *session) giveBack() {
	s.shown.argMem.Store(0)
	s.in.Release()
	w := s.work
	s.work = nil
	w.batch = grid.Batch{Requests: w.batch.Requests[:0]}
	if cap(w.batch.Requests) <= keptRequests {
		works.Put(w)
	}
	s.shown.lastSeen.Store(s.srv.now())
	s.shown.running.Store(false)
}

// flush writes what is pending. When that fails the session ends.
func (s *session) flush() {
	err := s.out.Flush()
	s.countSent()
	if err != nil {
		s.lost(err)
	}
}

// countSent counts what was sent since it was last called, by the grid too. An
// outbox counts by itself.
func (s *session) countSent() {
	if s.outbox != nil {
		return
	}
	n := s.out.Written()
	s.srv.stats.bytesOut.Add(n - s.sent)
	s.sent = n
}

// lost ends the session because its replies cannot be written: the client is
// gone, or has not read for too long.
func (s *session) lost(err error) {
	if !s.ending && errors.Is(err, os.ErrDeadlineExceeded) {
		s.srv.stats.slowReaders.Add(1)
	}
	s.ending = true
}

// inputEnded ends the session after an error of the input: with a reply if the
// client broke the protocol.
func (s *session) inputEnded(err error) bool {
	var bad *resp.ProtocolError
	if errors.As(err, &bad) {
		s.srv.stats.protocolErrors.Add(1)
		text := string(command.Failed(bad))
		s.srv.stats.failure(text)
		s.out.Error(text)
		s.flush()
		s.hangUp()
	}
	return false
}

// hangUp lets the client read its last replies before the connection is closed.
func (s *session) hangUp() {
	s.srv.leaves(s)
	if s.outbox != nil {
		s.stopMonitoring()
	}
	if s.out.Err() == nil && s.ctx.Err() == nil {
		linger(s.conn)
	}
}

// kill cuts the session off. Any goroutine may call it.
func (s *session) kill() {
	s.mark(flagClosing, true)
	s.cancel()
	s.srv.leaves(s)
	s.conn.Close()
}

// wake makes a session that waits for input end. Any goroutine may call it.
func (s *session) wake() {
	_ = s.conn.SetReadDeadline(time.Unix(1, 0)) // a closed connection needs no waking
	if s.polled != nil && s.polled.Claim() {
		s.srv.crew.do(s)
	}
}

// become makes somebody the session's user; nil is nobody.
func (s *session) become(who *auth.Identity) {
	s.who = who
	name := "default"
	if who == nil {
		s.in.SetLimits(resp.BeforeLogin())
	} else {
		s.in.SetLimits(s.srv.cfg.Limits.afterLogin())
		name = who.Name()
	}
	s.labels.Lock()
	s.labels.user = name
	s.labels.Unlock()
}

// Flags of a session as CLIENT LIST shows them.
const (
	flagMonitor uint32 = 1 << iota
	flagMulti
	flagBlocked
	flagClosing
	flagNoEvict
	flagNoTouch
)

// mark sets or clears a flag.
func (s *session) mark(flag uint32, on bool) {
	if on {
		s.shown.flags.Or(flag)
	} else {
		s.shown.flags.And(^flag)
	}
}
