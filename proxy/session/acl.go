package session

import (
	"strings"

	"github.com/tiergrid/tiergrid/membership/users"
	"github.com/tiergrid/tiergrid/node/command"
)

func (s *session) aclWhoAmI([][]byte) { s.out.BulkString(s.user()) }

// everybody are the users as ACL shows them: "default" alone on an open server.
func (srv *Server) everybody() []*users.User {
	d := srv.auth.Users()
	if d.Len() == 0 {
		return []*users.User{users.Open()}
	}
	return d.All()
}

func (s *session) aclList([][]byte) {
	list := s.srv.everybody()
	s.out.Array(len(list))
	for _, u := range list {
		s.out.BulkString(u.ACL())
	}
}

func (s *session) aclUsers([][]byte) {
	list := s.srv.everybody()
	s.out.Array(len(list))
	for _, u := range list {
		s.out.BulkString(u.Name)
	}
}

func (s *session) aclCat(args [][]byte) {
	switch len(args) {
	case 2:
		command.AppendCategories(s.out)
	case 3:
		command.AppendCategory(s.out, args[2])
	default:
		s.fail(command.WrongSubcommandArity("acl", string(args[1])))
	}
}

// aclGetUser is ACL GETUSER: the rules of the first role as the user's own, those
// of further ones as selectors.
func (s *session) aclGetUser(args [][]byte) {
	for _, u := range s.srv.everybody() {
		if u.Name == string(args[2]) {
			s.appendUser(u)
			return
		}
	}
	s.out.Null()
}

func (s *session) appendUser(u *users.User) {
	rules := u.Permission().Rules()
	s.out.Map(6)
	s.out.BulkString("flags")
	s.appendPassword(u)
	s.appendRules(rules[0])
	s.out.BulkString("selectors")
	s.out.Array(len(rules) - 1)
	for _, r := range rules[1:] {
		s.out.Map(3)
		s.appendRules(r)
	}
}

// appendPassword appends the flags and a fingerprint of the password, which tells
// nothing but whether it changed.
func (s *session) appendPassword(u *users.User) {
	if u.Hash == "" {
		s.out.Set(2)
		s.out.BulkString("on")
		s.out.BulkString("nopass")
		s.out.BulkString("passwords")
		s.out.Array(0)
		return
	}
	s.out.Set(1)
	s.out.BulkString("on")
	s.out.BulkString("passwords")
	s.out.Array(1)
	s.out.BulkString(users.Fingerprint(u.Hash))
}

func (s *session) appendRules(r users.Rules) {
	s.out.BulkString("commands")
	s.out.BulkString(strings.TrimSpace(r.Commands))
	s.out.BulkString("keys")
	s.out.BulkString(strings.TrimSpace(r.Keys))
	s.out.BulkString("channels")
	s.out.BulkString(strings.TrimSpace(r.Channels))
}
