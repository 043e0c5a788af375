package admin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/tiergrid/tiergrid/admin/api"
	"github.com/tiergrid/tiergrid/membership/users"
)

// challenge is what a client is asked for when its login is missing or wrong.
const challenge = `Basic realm="tiergrid", charset="UTF-8"`

// ownerConn is a connection through the admin socket, which only the owner of
// the data directory can open.
type ownerConn struct{ net.Conn }

type ownerKey struct{}

// withOwner marks the requests of a connection of the owner.
func withOwner(ctx context.Context, c net.Conn) context.Context {
	if _, ok := c.(ownerConn); ok {
		return context.WithValue(ctx, ownerKey{}, true)
	}
	return ctx
}

// identify says who r acts for. Where no login is needed that is users.Open.
func (s *Server) identify(r *http.Request) (*users.User, error) {
	if r.Context().Value(ownerKey{}) != nil {
		return users.Open(), nil
	}
	if s.cfg.Users.Empty() {
		if isLocal(r) {
			return users.Open(), nil
		}
		return nil, fmt.Errorf("%w while there is no user; create one on the server with: tiergrid user create NAME -p PASSWORD -g admin", api.ErrLocalOnly)
	}
	user, password, ok := r.BasicAuth()
	if !ok {
		return nil, api.ErrLogin
	}
	who, err := s.cfg.Authenticate(r.Context(), user, password)
	switch {
	case errors.Is(err, users.ErrWrongPassword):
		return nil, api.ErrLogin
	case errors.Is(err, users.ErrBusy):
		return nil, fmt.Errorf("%w: too many logins at once", api.ErrBusy)
	}
	return who, err
}

// isLocal says that r comes from this machine and was meant for it: a page in a
// browser can point a name of its own at a loopback address, but not one of the
// names accepted here.
func isLocal(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && peer.Addr().Unmap().IsLoopback() && isLocalName(hostOf(r))
}

func hostOf(r *http.Request) string {
	if host, _, err := net.SplitHostPort(r.Host); err == nil {
		return host
	}
	return strings.Trim(r.Host, "[]")
}

func isLocalName(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Unmap().IsLoopback()
	}
	return !strings.Contains(host, ".") || strings.HasSuffix(host, ".localhost")
}

// require refuses a user without a right.
func require(who *users.User, right users.Right) error {
	if who.Permission().Rights().Has(right) {
		return nil
	}
	return fmt.Errorf("%w: this needs %s, which the roles of %s do not give",
		api.ErrForbidden, strings.Join(right.Names(), ", "), who.Name)
}
