// Package fakeserver is a RESP server of five commands, for the tests of
// loadtest: PING, SET, GET, INFO and BURN, which uses a core for some
// milliseconds. It counts reads that missed, as Redis does, and can misbehave on
// purpose.
//
// In a test process Listen serves until the test ends. Main makes a program of
// the test binary, for tests that start and end servers: call it first in
// TestMain. It is no parser for hostile input.
package fakeserver

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// arg marks a call of the test binary as a server.
const arg = "-fake-server"

// Args is the command line of a server for process.Config: mode is "" or one of
// the ways to misbehave: "exit", "mute" (listens but never answers), "stubborn"
// (does not end when asked).
func Args(mode string) []string { return []string{os.Args[0], arg, "{port}", mode} }

// Main runs the server and does not return, if this process was started by Args.
func Main() {
	if len(os.Args) != 4 || os.Args[1] != arg {
		return
	}
	port, mode := os.Args[2], os.Args[3]
	if mode == "exit" {
		fmt.Println("fake server: cannot go on")
		os.Exit(3)
	}
	l, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	switch mode {
	case "mute":
		select {}
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
	}
	New().Serve(l)
}

// Listen serves s on a port of its own until the test ends and returns the
// address.
func Listen(t *testing.T, s *Server) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() { s.Serve(l) })
	t.Cleanup(func() { l.Close(); wg.Wait() })
	return l.Addr().String()
}

// Server is the state of a server.
type Server struct {
	// Refuse, when set, is the error that answers every SET.
	Refuse string

	mu     sync.Mutex
	values map[string]string
	misses int
}

// New returns an empty server.
func New() *Server { return &Server{values: map[string]string{}} }

// Put stores a value past the protocol.
func (s *Server) Put(key, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values[key] = value
}

// Len is the number of keys.
func (s *Server) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.values)
}

// Serve answers connections until l is closed and all of them have ended.
func (s *Server) Serve(l net.Listener) {
	var wg sync.WaitGroup
	defer wg.Wait()
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		wg.Go(func() {
			defer c.Close()
			s.session(c)
		})
	}
}

// session answers commands until the client has gone.
func (s *Server) session(c net.Conn) {
	in, out := bufio.NewReader(c), bufio.NewWriter(c)
	for {
		args, err := command(in)
		if err != nil {
			return
		}
		out.WriteString(s.answer(args))
		if in.Buffered() == 0 && out.Flush() != nil {
			return
		}
	}
}

func (s *Server) answer(args []string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case args[0] == "PING":
		return "+PONG\r\n"
	case args[0] == "SET" && s.Refuse != "":
		return "-" + s.Refuse + "\r\n"
	case args[0] == "SET":
		s.values[args[1]] = args[2]
		return "+OK\r\n"
	case args[0] == "GET":
		v, ok := s.values[args[1]]
		if !ok {
			s.misses++
			return "$-1\r\n"
		}
		return bulk(v)
	case args[0] == "INFO":
		return bulk("# Stats\r\nkeyspace_misses:" + strconv.Itoa(s.misses) + "\r\n")
	case args[0] == "BURN":
		ms, _ := strconv.Atoi(args[1])
		go burn(time.Duration(ms) * time.Millisecond)
		return "+OK\r\n"
	}
	return "-ERR unknown command\r\n"
}

// burn ends by itself after d.
func burn(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		continue
	}
}

func bulk(s string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(s), s) }

// command reads an array of bulk strings.
func command(in *bufio.Reader) ([]string, error) {
	n, err := number(in, "*")
	if err != nil || n < 1 {
		return nil, io.ErrUnexpectedEOF
	}
	args := make([]string, n)
	for i := range args {
		size, err := number(in, "$")
		if err != nil {
			return nil, err
		}
		b := make([]byte, size+2)
		if _, err := io.ReadFull(in, b); err != nil {
			return nil, err
		}
		args[i] = string(b[:size])
	}
	return args, nil
}

func number(in *bufio.Reader, kind string) (int, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(line, kind)))
}
