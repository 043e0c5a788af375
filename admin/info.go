package admin

import (
	_ "embed" // for the description
	"net/http"
	"runtime"

	"github.com/tiergrid/tiergrid/admin/api"
	"github.com/tiergrid/tiergrid/membership/users"
)

// description is the OpenAPI description of what is served.
//
//go:embed openapi.yaml
var description []byte

func (s *Server) getDescription(w http.ResponseWriter, _ *http.Request, _ *users.User) error {
	w.Header().Set("Content-Type", "application/yaml")
	_, _ = w.Write(description)
	return nil
}

func (s *Server) getVersion(w http.ResponseWriter, _ *http.Request, _ *users.User) error {
	return writeJSON(w, http.StatusOK, api.Version{
		Version:  s.cfg.Version,
		Go:       runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
	})
}

func (s *Server) getLive(w http.ResponseWriter, _ *http.Request, _ *users.User) error {
	return writeHealth(w, s.cfg.Live(), api.StatusLive, api.StatusNotLive)
}

func (s *Server) getReady(w http.ResponseWriter, _ *http.Request, _ *users.User) error {
	return writeHealth(w, s.cfg.Ready(), api.StatusReady, api.StatusNotReady)
}

func writeHealth(w http.ResponseWriter, why error, good, bad string) error {
	if why != nil {
		return writeJSON(w, http.StatusServiceUnavailable, api.Health{Status: bad, Reason: why.Error()})
	}
	return writeJSON(w, http.StatusOK, api.Health{Status: good})
}
