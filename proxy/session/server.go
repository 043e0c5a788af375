package session

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tiergrid/tiergrid/proxy/auth"
	"github.com/tiergrid/tiergrid/proxy/grid"
	"github.com/tiergrid/tiergrid/proxy/poll"
)

// ErrClosed is returned by Serve after Drain or Close.
var ErrClosed = errors.New("session: server closed")

// Server serves RESP clients.
type Server struct {
	// Static after construction.
	cfg      Config
	grid     grid.Grid
	auth     *auth.Authenticator
	log      *slog.Logger
	settings *Settings
	started  time.Time
	runID    string
	ctx      context.Context // ends when sessions must
	cancel   context.CancelFunc

	// Shared by all sessions; each has its own rules.
	stats    counters
	slow     slowLog
	monitors monitorSet
	pause    pause
	rate     rateMeter

	// clock is the time in Unix milliseconds, at most one tick old.
	clock       atomic.Int64
	maxClients  atomic.Int64
	idleTimeout atomic.Int64                // seconds
	bound       atomic.Pointer[net.TCPAddr] // of the first TCP listener
	peakMemory  atomic.Uint64

	mu struct {
		sync.Mutex
		closing   bool
		lastID    uint64
		listeners map[net.Listener]struct{}
		sessions  map[uint64]*session
		places    int // sessions that count against maxClients
	}
	poller   *poll.Poller
	crew     *crew
	sessions sync.WaitGroup // sessions, and goroutines in Serve
	keeper   sync.WaitGroup
	stop     chan struct{} // closed to end the keeper
	stopOnce sync.Once
}

// Open returns a Server that is ready for Serve. Close must be called to end it.
func Open(cfg Config) (*Server, error) {
	cfg, err := cfg.validate()
	if err != nil {
		return nil, err
	}
	srv := &Server{
		cfg: cfg, grid: cfg.Grid, auth: cfg.Auth, log: cfg.Logger, settings: cfg.Settings,
		started: time.Now(), runID: newRunID(), stop: make(chan struct{}),
	}
	if srv.poller, err = poll.Open(poll.Config{Serve: srv.ready}); err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	srv.crew = newCrew()
	srv.ctx, srv.cancel = context.WithCancel(context.Background())
	srv.mu.lastID = cfg.FirstClientID
	srv.mu.listeners = make(map[net.Listener]struct{})
	srv.mu.sessions = make(map[uint64]*session)
	srv.stats.init()
	srv.slow.init(cfg.Limits)
	srv.maxClients.Store(int64(cfg.Limits.Clients))
	srv.idleTimeout.Store(int64(cfg.Limits.Idle / time.Second))
	srv.settings.Add(srv.ownSettings()...)
	srv.tick(time.Now())
	srv.keeper.Add(1)
	go srv.keep()
	return srv, nil
}

// newRunID returns 40 hexadecimal digits that name this start of the process.
func newRunID() string {
	var b [20]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// Drain stops accepting, lets every session finish the commands it has read, and
// waits until all have ended or ctx is done.
func (srv *Server) Drain(ctx context.Context) error {
	for _, s := range srv.shut() {
		s.wake()
	}
	return srv.wait(ctx)
}

// Close drains until ctx is done, then cuts off what is left and waits for every
// goroutine of the Server.
func (srv *Server) Close(ctx context.Context) error {
	err := srv.Drain(ctx)
	srv.cancel()
	for _, s := range srv.clients() {
		s.kill()
	}
	srv.sessions.Wait()
	srv.stopOnce.Do(func() { close(srv.stop) })
	srv.keeper.Wait()
	if closing := srv.poller.Close(); closing != poll.ErrClosed {
		err = errors.Join(err, closing)
	}
	srv.crew.close()
	return err
}

// shut ends the listeners, refuses new sessions and returns those there are.
func (srv *Server) shut() []*session {
	srv.mu.Lock()
	srv.mu.closing = true
	for ln := range srv.mu.listeners {
		ln.Close() // ends its Serve
	}
	srv.mu.Unlock()
	return srv.clients()
}

func (srv *Server) wait(ctx context.Context) error {
	done := make(chan struct{})
	go func() { // ends with the sessions, which Close waits for
		srv.sessions.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// draining reports whether sessions should end once they have nothing to do.
func (srv *Server) draining() bool {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	return srv.mu.closing
}

// clients returns all sessions.
func (srv *Server) clients() []*session {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	list := make([]*session, 0, len(srv.mu.sessions))
	for _, s := range srv.mu.sessions {
		list = append(list, s)
	}
	return list
}

// byID returns all sessions, the oldest first.
func (srv *Server) byID() []*session {
	list := srv.clients()
	slices.SortFunc(list, func(a, b *session) int { return cmp.Compare(a.id, b.id) })
	return list
}

// count is the number of sessions now.
func (srv *Server) count() int {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	return len(srv.mu.sessions)
}

// port is that of the first TCP listener, 0 without one.
func (srv *Server) port() int {
	if addr := srv.bound.Load(); addr != nil {
		return addr.Port
	}
	return 0
}

// bind is the address of the first TCP listener.
func (srv *Server) bind() string {
	if addr := srv.bound.Load(); addr != nil {
		return addr.IP.String()
	}
	return ""
}

// now is the time in Unix milliseconds, at most one tick old.
func (srv *Server) now() int64 { return srv.clock.Load() }
