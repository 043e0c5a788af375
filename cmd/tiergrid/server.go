package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/tiergrid/tiergrid/admin"
	"github.com/tiergrid/tiergrid/cmd/tiergrid/config"
	"github.com/tiergrid/tiergrid/membership"
	"github.com/tiergrid/tiergrid/membership/control"
	"github.com/tiergrid/tiergrid/membership/users"
	"github.com/tiergrid/tiergrid/node"
	"github.com/tiergrid/tiergrid/proxy/auth"
	"github.com/tiergrid/tiergrid/proxy/grid/native"
	"github.com/tiergrid/tiergrid/proxy/router"
	"github.com/tiergrid/tiergrid/proxy/session"
	"github.com/tiergrid/tiergrid/tiers/ssd"
)

// drainTime is how long clients have to finish when the server stops. With what
// comes after it stays well below the ten seconds after which containers are killed.
const drainTime = 5 * time.Second

func serverCommand() *cli.Command {
	return &cli.Command{
		Name:  "server",
		Usage: "serve Redis clients: a node and a proxy in one process",
		Flags: configFlags(),

		HideHelpCommand: true,
		OnUsageError:    onUsage,
		Action: noArguments(func(c *cli.Context) error {
			cfg, err := loadConfig(c)
			if err != nil {
				return err
			}
			return runServer(c.Context, cfg, newLogger(cfg.Log))
		}),
	}
}

func newLogger(c config.Log) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.Level)) // the configuration was checked
	options := &slog.HandlerOptions{Level: level}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(os.Stderr, options))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, options))
}

// process is a running server. Its parts stand in the order in which they are
// opened; stop ends them the other way round.
type process struct {
	config *config.Config
	logger *slog.Logger

	resp, http, socket net.Listener

	node       *node.Node
	membership *membership.Membership
	grid       *router.Router
	sessions   *session.Server
	admin      *admin.Server

	stopping   atomic.Bool
	failed     chan error     // of a Serve that ended by itself
	background sync.WaitGroup // goroutines that end with the context of runServer
}

// runServer runs until ctx is done or the server cannot go on.
func runServer(ctx context.Context, cfg *config.Config, logger *slog.Logger) (err error) {
	if err := cfg.CheckMachine(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &process{config: cfg, logger: logger, failed: make(chan error, 3)}
	defer func() {
		cancel()
		err = errors.Join(err, p.stop())
	}()
	if err := p.open(ctx); err != nil {
		return err
	}
	p.background.Go(func() { paceGC(ctx) })
	p.background.Go(func() { trimBuffers(ctx) })
	p.serve()
	p.announce()
	defer logger.Info("tiergrid is stopping")
	select {
	case <-ctx.Done():
		return nil
	case err := <-p.failed:
		return err
	case <-p.membership.Failed():
		return control.ErrLogFailed
	}
}

// open makes the parts. The ports come first, so that a busy one is told before
// anything is touched.
func (p *process) open(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		p.listen, p.openNode, p.openMembership, p.openProxy, p.openAdmin,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (p *process) listen(context.Context) (err error) {
	if p.resp, err = net.Listen("tcp", p.config.RESP.Bind); err != nil {
		return fmt.Errorf("resp.bind: %w", err)
	}
	if p.http, err = net.Listen("tcp", p.config.HTTP.Bind); err != nil {
		return fmt.Errorf("http.bind: %w", err)
	}
	return nil
}

func (p *process) openNode(context.Context) (err error) {
	if err := prepareData(p.config.Node.Data); err != nil {
		return fmt.Errorf("node.data: %w", err)
	}
	p.node, err = node.Open(node.Config{
		Data:      p.config.Node.Data,
		MemoryMax: int64(p.config.Memory.MaxSize),
		SSD:       ssd.Config{MaxSize: int64(p.config.SSD.MaxSize)},
		Logger:    p.logger,
	})
	return err
}

func (p *process) openMembership(ctx context.Context) (err error) {
	holds, err := p.node.Holding()
	if err != nil {
		return err
	}
	p.membership, err = membership.Open(ctx, membership.Config{
		Data:    p.config.Node.Data,
		Member:  p.config.Node.Name,
		StoreID: p.node.StoreID(),
		Zone:    p.config.Node.Zone,
		Version: buildVersion(),
		Clean:   p.node.Clean(),
		Holds:   holds,
		Default: change(p.config.Templates["default"]),
		Random:  rand.Reader,
		Logger:  p.logger,
	})
	if err != nil {
		return err
	}
	if err := p.node.Start(p.membership.Table()); err != nil {
		return err
	}
	return p.membership.Configure(ctx, templates(p.config), caches(p.config), p.node.Holds)
}

func (p *process) openProxy(context.Context) error {
	driver, err := native.New(native.Config{Node: p.node, Control: controlState{p.membership}})
	if err != nil {
		return err
	}
	p.grid = router.New(driver)
	verifier, err := users.NewVerifier(users.VerifierConfig{Random: rand.Reader, Concurrent: loginsAtOnce()})
	if err != nil {
		return err
	}
	p.sessions, err = session.Open(session.Config{
		Grid:   p.grid,
		Auth:   auth.New(auth.Config{Users: p.membership.Users, Verifier: verifier}),
		Logger: p.logger,
		Limits: session.Limits{
			Clients:      p.config.RESP.MaxClients,
			WriteTimeout: p.config.RESP.WriteTimeout,
			Idle:         p.config.RESP.IdleTimeout,
			SlowerThan:   p.config.RESP.SlowlogSlowerThan,
		},
		Version: buildVersion(),
	})
	if err != nil {
		return err
	}
	return p.newAdmin(verifier)
}

// loginsAtOnce is how many passwords may be checked at once: a quarter of the
// processors, as each takes a whole one and clients that are logged in go first.
func loginsAtOnce() int { return max(1, runtime.NumCPU()/4) }

func (p *process) newAdmin(verifier *users.Verifier) (err error) {
	metrics := admin.NewRegistry(buildVersion())
	metrics.MustRegister(newCollector(p))
	p.admin, err = admin.New(admin.Config{
		Users: userStore{p.membership.Control()},
		Authenticate: func(ctx context.Context, user, password string) (*users.User, error) {
			return verifier.Verify(ctx, p.membership.Users(), []byte(user), []byte(password))
		},
		Ready:   p.ready,
		Metrics: metrics,
		Caches:  p.cacheNames,
		Version: buildVersion(),
		RESP:    p.sessions.ServeConn,
		Logger:  p.logger,
	})
	if err != nil {
		return err
	}
	return metrics.Register(p.admin)
}

func (p *process) openAdmin(context.Context) (err error) {
	p.socket, err = admin.ListenSocket(p.config.Node.Data)
	return err
}

// ready is the health of the process: it takes clients and is not stopping.
func (p *process) ready() error {
	if p.stopping.Load() {
		return errors.New("stopping")
	}
	return p.grid.Ready()
}

func (p *process) cacheNames() []string {
	var names []string
	for _, cache := range p.membership.Table().Caches {
		names = append(names, cache.Name)
	}
	return names
}

// serve starts to accept clients on all ports.
func (p *process) serve() {
	go func() { p.ended("resp.bind", p.sessions.Serve(p.resp)) }()
	go func() { p.ended("http.bind", p.admin.Serve(p.http)) }()
	go func() { p.ended("admin.sock", p.admin.ServeSocket(p.socket)) }()
}

// ended is called when a port is no longer served.
func (p *process) ended(what string, err error) {
	if err == nil || p.stopping.Load() {
		return
	}
	p.failed <- fmt.Errorf("%s: %w", what, err)
}

func (p *process) announce() {
	data, err := filepath.Abs(p.config.Node.Data)
	if err != nil {
		data = p.config.Node.Data
	}
	p.logger.Info("tiergrid is ready", "version", buildVersion(), "resp", p.resp.Addr().String(), "http", p.http.Addr().String(),
		"data", data, "memory", p.config.Memory.MaxSize.String(), "ssd", p.config.SSD.MaxSize.String())
}

// stop ends the parts in order: clients first, then what serves them, the store
// and the control state last. It may be called with only some of them opened.
func (p *process) stop() error {
	p.stopping.Store(true)
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	var err error
	if p.sessions != nil {
		if e := p.sessions.Close(ctx); e != nil {
			p.logger.Warn("clients were cut off", "error", e)
		}
	}
	if p.admin != nil {
		if e := p.admin.Shutdown(ctx); e != nil {
			p.logger.Warn("requests were cut off", "error", e)
		}
	}
	p.background.Wait()
	for _, ln := range []net.Listener{p.resp, p.http, p.socket} {
		if ln != nil {
			ln.Close() // closed already when it was served
		}
	}
	if p.node != nil {
		err = errors.Join(err, p.node.Close())
	}
	if p.membership != nil {
		err = errors.Join(err, p.membership.Close())
	}
	return err
}

// controlState is what the native driver sees of the control state.
type controlState struct{ *membership.Membership }

// SwapDatabases implements native.Control.
func (c controlState) SwapDatabases(ctx context.Context, a, b int) error {
	_, err := c.Control().Propose(ctx, control.SwapDatabases{A: a, B: b})
	return err
}
