package session

import (
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
		s.fail(wrongSubcommandArgs("ACL", string(args[1])))
	}
}
