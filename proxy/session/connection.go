package session

import (
	"strconv"
	"time"

	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/node/command"
)

func (s *session) ping(args [][]byte) {
	switch len(args) {
	case 1:
		s.out.Status("PONG")
	case 2:
		s.out.Bulk(args[1])
	default:
		s.fail(command.WrongArity("ping"))
	}
}

func (s *session) echo(args [][]byte) { s.out.Bulk(args[1]) }

func (s *session) quit([][]byte) {
	s.ok()
	s.ending = true
}

// reset makes the session as new: no transaction, no name, nobody logged in,
// RESP2, database 0, and replies on.
func (s *session) reset([][]byte) {
	s.dropTransaction()
	s.stopMonitoring()
	s.mute = false
	s.out.Discard(false)
	s.setProto(2)
	s.use(0)
	s.setName("")
	s.mark(flagNoEvict|flagNoTouch, false)
	s.become(s.srv.auth.Anonymous())
	s.out.Status("RESET")
}

func (s *session) setProto(proto int) {
	s.out.SetProto(proto)
	s.shown.proto.Store(int32(proto))
}

// use makes n the database of the session.
func (s *session) use(n int) {
	s.database = n
	s.shown.database.Store(int32(n))
}

func (s *session) selectDatabase(args [][]byte) {
	n, why := databaseNumber(args[1])
	if why != "" {
		s.fail(why)
		return
	}
	s.use(n)
	s.ok()
}

// databaseNumber reads the number of a database.
func databaseNumber(text []byte) (int, command.Error) {
	n, ok := integer(text)
	switch {
	case !ok:
		return 0, command.ErrNotInteger
	case n < 0 || n >= topology.Databases:
		return 0, command.ErrDatabaseRange
	}
	return int(n), ""
}

// integer reads a 64-bit integer in the only form that Redis takes: no plus sign,
// no leading zero.
func integer(text []byte) (int64, bool) {
	n, err := strconv.ParseInt(string(text), 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == string(text)
}

func (s *session) swapDatabases(args [][]byte) {
	first, ok := integer(args[1])
	if !ok {
		s.fail(command.ErrInvalidFirstDatabase)
		return
	}
	second, ok := integer(args[2])
	if !ok {
		s.fail(command.ErrInvalidSecondDatabase)
		return
	}
	if min(first, second) < 0 || max(first, second) >= topology.Databases {
		s.fail(command.ErrDatabaseRange)
		return
	}
	if err := s.srv.grid.SwapDatabases(s.ctx, int(first), int(second)); err != nil {
		s.fail(command.Failed(err))
		return
	}
	s.ok()
}

func (s *session) time([][]byte) {
	now := time.Now()
	s.out.Array(2)
	s.out.BulkString(strconv.FormatInt(now.Unix(), 10))
	s.out.BulkString(strconv.Itoa(now.Nanosecond() / 1000))
}

func (s *session) unwatchCommand([][]byte) {
	s.unwatch()
	s.ok()
}

func (s *session) commandAll([][]byte)   { command.AppendAll(s.out) }
func (s *session) commandCount([][]byte) { command.AppendCount(s.out) }

func (s *session) commandDocs(args [][]byte) { command.AppendDocs(s.out, args[2:]) }
func (s *session) commandInfo(args [][]byte) { command.AppendInfo(s.out, args[2:]) }
func (s *session) commandList(args [][]byte) { command.AppendList(s.out, args[2:]) }

func (s *session) commandGetKeys(args [][]byte) { command.AppendGetKeys(s.out, args[2:]) }
func (s *session) commandGetKeysAndFlags(args [][]byte) {
	command.AppendGetKeysAndFlags(s.out, args[2:])
}
