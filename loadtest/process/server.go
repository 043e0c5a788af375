package process

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tiergrid/tiergrid/loadtest/load"
)

// ErrEnded is returned when the server ended by itself.
var ErrEnded = errors.New("server ended by itself")

const (
	defaultReady = 30 * time.Second
	defaultStop  = 20 * time.Second
	readyEvery   = 20 * time.Millisecond
	logTail      = 2000 // bytes of the log that go into an error
)

// Config says how to run a server. In Args and Files {dir} stands for the
// server's own folder, {port} for its RESP port and {http} for a second one.
type Config struct {
	Name string `json:"name"`
	// Args is the program and its arguments.
	Args []string `json:"args"`
	// Files are written into the folder before the start: name and contents.
	Files map[string]string `json:"files,omitempty"`
	// ReadyWithin bounds the wait for the first answer, 0: 30 s.
	ReadyWithin time.Duration `json:"-"`
	// StopWithin bounds the wait for an orderly end, 0: 20 s; then it is killed.
	StopWithin time.Duration `json:"-"`
}

// Server is a running server.
type Server struct {
	cfg  Config
	dir  string
	port int
	cmd  *exec.Cmd

	done chan struct{} // closed when the process was waited for
	stop sync.Once
}

// Start runs the program in a new folder below parent and returns when it
// answers PING. ctx bounds the start only.
func Start(ctx context.Context, cfg Config, parent string) (*Server, error) {
	if len(cfg.Args) == 0 {
		return nil, fmt.Errorf("%s: no command", cfg.Name)
	}
	dir, err := os.MkdirTemp(parent, "server-")
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, dir: dir, done: make(chan struct{})}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", cfg.Name, err), os.RemoveAll(dir))
	}
	return s, nil
}

func (s *Server) start(ctx context.Context) error {
	ports, err := freePorts(2)
	if err != nil {
		return err
	}
	s.port = ports[0]
	fill := strings.NewReplacer("{dir}", s.dir, "{port}", strconv.Itoa(ports[0]), "{http}", strconv.Itoa(ports[1]))
	for name, text := range s.cfg.Files {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(fill.Replace(text)), 0o600); err != nil {
			return err
		}
	}
	args := make([]string, len(s.cfg.Args))
	for i, a := range s.cfg.Args {
		args[i] = fill.Replace(a)
	}
	if err := s.launch(args); err != nil {
		return err
	}
	if err := s.awaitReady(ctx); err != nil {
		err = fmt.Errorf("%w; its log ends with: %s", err, s.LogTail())
		return errors.Join(err, s.end())
	}
	return nil
}

// launch starts the process and the goroutine that waits for it, which end
// outlives.
func (s *Server) launch(args []string) error {
	log, err := os.Create(s.logName())
	if err != nil {
		return err
	}
	defer log.Close()
	s.cmd = exec.Command(args[0], args[1:]...)
	s.cmd.Stdout, s.cmd.Stderr = log, log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{
		Setpgid:   true, // a Ctrl-C is for us: we end the server in order
		Pdeathsig: syscall.SIGKILL,
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	go func() {
		defer close(s.done)
		_ = s.cmd.Wait() // how it ended stands in ProcessState
	}()
	return nil
}

// awaitReady returns when the server answers PING.
func (s *Server) awaitReady(ctx context.Context) error {
	limit := s.cfg.ReadyWithin
	if limit == 0 {
		limit = defaultReady
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(readyEvery)
	defer tick.Stop()
	for {
		if load.Ping(ctx, s.Addr()) == nil {
			return nil
		}
		select {
		case <-s.done:
			return fmt.Errorf("%w: %s", ErrEnded, s.cmd.ProcessState)
		case <-ctx.Done():
			return fmt.Errorf("no answer on %s: %w", s.Addr(), ctx.Err())
		case <-tick.C:
		}
	}
}

// Name is the server's name from its Config.
func (s *Server) Name() string { return s.cfg.Name }

// Addr is the server's RESP address.
func (s *Server) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// PID is the server's process id.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Dir is the server's folder.
func (s *Server) Dir() string { return s.dir }

// Done is closed when the process has ended.
func (s *Server) Done() <-chan struct{} { return s.done }

// Usage reads what the process has used so far.
func (s *Server) Usage() (Usage, error) {
	select {
	case <-s.done:
		return Usage{}, fmt.Errorf("%s: %w: %s; its log ends with: %s", s.cfg.Name, ErrEnded, s.cmd.ProcessState, s.LogTail())
	default:
		return ReadUsage(s.PID())
	}
}

// Stop ends the process, waits for it and removes its folder.
func (s *Server) Stop() error {
	var err error
	s.stop.Do(func() { err = errors.Join(s.end(), os.RemoveAll(s.dir)) })
	return err
}

// end asks the process to end, waits, and kills it when it does not.
func (s *Server) end() error {
	limit := s.cfg.StopWithin
	if limit == 0 {
		limit = defaultStop
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); errors.Is(err, os.ErrProcessDone) {
		<-s.done
		return nil
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-s.done:
		return nil
	case <-timer.C:
	}
	_ = s.cmd.Process.Kill() // it may have ended just now
	<-s.done
	return fmt.Errorf("%s did not end within %v and was killed", s.cfg.Name, limit)
}

func (s *Server) logName() string { return filepath.Join(s.dir, "server.log") }

// LogTail returns the end of what the server printed.
func (s *Server) LogTail() string {
	b, err := os.ReadFile(s.logName())
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(b[max(0, len(b)-logTail):]))
}

// freePorts returns n loopback ports that were free a moment ago. All are held
// until the last is found, so that they differ.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
