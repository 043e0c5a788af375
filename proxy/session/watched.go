package session

import (
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/tiergrid/tiergrid/node/command"
	"github.com/tiergrid/tiergrid/proxy/grid"
	"github.com/tiergrid/tiergrid/proxy/poll"
)

// A session whose connection the poller watches has no goroutine while its client
// sends nothing. When the client has, a worker of the poller gathers the commands, has
// those of several sessions run together, and sends the replies. All of that must not
// wait; what might is left to a goroutine of the crew, which resumes the session where
// the worker stopped, and goes on until there is nothing more to read.

const (
	// maxTogether is how many requests of several sessions are run at once: enough
	// to share what a batch costs, few enough that workers rarely want the same units.
	maxTogether = 16
	// With so many connections in one turn, or so many requests of one connection,
	// there is enough for another worker, and it is worth to wake one.
	delegateConns    = 64
	delegateRequests = 4
)

// gathering is what a worker has gathered and not yet run.
type gathering struct {
	sessions []*session
	batches  []*grid.Batch
	requests int
}

var gatherings = sync.Pool{New: func() any { return new(gathering) }}

// ready is called by workers of the poller; see poll.Config.
func (srv *Server) ready(turn *poll.Turn) {
	if turn.Len >= delegateConns {
		turn.Delegate()
	}
	g := gatherings.Get().(*gathering)
	for c := turn.Next(); c != nil; c = turn.Next() {
		s := c.User.(*session)
		s.gatherSafely()
		switch {
		case s.work != nil:
			g.add(s)
		case s.left:
			srv.leave(turn, s)
		default:
			turn.Release(c)
		}
		if g.requests >= maxTogether {
			if g.requests >= delegateRequests*len(g.sessions) {
				turn.Delegate()
			}
			srv.runTogether(turn, g)
		}
	}
	srv.runTogether(turn, g)
	gatherings.Put(g)
}

func (g *gathering) add(s *session) {
	g.sessions = append(g.sessions, s)
	g.batches = append(g.batches, &s.work.batch)
	g.requests += len(s.work.batch.Requests)
}

func (g *gathering) reset() {
	clear(g.sessions)
	clear(g.batches)
	g.sessions, g.batches, g.requests = g.sessions[:0], g.batches[:0], 0
}

// runTogether runs what was gathered, and sends the replies.
func (srv *Server) runTogether(turn *poll.Turn, g *gathering) {
	if len(g.sessions) == 0 {
		return
	}
	if g.requests > 0 {
		turn.Work += g.requests
		srv.runSafely(g)
	}
	for _, s := range g.sessions {
		srv.reply(turn, s)
	}
	g.reset()
}

// runSafely calls the grid. Should that panic, which is a bug, nobody knows what
// became of the requests, so their sessions end.
func (srv *Server) runSafely(g *gathering) {
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		srv.stats.panics.Add(1)
		srv.log.Error("running the commands of several sessions failed, and they were closed",
			"cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
		for _, s := range g.sessions {
			s.out.Reset()
			s.work.batch.Done = len(s.work.batch.Requests)
			s.ending, s.left = true, true
		}
	}()
	srv.grid.RunTogether(g.batches)
}

// reply sends the replies to what was run of a session's batch.
func (srv *Server) reply(turn *poll.Turn, s *session) {
	b := &s.work.batch
	s.accountBatch(b.Requests[:b.Done])
	b.Requests = slices.Delete(b.Requests, 0, b.Done)
	b.Done = 0
	if s.left || len(b.Requests) > 0 || !s.tryFlush() {
		srv.leave(turn, s)
		return
	}
	s.giveBack()
	if s.more {
		turn.Again(s.polled)
		return
	}
	turn.Release(s.polled)
}

// tryFlush sends what is pending without waiting, and reports whether that was all.
func (s *session) tryFlush() bool {
	all, err := s.out.TryFlush()
	s.countSent()
	if err != nil {
		s.lost(err)
	}
	return all && err == nil
}

// leave leaves a session to a goroutine.
func (srv *Server) leave(turn *poll.Turn, s *session) {
	turn.Yield = true
	srv.crew.do(s)
}

// gatherSafely gathers, and leaves a session in which that panicked to end.
func (s *session) gatherSafely() {
	defer func() {
		if cause := recover(); cause != nil {
			s.failed(cause)
			s.work, s.left, s.ending = nil, true, true
		}
	}()
	s.left, s.more = false, false
	s.left = !s.gather()
}

// gather collects the commands that have arrived, as far as they can be run together
// with those of others. False leaves the rest to a goroutine: one of the commands is
// of another kind, or the input has ended.
func (s *session) gather() bool {
	limits := &s.srv.cfg.Limits
	for {
		args, ok, err := s.in.TryNext()
		switch {
		case err != nil:
			return false
		case !ok:
			if err := s.in.Fill(); err != nil {
				return err == poll.ErrWouldBlock
			}
			continue
		}
		if s.work == nil {
			s.begin()
		}
		if !s.join(args) {
			s.next = args
			return false
		}
		if len(s.work.batch.Requests) >= limits.Batch || s.in.Pending() >= limits.BatchBytes {
			s.more = true
			return true
		}
	}
}

// join makes a command part of what is run together, if nothing speaks against it:
// then it is worked on in a goroutine, by the same steps as all.
func (s *session) join(args [][]byte) bool {
	cmd, err := command.Resolve(args)
	if err != nil || s.tx != nil || s.skip || s.outbox != nil || s.srv.pause.active() {
		return false
	}
	if s.who == nil || !s.srv.auth.Fresh(s.who) || !s.who.Unrestricted() && s.who.Check(cmd, args) != nil {
		return false
	}
	switch h := handlers[cmd.ID]; {
	case h == nil && cmd.Built:
		s.show(cmd)
		s.collect(cmd, args)
		return true
	case (cmd == cmdPing || cmd == cmdEcho) && len(s.work.batch.Requests) == 0:
		s.show(cmd)
		s.answer(cmd, args, h)
		return true
	}
	return false
}

// resume goes on with a session that the caller owns until there is nothing more to
// read, or the session has ended.
func (s *session) resume() {
	if s.proceed() {
		return
	}
	s.over()
	s.srv.forget(s)
}

// proceed reports whether the session goes on. Somebody else owns it then.
func (s *session) proceed() (released bool) {
	defer s.recovered()
	for on := s.takeUp(); on; on = s.turn() {
		if !s.quiet {
			continue
		}
		s.quiet = false
		if s.polled.Release() {
			return true
		}
	}
	s.end()
	return false
}

// takeUp finishes the batch that a worker has left, if there is one.
func (s *session) takeUp() bool {
	if s.work == nil {
		return !s.ending
	}
	var err error
	if args := s.next; args != nil {
		s.next = nil
		s.runData() // in front of it
		err = s.batch(args)
	}
	return s.conclude(err)
}
