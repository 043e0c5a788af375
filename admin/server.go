package admin

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"

	"github.com/tiergrid/tiergrid/admin/internal/socket"
)

// Server serves HTTP, and hands over what is RESP. Make one with New.
type Server struct {
	cfg     Config
	log     *slog.Logger
	counts  *counts
	origins *http.CrossOriginProtection
	scrape  http.Handler
	handler http.Handler
	front   *front
	http    *http.Server

	start sync.Once
	done  chan struct{} // closed when the HTTP loop has ended
}

// New checks cfg and returns a server that does not listen yet.
func New(cfg Config) (*Server, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Server{
		cfg:     cfg,
		log:     cfg.Logger,
		origins: http.NewCrossOriginProtection(),
		scrape:  newScrape(cfg.Metrics, cfg.Logger),
		done:    make(chan struct{}),
	}
	s.front = newFront(cfg.Limits, cfg.RESP, cfg.Logger)
	s.counts = newCounts(s.front)
	s.handler = s.routes()
	s.http = &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: cfg.Limits.HeaderTimeout,
		ReadTimeout:       cfg.Limits.ReadTimeout,
		WriteTimeout:      cfg.Limits.WriteTimeout,
		IdleTimeout:       cfg.Limits.IdleTimeout,
		MaxHeaderBytes:    cfg.Limits.HeaderBytes,
		ConnState:         s.front.connState,
		ConnContext:       withOwner,
		ErrorLog:          slog.NewLogLogger(cfg.Logger.Handler(), slog.LevelDebug),
	}
	return s, nil
}

// ListenSocket listens on DATA/admin.sock with mode 0600, for ServeSocket. The
// file of a killed process is replaced; a living one is an error.
func ListenSocket(dataDir string) (net.Listener, error) {
	return socket.Listen(socket.Path(dataDir))
}

// Serve accepts connections until Shutdown, and then returns nil. It closes ln.
func (s *Server) Serve(ln net.Listener) error { return s.serve(ln, s.front.decide) }

// ServeSocket serves a listener of ListenSocket, whose callers may do everything
// without a login. It returns as Serve does.
func (s *Server) ServeSocket(ln net.Listener) error { return s.serve(ln, s.front.deliverOwner) }

func (s *Server) serve(ln net.Listener, take func(net.Conn)) error {
	s.start.Do(func() {
		go func() {
			defer close(s.done)
			_ = s.http.Serve(s.front.queue) // ends when the front stops
		}()
	})
	return s.front.accept(ln, take)
}

// Shutdown stops accepting, lets requests end, and waits for RESP connections
// that were handed over and are still served. When ctx is done it closes what is
// left and returns the error of ctx. In every case no goroutine of the server is
// left afterwards, provided that RESP returns once its connection is closed and
// that the functions of the Config respect their context.
func (s *Server) Shutdown(ctx context.Context) error {
	s.start.Do(func() { close(s.done) })
	s.front.stop()
	<-s.done // from here on the HTTP server knows all its connections
	err := s.http.Shutdown(ctx)
	if err != nil {
		s.http.Close()
	}
	if e := s.front.wait(ctx); err == nil {
		err = e
	}
	return err
}
