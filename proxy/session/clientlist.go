package session

import (
	"net"
	"strconv"
	"syscall"

	"github.com/tiergrid/tiergrid/node/command"
	"github.com/tiergrid/tiergrid/proxy/poll"
)

// clientTypes are the words of CLIENT LIST and KILL TYPE. There are only normal
// clients here; monitors are such.
func clientType(word []byte) (normal bool, why command.Error) {
	switch {
	case fold(word, "normal"):
		return true, ""
	case fold(word, "master"), fold(word, "slave"), fold(word, "replica"), fold(word, "pubsub"):
		return false, ""
	}
	return false, command.UnknownClientType(word)
}

func (s *session) clientInfo([][]byte) {
	s.out.Verbatim("txt", string(s.appendInfo(nil)))
}

// clientList is CLIENT LIST [TYPE type | ID id...].
func (s *session) clientList(args [][]byte) {
	options := args[2:]
	switch {
	case len(options) == 0:
		s.list(func(*session) bool { return true })
	case fold(options[0], "type") && len(options) == 2:
		normal, why := clientType(options[1])
		if why != "" {
			s.fail(why)
			return
		}
		s.list(func(*session) bool { return normal })
	case fold(options[0], "id") && len(options) > 1:
		s.listByID(options[1:])
	default:
		s.fail(command.ErrSyntax)
	}
}

func (s *session) listByID(words [][]byte) {
	ids := make(map[uint64]bool, len(words))
	for _, word := range words {
		n, ok := integer(word)
		if !ok {
			s.fail(command.ErrListClientID)
			return
		}
		ids[uint64(n)] = true
	}
	s.list(func(c *session) bool { return ids[c.id] })
}

func (s *session) list(keep func(*session) bool) {
	var text []byte
	for _, c := range s.srv.byID() {
		if keep(c) {
			text = c.appendInfo(text)
		}
	}
	s.out.Verbatim("txt", string(text))
}

// appendInfo appends the line of a client. Any goroutine may call it: figures of
// another session are those of its last batch.
func (s *session) appendInfo(dst []byte) []byte {
	now := s.srv.now()
	s.labels.Lock()
	name, user, libName, libVersion := s.labels.name, s.labels.user, s.labels.libName, s.labels.libVersion
	s.labels.Unlock()
	number := func(field string, n int64) { dst = strconv.AppendInt(append(dst, field...), n, 10) }
	word := func(field, text string) { dst = append(append(dst, field...), text...) }
	sh := &s.shown

	number("id=", int64(s.id))
	word(" addr=", s.addr)
	word(" laddr=", s.laddr)
	number(" fd=", fileDescriptor(s.conn))
	word(" name=", name)
	number(" age=", max(0, now-s.born)/1000)
	number(" idle=", max(0, now-sh.lastSeen.Load())/1000)
	word(" flags=", flagLetters(sh.flags.Load()))
	number(" db=", int64(sh.database.Load()))
	word(" sub=0 psub=0 ssub=0", "")
	number(" multi=", int64(sh.queued.Load()))
	number(" qbuf=", sh.buffered.Load())
	number(" qbuf-free=", 0)
	number(" argv-mem=", sh.argMem.Load())
	number(" multi-mem=", sh.queueMem.Load())
	word(" rbs=0 rbp=0 obl=0 oll=0 omem=0", "")
	number(" tot-mem=", sessionBytes+sh.buffered.Load()+sh.argMem.Load()+sh.queueMem.Load())
	word(" events=", "r")
	word(" cmd=", commandName(int(sh.command.Load())))
	word(" user=", user)
	number(" redir=", -1)
	number(" resp=", int64(sh.proto.Load()))
	word(" lib-name=", libName)
	word(" lib-ver=", libVersion)
	return append(dst, '\n')
}

// sessionBytes is about what an idle session takes.
const sessionBytes = 4 << 10

func commandName(id int) string {
	if id < 0 {
		return "NULL"
	}
	return command.Commands()[id].Name
}

// flagLetters are the letters of CLIENT LIST, in the order of Redis.
func flagLetters(flags uint32) string {
	letters := make([]byte, 0, 8)
	for _, f := range []struct {
		flag   uint32
		letter byte
	}{
		{flagMonitor, 'O'}, {flagMulti, 'x'}, {flagBlocked, 'b'}, {flagClosing, 'A'}, {flagNoEvict, 'e'}, {flagNoTouch, 'T'},
	} {
		if flags&f.flag != 0 {
			letters = append(letters, f.letter)
		}
	}
	if len(letters) == 0 {
		return "N"
	}
	return string(letters)
}

// fileDescriptor is the number of the connection's socket, -1 if it has none.
func fileDescriptor(conn net.Conn) int64 {
	if watched, ok := conn.(*poll.Conn); ok {
		return int64(watched.Descriptor())
	}
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return -1
	}
	number := int64(-1)
	if raw, err := socket.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { number = int64(fd) }) // of a closed connection: -1
	}
	return number
}
