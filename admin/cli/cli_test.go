package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/urfave/cli/v2"
	"go.uber.org/goleak"

	"github.com/tiergrid/tiergrid/admin"
	"github.com/tiergrid/tiergrid/admin/internal/memusers"
)

// asBinary lets the test binary behave as tiergrid, for shells to call.
const asBinary = "TIERGRID_TEST_AS_BINARY"

func TestMain(m *testing.M) {
	if os.Getenv(asBinary) != "" {
		app := &cli.App{Name: "tiergrid", EnableBashCompletion: true, Commands: []*cli.Command{User(Config{}), Completion()}}
		if err := app.Run(FlagsFirst(app, os.Args)); err != nil {
			os.Exit(ExitFailed)
		}
		os.Exit(0)
	}
	for _, name := range []string{"TIERGRID_DATA", "TIERGRID_URL", "TIERGRID_USER", "TIERGRID_PASSWORD"} {
		os.Unsetenv(name)
	}
	goleak.VerifyTestMain(m)
}

// world is what the commands of one script find: data directories with offline
// users, servers, and a terminal.
type world struct {
	t       *testing.T
	dir     string                     // where all directories are
	offline map[string]*memusers.Store // by directory
	locked  error                      // what opening a directory answers, when set
	url     string                     // of the server, or of nobody
	stop    func()
	typed   []string // what a person types; nil: there is no terminal
}

func newWorld(t *testing.T) *world {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: t.TempDir(), offline: map[string]*memusers.Store{}, url: "http://" + ln.Addr().String(), stop: func() {}}
	ln.Close()
	t.Cleanup(func() { w.stop() })
	return w
}

// open is Config.Offline.
func (w *world) open(_ context.Context, dir string, create bool) (Users, error) {
	store := w.offline[dir]
	switch {
	case w.locked != nil:
		return nil, w.locked
	case store == nil && !create:
		return nil, errors.New("there is no data in it")
	case store == nil:
		store = memusers.New()
		w.offline[dir] = store
		return store, os.MkdirAll(dir, 0o700)
	}
	return store, nil
}

// serve starts a server with these users: on a port, and on a data directory
// where one is named.
func (w *world) serve(dataDir string, store *memusers.Store) {
	w.stop()
	s, err := admin.New(admin.Config{Users: store, Authenticate: store.Authenticate, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		w.t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	w.url = "http://" + ln.Addr().String()
	ended := make(chan error, 2)
	go func() { ended <- s.Serve(ln) }()
	ended <- nil
	if dataDir != "" {
		<-ended
		if err := os.MkdirAll(dataDir, 0o700); err != nil {
			w.t.Fatal(err)
		}
		sock, err := admin.ListenSocket(dataDir)
		if err != nil {
			w.t.Fatal(err)
		}
		go func() { ended <- s.ServeSocket(sock) }()
	}
	w.stop = func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := errors.Join(s.Shutdown(ctx), <-ended, <-ended); err != nil {
			w.t.Error(err)
		}
		w.stop = func() {}
	}
}

// ask is Terminal.Ask.
func (w *world) ask(prompt string) (string, error) {
	if len(w.typed) == 0 {
		return "", errors.New("interrupted")
	}
	line := w.typed[0]
	w.typed = w.typed[1:]
	return line, nil
}

// run runs one command line as the binary would, and returns what is seen.
func (w *world) run(line []string, stdin string) string {
	var out bytes.Buffer
	person := w.typed != nil
	cfg := Config{
		Data:    filepath.Join(w.dir, "data"),
		Offline: w.open,
		URL:     w.url,
		Terminal: Terminal{
			Present: func() bool { return person },
			Ask:     w.ask,
		},
	}
	app := &cli.App{
		Name:                 "tiergrid",
		Reader:               strings.NewReader(stdin),
		Writer:               &out,
		ErrWriter:            &out,
		EnableBashCompletion: true,
		Commands:             []*cli.Command{User(cfg), Completion()},
		ExitErrHandler:       func(*cli.Context, error) {},
	}
	err := app.RunContext(w.t.Context(), FlagsFirst(app, append([]string{"tiergrid"}, line...)))
	if err != nil {
		code := ExitFailed
		var coded cli.ExitCoder
		if errors.As(err, &coded) {
			code = coded.ExitCode()
		}
		fmt.Fprintf(&out, "error: %v\nexit %d\n", err, code)
	}
	return strings.NewReplacer(w.dir, "<dir>", w.url, "<url>").Replace(out.String())
}

// words splits a command line; a word can stand in single quotes.
func words(line string) []string {
	var list []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			list = append(list, part)
		} else {
			list = append(list, strings.Fields(part)...)
		}
	}
	return list
}

// TestCommands runs the scripts in testdata. Their directives are
//
//	tiergrid        run the line of input; stdin=TEXT is its standard input
//	server          start a server with the users of the input, data=DIR on a
//	                directory
//	stop            stop it
//	person          what somebody types, a line each
//	env             NAME=VALUE for the rest of the script
//	locked          opening directories fails with the input
func TestCommands(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		w := newWorld(t)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			input := strings.NewReplacer("<dir>", w.dir, "<url>", w.url).Replace(d.Input)
			switch d.Cmd {
			case "tiergrid":
				var stdin string
				d.MaybeScanArgs(t, "stdin", &stdin)
				return w.run(words(input), stdin+"\nsecond line\n")
			case "server":
				var data string
				d.MaybeScanArgs(t, "data", &data)
				if data != "" {
					data = filepath.Join(w.dir, data)
				}
				w.serve(data, memusers.New(strings.Fields(input)...))
			case "stop":
				w.stop()
			case "person":
				w.typed = strings.Split(input, "\n")
			case "env":
				name, value, _ := strings.Cut(input, "=")
				w.t.Setenv(name, value)
			case "locked":
				w.locked = errors.New(input)
			default:
				d.Fatalf(t, "unknown directive %s", d.Cmd)
			}
			return ""
		})
	})
}

func TestEveryStoreIsClosed(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(w.dir, "data")
	for _, line := range []string{"user create a -p a", "user ls", "user remove nobody"} {
		w.run(words(line), "")
	}
	if got := w.offline[dir].Closed(); got != 3 {
		t.Errorf("3 commands closed the directory %d times", got)
	}
}

// TestBashCompletes lets bash complete command lines with the script. A colon
// stands for a word that was not begun.
func TestBashCompletes(t *testing.T) {
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const ask = `
tiergrid() { "$BINARY" "$@"; }
COMP_WORDS=("${@/#:/}"); COMP_CWORD=$(($# - 1))
_tiergrid_complete
echo "${COMPREPLY[*]}"`
	script := newWorld(t).run([]string{"completion", "bash"}, "")
	for typed, want := range map[string]string{
		"tiergrid :":                "user completion help h",
		"tiergrid us":               "user",
		"tiergrid user :":           "create ls passwd groups remove help h",
		"tiergrid user re":          "remove",
		"tiergrid completion :":     "bash zsh fish",
		"tiergrid user create --gr": "--groups",
	} {
		cmd := exec.Command("bash", append([]string{"--norc", "-c", script + ask, "bash"}, strings.Fields(typed)...)...)
		cmd.Env = append(os.Environ(), asBinary+"=1", "BINARY="+binary)
		out, err := cmd.Output()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%q completes to %q, want %q: %v", typed, got, want, err)
		}
	}
}
