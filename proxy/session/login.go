package session

import (
	"github.com/tiergrid/tiergrid/node/command"
)

// authCommand is AUTH [user] password.
func (s *session) authCommand(args [][]byte) {
	switch len(args) {
	case 2:
		s.login(nil, args[1])
	case 3:
		s.login(args[1], args[2])
	default:
		s.fail(command.ErrSyntax)
		return
	}
	if s.out.LastError() == "" {
		s.ok()
	}
}

// login logs a user in, or answers why not; the session then stays who it was.
func (s *session) login(name, password []byte) bool {
	who, err := s.srv.auth.Authenticate(s.ctx, name, password)
	if err != nil {
		s.fail(command.Failed(err))
		return false
	}
	s.become(who)
	return true
}

// greeting is a parsed HELLO.
type greeting struct {
	proto          int // 0: as it is
	user, password []byte
	login          bool
	name           []byte
	named          bool
}

// hello is HELLO [2|3 [AUTH user password] [SETNAME name]]. Nothing is changed
// unless all of it can be.
func (s *session) hello(args [][]byte) {
	g, why := parseHello(args)
	switch {
	case why != "":
		s.fail(why)
		return
	case g.login && !s.login(g.user, g.password):
		return
	case s.who == nil:
		s.fail(command.ErrNoAuthHello)
		return
	}
	if g.named {
		s.setName(string(g.name))
	}
	if g.proto != 0 {
		s.setProto(g.proto)
	}
	s.appendHello()
}

func parseHello(args [][]byte) (g greeting, why command.Error) {
	if len(args) == 1 {
		return g, ""
	}
	n, ok := integer(args[1])
	switch {
	case !ok:
		return g, command.ErrProtoNotInteger
	case n != 2 && n != 3:
		return g, command.ErrNoProto
	}
	g.proto = int(n)
	for i := 2; i < len(args); {
		left := len(args) - i - 1
		switch {
		case fold(args[i], "auth") && left >= 2:
			g.login, g.user, g.password = true, args[i+1], args[i+2]
			i += 3
		case fold(args[i], "setname") && left >= 1:
			g.named, g.name = true, args[i+1]
			if !printable(g.name) {
				return g, command.ErrClientName
			}
			i += 2
		default:
			return g, command.HelloOption(args[i])
		}
	}
	return g, ""
}

func (s *session) appendHello() {
	s.out.Map(7)
	s.out.BulkString("server")
	s.out.BulkString("redis")
	s.out.BulkString("version")
	s.out.BulkString(redisVersion)
	s.out.BulkString("proto")
	s.out.Int(int64(s.out.Proto()))
	s.out.BulkString("id")
	s.out.Int(int64(s.id))
	s.out.BulkString("mode")
	s.out.BulkString("standalone")
	s.out.BulkString("role")
	s.out.BulkString("master")
	s.out.BulkString("modules")
	s.out.Array(0)
}
