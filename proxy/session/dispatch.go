package session

import (
	"time"

	"github.com/tiergrid/tiergrid/node/command"
	"github.com/tiergrid/tiergrid/proxy/auth"
	"github.com/tiergrid/tiergrid/proxy/grid"
)

// handler answers a connection command: it appends one reply to s.out. args has
// passed command.Resolve.
type handler func(s *session, args [][]byte)

// handlers is indexed by the command's ID; nil is a data command.
var handlers []handler

func init() {
	handlers = make([]handler, command.Count())
	for name, h := range connectionCommands {
		cmd := command.LookupFull([]byte(name))
		if cmd == nil {
			panic("session: no such command: " + name)
		}
		handlers[cmd.ID] = h
	}
}

// dispatch works on one command: data commands join the batch, all others are
// answered at once.
func (s *session) dispatch(args [][]byte) {
	if s.skip {
		s.unanswered(args)
		return
	}
	s.execute(args)
}

// unanswered works on the command after CLIENT REPLY SKIP.
func (s *session) unanswered(args [][]byte) {
	s.runData()
	s.skip = false
	s.out.Discard(true)
	s.execute(args)
	s.runData()
	s.out.Discard(s.mute)
}

// execute follows the order in which Redis looks at a command, as each step has
// its own error.
func (s *session) execute(args [][]byte) {
	cmd, err := command.Resolve(args)
	if cmd == nil && spokenByBrowsers(args[0]) {
		s.refuseBrowser(args[0])
		return
	}
	if err == nil {
		err = s.permit(cmd, args)
	}
	if s.ending {
		return
	}
	if err != nil {
		s.reject(cmd, command.Failed(err))
		return
	}
	s.show(cmd)
	if s.srv.pause.active() {
		s.waitForPause(cmd)
		if s.ending {
			return
		}
	}
	h := handlers[cmd.ID]
	switch {
	case s.tx != nil && !immediate(cmd):
		s.enqueue(cmd, args, h)
	case h != nil:
		s.answer(cmd, args, h)
	case !cmd.Built:
		s.reject(cmd, command.NotBuilt(cmd))
	default:
		s.collect(cmd, args)
	}
}

// show tells others which command came last.
func (s *session) show(cmd *command.Command) {
	if id := int32(cmd.ID); s.shown.command.Load() != id {
		s.shown.command.Store(id)
	}
}

// spokenByBrowsers recognises the first words of an HTTP request. A web page can
// make a browser send one to a port of loopback, with commands in its body.
func spokenByBrowsers(word []byte) bool { return fold(word, "post") || fold(word, "host:") }

// refuseBrowser ends the session without a word, as Redis does.
func (s *session) refuseBrowser(word []byte) {
	s.runData()
	s.srv.log.Warn("a client speaks HTTP on a RESP port and was closed", "client", s.id, "addr", s.addr, "word", string(word))
	s.ending = true
}

// permit tells why a command must not run, if so.
func (s *session) permit(cmd *command.Command, args [][]byte) error {
	if s.tx != nil && cmd.Flags&command.NoMulti != 0 {
		return command.ErrNotInMulti
	}
	if s.who != nil && !s.srv.auth.Fresh(s.who) {
		s.renew()
	}
	if s.who == nil {
		if cmd.Flags&command.NoAuth == 0 {
			return command.ErrNoAuth
		}
		return nil
	}
	if !s.who.Unrestricted() {
		if err := s.who.Check(cmd, args); err != nil {
			return err
		}
	}
	if s.outbox != nil && cmd.Flags&(command.ReadOnly|command.Write) != 0 {
		return command.ErrMonitorsData
	}
	return nil
}

// renew follows a change of the users. The session of a removed user ends without
// a word, as in Redis.
func (s *session) renew() {
	who, err := s.srv.auth.Renew(s.who)
	if err == auth.ErrRevoked {
		s.runData()
		s.ending = true
		return
	}
	s.become(who)
}

// reject answers a command that is not run.
func (s *session) reject(cmd *command.Command, why command.Error) {
	s.runData()
	s.srv.stats.reject(cmd, why)
	if s.tx != nil {
		s.tx.broken = true
	}
	if cmd == cmdExec {
		s.dropTransaction()
		why = command.ExecAborted(why)
	}
	s.out.Error(string(why))
}

// answer runs a connection command.
func (s *session) answer(cmd *command.Command, args [][]byte, h handler) {
	s.runData()
	start := time.Now()
	s.out.ResetError()
	h(s, args)
	s.account(cmd, args, s.database, time.Since(start), s.out.LastError())
}

// collect adds a data command to the batch.
func (s *session) collect(cmd *command.Command, args [][]byte) {
	b := &s.work.batch
	b.Requests = append(b.Requests, grid.Request{Cmd: cmd, Args: args, Database: s.database})
}

// runData runs the data commands collected so far. After it all replies so far
// are in out or were sent.
func (s *session) runData() {
	b := &s.work.batch
	if len(b.Requests) == 0 {
		return
	}
	s.shown.argMem.Store(int64(s.in.Pending()))
	s.runBatch(b)
	clear(b.Requests)
	b.Requests = b.Requests[:0]
}

// runBatch runs a batch of data commands and accounts for them.
func (s *session) runBatch(b *grid.Batch) {
	err := s.srv.grid.Run(s.ctx, b)
	s.accountBatch(b.Requests)
	if err != nil {
		s.lost(err)
	}
}
