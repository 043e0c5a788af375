package session

import (
	"errors"
	"log/slog"
	"time"

	"github.com/tiergrid/tiergrid/node/resp"
	"github.com/tiergrid/tiergrid/proxy/auth"
	"github.com/tiergrid/tiergrid/proxy/grid"
)

// ErrConfig is returned by Open for a Config that lacks something.
var ErrConfig = errors.New("session: a grid, an authenticator and a logger are needed")

// redisVersion is the version whose behaviour we announce to clients.
const redisVersion = "7.2.5"

// Config is what a Server needs.
type Config struct {
	Grid grid.Grid
	Auth *auth.Authenticator
	// Settings is the registry that CONFIG GET and SET work on; the Server adds
	// its own settings to it. Nil means that there are no others.
	Settings *Settings
	Limits   Limits
	Logger   *slog.Logger
	// Version is that of tiergrid, for INFO and HELLO.
	Version string
	// FirstClientID is the smallest client id given, less one. Proxies of one
	// grid use different ranges.
	FirstClientID uint64
	// ConfigFile is shown by INFO; it may be empty.
	ConfigFile string
}

// Limits bounds what clients may make the Server hold. Zero means the default.
type Limits struct {
	// Clients is how many connections are served at once; the next one is told
	// so and closed. Default 50,000. CONFIG SET maxclients changes it.
	Clients int
	// Bulk is the longest argument, in bytes. Default 512 MiB.
	Bulk int
	// Batch and BatchBytes end a batch of commands that is read before anything
	// of it runs. Defaults 128 commands and 1 MiB of arguments.
	Batch, BatchBytes int
	// Transaction is how many bytes the queue of one MULTI, or the keys of one
	// WATCH, may take, with an overhead for each. Default 256 MiB, which is
	// also what one may write.
	Transaction int
	// Output is how many bytes may wait for a client that gets what it did not
	// ask for (MONITOR). It is closed beyond. Default 64 MiB.
	Output int
	// WriteTimeout is how long a client may take none of its replies before it
	// is closed. Default 60 s.
	WriteTimeout time.Duration
	// Idle is how long a client may send nothing before it is closed; 0 is for
	// ever. CONFIG SET timeout changes it.
	Idle time.Duration
	// KeepAlive is the idle time after which TCP probes a peer. Default 300 s.
	KeepAlive time.Duration
	// SlowerThan is the run time from which SLOWLOG keeps a command, negative
	// for never. Default 10 ms. SlowEntries is how many it keeps: default 128.
	// CONFIG SET changes both.
	SlowerThan  time.Duration
	SlowEntries int
}

func (l Limits) withDefaults() Limits {
	fallback(&l.Clients, 50_000)
	fallback(&l.Bulk, resp.DefaultMaxBulk)
	fallback(&l.Batch, 128)
	fallback(&l.BatchBytes, 1<<20)
	fallback(&l.Transaction, 256<<20)
	fallback(&l.Output, 64<<20)
	fallback(&l.WriteTimeout, time.Minute)
	fallback(&l.KeepAlive, 300*time.Second)
	fallback(&l.SlowerThan, 10*time.Millisecond)
	fallback(&l.SlowEntries, 128)
	return l
}

func fallback[T comparable](v *T, value T) {
	var zero T
	if *v == zero {
		*v = value
	}
}

// validate checks cfg and fills in defaults.
func (cfg Config) validate() (Config, error) {
	if cfg.Grid == nil || cfg.Auth == nil || cfg.Logger == nil {
		return cfg, ErrConfig
	}
	if cfg.Settings == nil {
		cfg.Settings = NewSettings()
	}
	cfg.Limits = cfg.Limits.withDefaults()
	return cfg, nil
}

// afterLogin are the limits of what a client may send once it has logged in.
func (l Limits) afterLogin() resp.Limits { return resp.Limits{MaxBulk: l.Bulk} }
