package session

import (
	"github.com/tiergrid/tiergrid/node/command"
	"github.com/tiergrid/tiergrid/node/resp"
	"github.com/tiergrid/tiergrid/proxy/grid"
)

const (
	// queuedOverhead is what a queued or watched thing takes beside its bytes.
	queuedOverhead = 128
	argOverhead    = 24
	// queueChunk is the memory that small queued commands share.
	queueChunk = 16 << 10
)

// transaction is what a session queued since MULTI.
type transaction struct {
	queue  []queued
	chunks []*resp.Buffer // hold the arguments; the last one has room
	size   int
	broken bool // a command could not be queued: EXEC refuses
}

// queued is one command of a transaction. Its arguments are copies.
type queued struct {
	cmd  *command.Command
	args [][]byte
	run  handler // of a connection command
}

// immediate reports whether cmd is not queued inside MULTI.
func immediate(cmd *command.Command) bool {
	switch cmd {
	case cmdExec, cmdDiscard, cmdMulti, cmdWatch, cmdQuit, cmdReset:
		return true
	}
	return false
}

// enqueue queues a command, run being its handler if it is a connection command.
func (s *session) enqueue(cmd *command.Command, args [][]byte, run handler) {
	why := s.queueable(cmd, args, run)
	if why != "" {
		s.reject(cmd, why)
		return
	}
	s.tx.add(cmd, args, run)
	s.shown.queued.Store(int32(len(s.tx.queue)))
	s.shown.queueMem.Store(int64(s.tx.size))
	s.out.Status("QUEUED")
}

// queueable tells why a command cannot be queued, if so. SWAPDB changes the
// control state, which cannot be part of a transaction; a login is slow on
// purpose, and others would wait for the keys of the transaction meanwhile.
func (s *session) queueable(cmd *command.Command, args [][]byte, run handler) command.Error {
	switch {
	case run == nil && !cmd.Built:
		return command.NotBuilt(cmd)
	case cmd == cmdSwapDB, cmd == cmdAuth, cmd == cmdHello && len(args) > 2:
		return command.ErrNotInMulti
	case s.tx.size+queuedSize(args) > s.srv.cfg.Limits.Transaction:
		return command.ErrTransactionTooLarge
	}
	return ""
}

func queuedSize(args [][]byte) int {
	n := queuedOverhead
	for _, a := range args {
		n += argOverhead + len(a)
	}
	return n
}

// add copies a command into the queue.
func (t *transaction) add(cmd *command.Command, args [][]byte, run handler) {
	size := 0
	for _, a := range args {
		size += len(a)
	}
	chunk := t.room(size)
	copies := make([][]byte, len(args))
	for i, a := range args {
		from := len(chunk.B)
		chunk.B = append(chunk.B, a...)
		copies[i] = chunk.B[from:len(chunk.B):len(chunk.B)]
	}
	t.size += queuedSize(args)
	t.queue = append(t.queue, queued{cmd: cmd, args: copies, run: run})
}

// room returns a chunk that takes n more bytes without moving.
func (t *transaction) room(n int) *resp.Buffer {
	if last := len(t.chunks) - 1; last >= 0 {
		if b := t.chunks[last]; cap(b.B)-len(b.B) >= n {
			return b
		}
	}
	size := n
	if len(t.chunks) > 0 { // the first is small: most transactions are
		size = max(n, queueChunk)
	}
	b := resp.GetBuffer(size)
	t.chunks = append(t.chunks, b)
	return b
}

// dropTransaction ends MULTI and gives its memory back.
func (s *session) dropTransaction() {
	s.unwatch()
	if s.tx == nil {
		return
	}
	for _, b := range s.tx.chunks {
		b.Release()
	}
	s.tx = nil
	s.mark(flagMulti, false)
	s.shown.queued.Store(-1)
	s.shown.queueMem.Store(0)
}

func (s *session) multi([][]byte) {
	if s.tx != nil {
		// As in Redis, this does not break the transaction.
		s.fail(command.ErrNestedMulti)
		return
	}
	s.tx = &transaction{}
	s.mark(flagMulti, true)
	s.shown.queued.Store(0)
	s.ok()
}

func (s *session) discard([][]byte) {
	if s.tx == nil {
		s.fail(command.ErrDiscardWithoutMulti)
		return
	}
	s.dropTransaction()
	s.ok()
}

func (s *session) exec([][]byte) {
	switch {
	case s.tx == nil:
		s.fail(command.ErrExecWithoutMulti)
	case s.tx.broken:
		s.dropTransaction()
		s.fail(command.ErrExecAbort)
	default:
		s.runTransaction()
		s.dropTransaction()
		s.out.Discard(s.mute) // CLIENT REPLY OFF holds from behind the EXEC on
	}
}

// runTransaction hands the queue to the grid as one batch.
func (s *session) runTransaction() {
	t := s.tx
	if len(t.queue) == 0 && len(s.watches.list) == 0 {
		s.out.Array(0)
		return
	}
	b := &grid.Batch{Transaction: true, Watches: s.watches.list, Out: s.out, Origin: s.addr}
	b.Requests = make([]grid.Request, len(t.queue))
	database := s.database
	for i := range t.queue {
		q := &t.queue[i]
		b.Requests[i] = grid.Request{Cmd: q.cmd, Args: q.args, Database: database, Local: s.localAnswer(q)}
		if n, ok := selected(q); ok {
			database = n
		}
	}
	s.inExec = true
	err := s.srv.grid.Run(s.ctx, b)
	s.inExec = false
	if b.Error == "" {
		s.accountTransaction(b)
		s.out.ResetError() // errors inside are those of the queued commands
	}
	if err != nil {
		s.lost(err)
	}
}

// localAnswer is how the session answers a queued command itself, or nil where
// the grid does.
func (s *session) localAnswer(q *queued) func(*resp.Writer) {
	run := q.run
	if s.who != nil && !s.who.Unrestricted() {
		// The user may have changed since the command was queued.
		if err := s.who.Check(q.cmd, q.args); err != nil {
			why := command.RulesChanged(command.Failed(err))
			run = func(s *session, _ [][]byte) { s.fail(why) }
		}
	}
	if run == nil {
		return nil
	}
	return func(*resp.Writer) { run(s, q.args) }
}

// accountTransaction counts the commands of a transaction that ran: none did if
// a watched key was touched.
func (s *session) accountTransaction(b *grid.Batch) {
	for i := range b.Requests {
		r, q := &b.Requests[i], &s.tx.queue[i]
		if r.Elapsed == 0 && r.Error == "" {
			continue
		}
		database := r.Database
		if n, ok := selected(q); ok {
			database = n
		}
		s.account(q.cmd, q.args, database, r.Elapsed, r.Error)
	}
}

// selected returns the database that a queued SELECT will select.
func selected(q *queued) (database int, ok bool) {
	if q.cmd != cmdSelect {
		return 0, false
	}
	n, err := databaseNumber(q.args[1])
	return n, err == ""
}
