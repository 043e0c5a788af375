package admin

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tiergrid/tiergrid/admin/api"
	"github.com/tiergrid/tiergrid/membership/users"
)

// UserStore keeps the users. Its errors match those of package api where the
// caller is to learn the reason: ErrUserExists, ErrNoUser, ErrBadRequest,
// ErrBusy, ErrUnavailable. Any other is logged and answered as an internal error.
// Names, passwords and groups were checked with package users.
type UserStore interface {
	// Empty says whether there is no user at all; it is asked at each request.
	Empty() bool
	// Users returns all users in order of their names.
	Users(ctx context.Context) ([]api.User, error)
	CreateUser(ctx context.Context, u api.NewUser) error
	SetPassword(ctx context.Context, name, password string) error
	SetGroups(ctx context.Context, name string, groups []string) error
	RemoveUser(ctx context.Context, name string) error
}

// Config is what a Server needs. Only Users and Authenticate must be set.
type Config struct {
	Users UserStore
	// Authenticate checks a login. It answers users.ErrWrongPassword in a time
	// that does not tell what was wrong, and users.ErrBusy when too many logins
	// are being checked.
	Authenticate func(ctx context.Context, user, password string) (*users.User, error)

	// Ready and Live answer nil, or why not. They must not block. Unset is nil.
	Ready func() error
	Live  func() error

	// Metrics is what /metrics shows; see NewRegistry.
	Metrics prometheus.Gatherer
	// Caches returns the names of the caches.
	Caches func() []string
	// Version names the build.
	Version string

	// RESP takes over a connection whose first byte is '*', which it still finds
	// in front of what follows. It owns the connection from then on and may run
	// as long as the connection lives. It is a *net.TCPConn wherever the listener
	// returns one. Unset, such connections are answered as bad HTTP.
	RESP func(net.Conn)

	Limits Limits
	// Logger is slog.Default when nil.
	Logger *slog.Logger
}

// Limits bound a Server; zero fields take the default named beside them.
type Limits struct {
	// Connections is how many HTTP connections are served at once. 512
	Connections int
	// Undecided is how many connections may have said nothing yet; one more
	// closes the oldest of them. 1024
	Undecided int
	// FirstByteTimeout is how long a connection may say nothing. 30s
	FirstByteTimeout time.Duration
	// HeaderTimeout, ReadTimeout and WriteTimeout bound the parts of a request,
	// IdleTimeout the time between two. 10s, 30s, 60s, 120s
	HeaderTimeout time.Duration
	ReadTimeout   time.Duration
	WriteTimeout  time.Duration
	IdleTimeout   time.Duration
	// HeaderBytes and BodyBytes bound a request. 16 KiB, 64 KiB
	HeaderBytes int
	BodyBytes   int64
}

func (l Limits) withDefaults() Limits {
	return Limits{
		Connections:      or(l.Connections, 512),
		Undecided:        or(l.Undecided, 1024),
		FirstByteTimeout: or(l.FirstByteTimeout, 30*time.Second),
		HeaderTimeout:    or(l.HeaderTimeout, 10*time.Second),
		ReadTimeout:      or(l.ReadTimeout, 30*time.Second),
		WriteTimeout:     or(l.WriteTimeout, 60*time.Second),
		IdleTimeout:      or(l.IdleTimeout, 120*time.Second),
		HeaderBytes:      or(l.HeaderBytes, 16<<10),
		BodyBytes:        or(l.BodyBytes, 64<<10),
	}
}

// or returns v, or what is meant where it was not set.
func or[T comparable](v, unset T) T {
	var zero T
	if v == zero {
		return unset
	}
	return v
}

// withDefaults checks the config and fills in what may be left out.
func (c Config) withDefaults() (Config, error) {
	if c.Users == nil || c.Authenticate == nil {
		return c, errors.New("admin: Users and Authenticate must be set")
	}
	healthy := func() error { return nil }
	if c.Ready == nil {
		c.Ready = healthy
	}
	if c.Live == nil {
		c.Live = healthy
	}
	if c.Metrics == nil {
		c.Metrics = prometheus.NewRegistry()
	}
	if c.Caches == nil {
		c.Caches = func() []string { return nil }
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	c.Limits = c.Limits.withDefaults()
	return c, nil
}
