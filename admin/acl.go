package admin

import (
	"net/http"

	"github.com/tiergrid/tiergrid/admin/api"
	"github.com/tiergrid/tiergrid/membership/users"
)

func (s *Server) getACL(w http.ResponseWriter, _ *http.Request, who *users.User) error {
	return writeJSON(w, http.StatusOK, api.ACL{
		User:        who.Name,
		Roles:       append([]string{}, who.Roles...),
		Permissions: who.Permission().Rights().Names(),
		Rules:       who.Permission().String(),
	})
}

// dataGridACL is the answer of Data Grid's REST interface, version 2, to the
// same question.
type dataGridACL struct {
	Subject []principal         `json:"subject"`
	Global  []string            `json:"global"`
	Caches  map[string][]string `json:"caches"`
}

type principal struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// The types of principals, with Data Grid's words.
const (
	namePrincipal = "NamePrincipal"
	rolePrincipal = "RolePrincipal"
)

// dataGridNames are what Data Grid says besides of whoever has several rights.
var dataGridNames = []struct {
	name string
	of   users.Right
}{
	{"ALL_READ", users.RightRead | users.RightBulkRead},
	{"ALL_WRITE", users.RightWrite | users.RightBulkWrite},
	{"ALL", users.RightAdmin},
}

func (s *Server) getDataGridACL(w http.ResponseWriter, _ *http.Request, who *users.User) error {
	rights := who.Permission().Rights()
	names := rights.Names()
	for _, n := range dataGridNames {
		if rights.Has(n.of) {
			names = append(names, n.name)
		}
	}
	acl := dataGridACL{
		Subject: []principal{{who.Name, namePrincipal}},
		Global:  names,
		Caches:  map[string][]string{},
	}
	for _, role := range who.Roles {
		acl.Subject = append(acl.Subject, principal{role, rolePrincipal})
	}
	for _, cache := range s.cfg.Caches() {
		acl.Caches[cache] = names // roles are given for all caches
	}
	return writeJSON(w, http.StatusOK, acl)
}
