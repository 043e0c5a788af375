package admin

import (
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/tiergrid/tiergrid/admin/api"
	"github.com/tiergrid/tiergrid/membership/users"
)

// need is what a caller must have to use a route.
type need int

const (
	needNothing need = iota
	needLogin
	needMonitor // or to be local
	needAdmin
)

// route is one method of one path. Its handler answers, or returns an error
// before it has written anything.
type route struct {
	method, path string
	need         need
	handle       func(s *Server, w http.ResponseWriter, r *http.Request, who *users.User) error
}

// routeTable is everything that is served.
var routeTable = []route{
	{"GET", "/health/live", needNothing, (*Server).getLive},
	{"GET", "/health/ready", needNothing, (*Server).getReady},
	{"GET", "/metrics", needMonitor, (*Server).getMetrics},
	{"GET", "/rest/v2/security/user/acl", needLogin, (*Server).getDataGridACL},
	{"GET", "/api/v1/openapi.yaml", needNothing, (*Server).getDescription},
	{"GET", "/api/v1/version", needLogin, (*Server).getVersion},
	{"GET", "/api/v1/security/acl", needLogin, (*Server).getACL},
	{"GET", "/api/v1/users", needAdmin, (*Server).listUsers},
	{"POST", "/api/v1/users", needAdmin, (*Server).createUser},
	{"GET", "/api/v1/users/{name}", needAdmin, (*Server).getUser},
	{"DELETE", "/api/v1/users/{name}", needAdmin, (*Server).removeUser},
	{"PUT", "/api/v1/users/{name}/password", needAdmin, (*Server).setPassword},
	{"PUT", "/api/v1/users/{name}/groups", needAdmin, (*Server).setGroups},
}

// noRoute is what counts and errors call a path that is not served.
const noRoute = "none"

// routes makes the handler of the whole port. Methods are told apart here and
// not by ServeMux, so that every refusal is a problem.
func (s *Server) routes() http.Handler {
	paths := map[string]map[string]route{}
	for _, rt := range routeTable {
		if paths[rt.path] == nil {
			paths[rt.path] = map[string]route{}
		}
		paths[rt.path][rt.method] = rt
	}
	mux := http.NewServeMux()
	for path, methods := range paths {
		mux.Handle(path, s.guard(path, s.byMethod(methods)))
	}
	mux.Handle("/", s.guard(noRoute, func(_ http.ResponseWriter, r *http.Request) error {
		return fmt.Errorf("%w: nothing is served at %s", api.ErrNotFound, r.URL.Path)
	}))
	return mux
}

// byMethod runs the route for the method of the request.
func (s *Server) byMethod(methods map[string]route) failing {
	allowed := make([]string, 0, len(methods))
	for _, m := range []string{"GET", "POST", "PUT", "DELETE"} {
		if _, ok := methods[m]; ok {
			allowed = append(allowed, m)
		}
	}
	return func(w http.ResponseWriter, r *http.Request) error {
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet
		}
		rt, ok := methods[method]
		if !ok {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			return fmt.Errorf("%w: %s is not one of %s", api.ErrMethod, r.Method, strings.Join(allowed, ", "))
		}
		who, err := s.admit(rt.need, r)
		if err != nil {
			return err
		}
		return rt.handle(s, w, r, who)
	}
}

// admit says who the caller is, or why it may not use a route with this need.
func (s *Server) admit(n need, r *http.Request) (*users.User, error) {
	if n == needNothing || n == needMonitor && isLocal(r) {
		return nil, nil
	}
	if err := s.origins.Check(r); err != nil {
		return nil, fmt.Errorf("%w: a request from another site", api.ErrForbidden)
	}
	who, err := s.identify(r)
	if err != nil {
		return nil, err
	}
	switch n {
	case needMonitor:
		err = require(who, users.RightMonitor)
	case needAdmin:
		err = require(who, users.RightAdmin)
	}
	return who, err
}

// failing is a handler that answers, or returns an error before it has written
// anything.
type failing func(w http.ResponseWriter, r *http.Request) error

// guard bounds the body, survives panics, answers errors and counts.
func (s *Server) guard(path string, h failing) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &answer{ResponseWriter: w}
		r.Body = http.MaxBytesReader(w, r.Body, s.cfg.Limits.BodyBytes)
		defer func() { s.counts.request(path, out.status) }()
		defer s.survive(out, r, path)
		out.Header().Set("X-Content-Type-Options", "nosniff")
		out.Header().Set("Cache-Control", "no-store")
		if err := h(out, r); err != nil {
			s.fail(out, r, path, err)
		}
	})
}

// survive turns a panic into an answer, or into the end of the connection where
// the answer has begun.
func (s *Server) survive(out *answer, r *http.Request, path string) {
	p := recover()
	if p == nil {
		return
	}
	s.counts.panics.Inc()
	s.log.Error("panic in an HTTP request", "method", r.Method, "route", path, "panic", p, "stack", string(debug.Stack()))
	if out.status != 0 {
		panic(http.ErrAbortHandler)
	}
	writeProblem(out, api.NewProblem(api.ErrInternal))
}

// fail answers an error.
func (s *Server) fail(out *answer, r *http.Request, path string, err error) {
	if r.Context().Err() != nil {
		err = api.ErrUnavailable // the caller has gone; this is for the count
	}
	problem := api.NewProblem(err)
	switch {
	case problem.Status == http.StatusInternalServerError:
		s.log.Error("HTTP request failed", "method", r.Method, "route", path, "err", err)
	case problem.Status == http.StatusUnauthorized:
		s.counts.refusedLogins.Inc()
		out.Header().Set("WWW-Authenticate", challenge)
	case problem.Status == http.StatusServiceUnavailable:
		out.Header().Set("Retry-After", "1")
	}
	writeProblem(out, problem)
}

// answer remembers the status that was written.
type answer struct {
	http.ResponseWriter
	status int
}

// WriteHeader notes the first status.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write implies 200 as in any ResponseWriter.
func (a *answer) Write(b []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	return a.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
