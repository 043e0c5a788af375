package loadtest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
	"go.uber.org/goleak"

	"github.com/tiergrid/tiergrid/loadtest/internal/fakeserver"
)

func TestMain(m *testing.M) {
	fakeserver.Main()
	// The watch over signals is the runtime's and stays once it was used.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("os/signal.loop"))
}

// run calls the command as the binary would and returns what it prints.
func run(t *testing.T, args ...string) (out, progress string, err error) {
	t.Helper()
	var o, e bytes.Buffer
	app := &cli.App{Name: "tiergrid", Writer: &o, ErrWriter: &e, Commands: []*cli.Command{Command()},
		ExitErrHandler: func(*cli.Context, error) {}}
	err = app.RunContext(t.Context(), append([]string{"tiergrid", "loadtest"}, args...))
	return o.String(), e.String(), err
}

func TestFill(t *testing.T) {
	server := fakeserver.New()
	addr := fakeserver.Listen(t, server)
	out, _, err := run(t, "fill", "--addr", addr, "-r", "300", "-d", "64", "--check")
	if err != nil || server.Len() != 300 || !strings.Contains(out, "wrote 300 keys") || !strings.Contains(out, "read and compared 300 keys") {
		t.Errorf("%v, %d keys, printed %q", err, server.Len(), out)
	}
	server.Refuse = "ERR no"
	if _, _, err := run(t, "fill", "--addr", addr); err == nil {
		t.Error("a refused write is no success")
	}
}

func TestIdle(t *testing.T) {
	addr := fakeserver.Listen(t, fakeserver.New())
	out, _, err := run(t, "idle", "--addr", addr, "-c", "20", "--hold", "10ms")
	if err != nil || !strings.Contains(out, "20 connections are open") {
		t.Errorf("%v, printed %q", err, out)
	}
}

// fakeTiergrid writes a program that understands as much of tiergrid's command
// line and configuration as the suite uses, and is redis-server in truth.
func fakeTiergrid(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "tiergrid")
	const script = `#!/bin/sh
[ "$1" != version ] || { echo tiergrid in disguise; exit; }
port=$(sed -n 's/^resp: {bind: "127.0.0.1:\([0-9]*\)"}$/\1/p' "$3")
exec redis-server --bind 127.0.0.1 --port "$port" --dir "$(dirname "$3")" --save ""
`
	if err := os.WriteFile(name, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestBench(t *testing.T) {
	dir := t.TempDir()
	md, js := filepath.Join(dir, "docs", "server.md"), filepath.Join(dir, "server.json")
	out, progress, err := run(t, "bench", "--tiergrid", fakeTiergrid(t), "--quick", "--pairs", "1",
		"--only", "GET 100 B, P16", "--dir", dir, "--markdown", md, "--json", js)
	if err != nil && !strings.Contains(err.Error(), "missed: GET 100 B, P16") { // speed is not judged here
		t.Fatal(err)
	}
	if !strings.Contains(out, "tiergrid in disguise") || !strings.Contains(out, "≥ 0.80") || !strings.Contains(progress, "pair 1: ") {
		t.Errorf("printed %s\n%s", out, progress)
	}
	for _, name := range []string{md, js} {
		if b, err := os.ReadFile(name); err != nil || !strings.Contains(string(b), "GET 100 B, P16") {
			t.Errorf("%s: %v, %s", name, err, b)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "tiergrid-loadtest-*")); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestBenchRefuses(t *testing.T) {
	for _, c := range []struct {
		args string
		says string
	}{
		{"--only nothing-of-this-name", "nothing to measure"},
		{"--tiergrid /nonexistent/tiergrid", "no such file"},
		{"--dir /nonexistent/dir", "statfs /nonexistent/dir"},
		{"--dir /dev/shm", "is in memory"},
	} {
		args := append([]string{"bench", "--tiergrid", fakeTiergrid(t)}, strings.Fields(c.args)...)
		if _, _, err := run(t, args...); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want %q", c.args, err, c.says)
		}
	}
}

func TestCompare(t *testing.T) {
	fake := fmt.Sprintf("%s -fake-server {port} ", os.Args[0])
	redis := "redis-server --port {port} --dir {dir} --save 900"
	out, _, err := run(t, "compare", "--a", redis+" 1", "--b", redis+" 2", "-t", "get,set", "-d", "20", "-r", "100",
		"-n", "2000", "-P", "4", "-c", "5", "--pairs", "2", "--need", "0.000001", "--dir", t.TempDir())
	if err != nil || !strings.Contains(out, "GET 20 B, P4") || !strings.Contains(out, "a: redis-server") {
		t.Errorf("%v, printed:\n%s", err, out)
	}
	_, _, err = run(t, "compare", "--a", redis+" 1", "--b", redis+" 2", "-t", "get", "-n", "2000", "-r", "10", "-d", "5",
		"--pairs", "1", "--need", "1000000", "--dir", t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "missed: GET 5 B, P1") {
		t.Errorf("error %v", err)
	}
	if _, _, err := run(t, "compare", "--a", fake+"exit", "--b", redis, "--dir", t.TempDir()); err == nil {
		t.Error("a server that does not start is no success")
	}
	if _, _, err := run(t, "compare", "--a", "", "--b", redis); err == nil || !strings.Contains(err.Error(), "two commands") {
		t.Errorf("error %v", err)
	}
}
