package admin

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/tiergrid/tiergrid/admin/api"
	"github.com/tiergrid/tiergrid/membership/users"
)

func (s *Server) listUsers(w http.ResponseWriter, r *http.Request, _ *users.User) error {
	all, err := s.cfg.Users.Users(r.Context())
	if err != nil {
		return err
	}
	list := api.UserList{Users: []api.User{}}
	for _, u := range all {
		list.Users = append(list.Users, withGroups(u))
	}
	return writeJSON(w, http.StatusOK, list)
}

// withGroups makes sure that a user without groups has a list of none.
func withGroups(u api.User) api.User {
	if u.Groups == nil {
		u.Groups = []string{}
	}
	return u
}

func (s *Server) getUser(w http.ResponseWriter, r *http.Request, _ *users.User) error {
	name := r.PathValue("name")
	all, err := s.cfg.Users.Users(r.Context())
	if err != nil {
		return err
	}
	for _, u := range all {
		if u.Name == name {
			return writeJSON(w, http.StatusOK, withGroups(u))
		}
	}
	return noUser(name)
}

func noUser(name string) error { return fmt.Errorf("user %s: %w", name, api.ErrNoUser) }

func (s *Server) createUser(w http.ResponseWriter, r *http.Request, who *users.User) error {
	var u api.NewUser
	if err := readJSON(r, &u); err != nil {
		return err
	}
	if err := users.CheckName(u.Name); err != nil {
		return fmt.Errorf("%w: %w", api.ErrBadRequest, err)
	}
	if err := checkPassword(u.Password); err != nil {
		return err
	}
	if err := api.CheckGroups(u.Groups); err != nil {
		return err
	}
	if err := s.cfg.Users.CreateUser(r.Context(), u); err != nil {
		return err
	}
	s.log.Info("user created", "user", u.Name, "groups", u.Groups, "by", who.Name)
	w.Header().Set("Location", "/api/v1/users/"+url.PathEscape(u.Name))
	return writeJSON(w, http.StatusCreated, withGroups(api.User{Name: u.Name, Groups: u.Groups}))
}

func checkPassword(password string) error {
	if err := users.CheckPassword([]byte(password)); err != nil {
		return fmt.Errorf("%w: %w", api.ErrBadRequest, err)
	}
	return nil
}

func (s *Server) setPassword(w http.ResponseWriter, r *http.Request, who *users.User) error {
	var p api.Password
	if err := readJSON(r, &p); err != nil {
		return err
	}
	if err := checkPassword(p.Password); err != nil {
		return err
	}
	name := r.PathValue("name")
	if err := s.cfg.Users.SetPassword(r.Context(), name, p.Password); err != nil {
		return err
	}
	s.log.Info("password changed", "user", name, "by", who.Name)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *Server) setGroups(w http.ResponseWriter, r *http.Request, who *users.User) error {
	var g api.Groups
	if err := readJSON(r, &g); err != nil {
		return err
	}
	if g.Groups == nil {
		return fmt.Errorf("%w: the field groups is missing", api.ErrBadRequest)
	}
	if err := api.CheckGroups(g.Groups); err != nil {
		return err
	}
	name := r.PathValue("name")
	if err := s.cfg.Users.SetGroups(r.Context(), name, g.Groups); err != nil {
		return err
	}
	s.log.Info("groups changed", "user", name, "groups", g.Groups, "by", who.Name)
	return writeJSON(w, http.StatusOK, api.User{Name: name, Groups: g.Groups})
}

func (s *Server) removeUser(w http.ResponseWriter, r *http.Request, who *users.User) error {
	name := r.PathValue("name")
	if err := s.cfg.Users.RemoveUser(r.Context(), name); err != nil {
		return err
	}
	s.log.Info("user removed", "user", name, "by", who.Name)
	w.WriteHeader(http.StatusNoContent)
	return nil
}
