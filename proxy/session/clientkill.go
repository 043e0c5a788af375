package session

import (
	"strconv"

	"github.com/tiergrid/tiergrid/node/command"
)

// killFilter is what CLIENT KILL asks for: all of it must fit.
type killFilter struct {
	id                uint64 // 0: any
	addr, laddr, user string // "": any
	// noType: a type that no client here has.
	noType bool
	self   bool // the asking client too
}

func (f *killFilter) fits(s *session) bool {
	return !f.noType &&
		(f.id == 0 || f.id == s.id) &&
		(f.addr == "" || f.addr == s.addr) &&
		(f.laddr == "" || f.laddr == s.laddr) &&
		(f.user == "" || f.user == s.user())
}

// clientKill is CLIENT KILL addr, or with filters: ID, TYPE, ADDR, LADDR, USER,
// SKIPME.
func (s *session) clientKill(args [][]byte) {
	if len(args) == 3 {
		if s.killAll(&killFilter{addr: string(args[2]), self: true}) == 0 {
			s.fail(command.ErrNoSuchClient)
			return
		}
		s.killed(func() { s.ok() })
		return
	}
	f, why := s.parseKill(args[2:])
	if why != "" {
		s.fail(why)
		return
	}
	n := s.killAll(f)
	s.killed(func() { s.out.Int(int64(n)) })
}

// killed answers a KILL. Nothing is answered after it if the session was among
// the killed.
func (s *session) killed(reply func()) {
	reply()
	if s.ending {
		s.out.Discard(true)
	}
}

// killAll ends the sessions that fit and returns how many. The own session still
// sends its reply.
func (s *session) killAll(f *killFilter) int {
	n := 0
	for _, c := range s.srv.clients() {
		switch {
		case !f.fits(c) || c == s && !f.self:
			continue
		case c == s:
			s.ending = true
		default:
			c.kill()
		}
		n++
	}
	return n
}

func (s *session) parseKill(words [][]byte) (*killFilter, command.Error) {
	f := &killFilter{}
	for ; len(words) > 0; words = words[2:] {
		if len(words) < 2 {
			return nil, command.ErrSyntax
		}
		if why := s.parseKillOption(f, words[0], words[1]); why != "" {
			return nil, why
		}
	}
	return f, ""
}

func (s *session) parseKillOption(f *killFilter, option, value []byte) command.Error {
	switch {
	case fold(option, "id"):
		n, err := strconv.ParseUint(string(value), 10, 63)
		if err != nil || n == 0 {
			return command.ErrInvalidClientID
		}
		f.id = n
	case fold(option, "type"):
		normal, why := clientType(value)
		f.noType = !normal
		return why
	case fold(option, "addr"):
		f.addr = string(value)
	case fold(option, "laddr"):
		f.laddr = string(value)
	case fold(option, "user"):
		if !s.srv.userExists(value) {
			return command.NoSuchUser(value)
		}
		f.user = string(value)
	case fold(option, "skipme") && fold(value, "yes"):
		f.self = false
	case fold(option, "skipme") && fold(value, "no"):
		f.self = true
	default:
		return command.ErrSyntax
	}
	return ""
}

// userExists tells whether somebody can be logged in under this name: "default"
// is the user of those who have not logged in.
func (srv *Server) userExists(name []byte) bool {
	return string(name) == "default" || srv.auth.Users().User(name) != nil
}
