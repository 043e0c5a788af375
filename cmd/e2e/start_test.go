package e2e

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// refuse starts a server and checks that it ends at once with exit code 1 and one
// line, which contains all the words.
func (s *server) refuse(t *testing.T, words ...string) {
	t.Helper()
	s.launch()
	code := s.wait(t, readyWithin)
	checkOneLine(t, result{code: code, stderr: s.stderr.String()}, words...)
}

func checkOneLine(t *testing.T, r result, words ...string) {
	t.Helper()
	if r.code != 1 {
		t.Errorf("exit code %d, want 1", r.code)
	}
	if n := strings.Count(r.stderr, "\n"); n != 1 || !strings.HasPrefix(r.stderr, "tiergrid: ") || r.stdout != "" {
		t.Errorf("%d lines, want one:\n%s%s", n, r.stdout, r.stderr)
	}
	for _, word := range words {
		if !strings.Contains(r.stderr, word) {
			t.Errorf("it does not say %q: %s", word, r.stderr)
		}
	}
}

// TestStartRefusesConfiguration gives the server configurations it cannot use. The
// command that checks configurations says the same.
func TestStartRefusesConfiguration(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, config string
		words        []string
	}{
		{"unknown part", "memroy: {max-size: 1GB}\n", []string{"line 1", `"memroy"`, `"memory"`}},
		{"unknown key", "memory:\n  max-sise: 1GB\n", []string{"line 2", `"max-sise"`, `"max-size"`}},
		{"unknown key of a cache", "caches: {a: {durabilty: always}}\n", []string{`"durabilty"`, `"durability"`}},
		{"key of a later version", "cluster: {name: c}\n", []string{`"cluster"`, "does not have"}},
		{"no YAML", "memory: [\n", []string{"line 1"}},
		{"no size", "memory: {max-size: lots}\n", []string{`"lots"`, "48GB"}},
		{"negative size", "ssd: {max-size: -1GB}\n", []string{`"-1GB"`}},
		{"size without end", "ssd: {max-size: 99999999999TB}\n", []string{`"99999999999TB"`}},
		{"too small", "ssd: {max-size: 1MB}\n", []string{"ssd.max-size", "1MB", "64MiB"}},
		{"address without port", "http: {bind: localhost}\n", []string{"http.bind", `"localhost"`}},
		{"address with a bad port", "resp: {bind: \"127.0.0.1:77777\"}\n", []string{"resp.bind", "77777"}},
		{"unknown word", "log: {level: loud}\n", []string{"log.level", `"loud"`, "debug, info, warn or error"}},
		{"unusable name", "node: {name: a b}\n", []string{"node.name", `"a b"`}},
		{"unusable template", "templates: {default: {durability: sometimes}}\n", []string{`"sometimes"`, "always interval none"}},
		{"unusable cache", "caches: {a: {database: 3, owners: 9}}\n", []string{"owners 9", "1 to 6"}},
		{"unknown template", "caches: {a: {template: none, database: 3}}\n", []string{"template none"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			file := writeFile(t, "tiergrid.yaml", c.config)
			checkOneLine(t, run(t, "config", "check", "--config", file), c.words...)
			args := []string{"server", "--config", file, "--data", filepath.Join(t.TempDir(), "data")}
			if !strings.Contains(c.config, "bind") { // flags go before the file
				args = append(args, "--resp-bind", "127.0.0.1:0", "--http-bind", "127.0.0.1:0")
			}
			checkOneLine(t, run(t, args...), c.words...)
		})
	}
}

func TestStartRefusesCommandLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args  []string
		words []string
	}{
		{[]string{"server", "--config", "/nonexistent/tiergrid.yaml"}, []string{"/nonexistent/tiergrid.yaml", "no such file"}},
		{[]string{"server", "--memory-max-size", "12XB"}, []string{"--memory-max-size", `"12XB"`}},
		{[]string{"server", "--resp-bind", "6379"}, []string{"resp.bind", `"6379"`}},
		{[]string{"server", "--memory", "1GB"}, []string{"-memory", "tiergrid server --help"}},
		{[]string{"server", "memory=1GB"}, []string{`"memory=1GB"`, "tiergrid server --help"}},
		{[]string{"version", "please"}, []string{`"please"`}},
		{[]string{"serve"}, []string{`"serve"`, "tiergrid --help"}},
		{[]string{"config", "chek"}, []string{`"chek"`, "tiergrid config --help"}},
		{[]string{"--loud"}, []string{"-loud", "tiergrid --help"}},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			t.Parallel()
			checkOneLine(t, run(t, c.args...), c.words...)
		})
	}
}

func TestStartRefusesBusyPort(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	busy := ln.Addr().String()

	s := newServer(t)
	s.resp = busy
	s.refuse(t, "resp.bind", busy, "in use")

	s = newServer(t)
	s.http = busy
	s.refuse(t, "http.bind", busy, "in use")
	if _, err := os.Stat(s.data); !os.IsNotExist(err) {
		t.Errorf("a server that cannot serve has touched its data: %v", err)
	}
}

func TestStartRefusesForeignAddress(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.resp = "192.0.2.1:6379" // for documentation, so nobody's
	s.refuse(t, "resp.bind", "192.0.2.1")
}

// TestStartRefusesDirectory gives the server data directories that are not its.
func TestStartRefusesDirectory(t *testing.T) {
	t.Parallel()
	t.Run("in use", func(t *testing.T) {
		t.Parallel()
		first := startServer(t)
		second := newServer(t)
		second.data = first.data
		second.refuse(t, first.data, "in use by another process")
		if got := dial(t, first.resp).ask("PING"); got != "+PONG" {
			t.Errorf("the first server answers %q", got)
		}
	})
	t.Run("of others", func(t *testing.T) {
		t.Parallel()
		s := newServer(t)
		keep := filepath.Join(s.data, "thesis.txt")
		if err := os.MkdirAll(s.data, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(keep, []byte("three years of work"), 0o600); err != nil {
			t.Fatal(err)
		}
		s.refuse(t, "foreign", keep)
		if files, err := os.ReadDir(s.data); err != nil || len(files) != 1 {
			t.Errorf("the directory was changed: %v, %v", files, err)
		}
	})
	t.Run("a store of others", func(t *testing.T) {
		t.Parallel()
		s := newServer(t)
		if err := os.MkdirAll(filepath.Join(s.data, "store", "dump.rdb"), 0o700); err != nil {
			t.Fatal(err)
		}
		s.refuse(t, "foreign", "dump.rdb")
	})
	t.Run("a file", func(t *testing.T) {
		t.Parallel()
		s := newServer(t)
		s.data = writeFile(t, "data", "")
		s.refuse(t, "node.data", s.data, "not a directory")
	})
	t.Run("of another member", func(t *testing.T) {
		t.Parallel()
		s := startServer(t)
		s.stop()
		s.args = []string{"--name", "m2"}
		s.refuse(t, "another member", "m1", "m2")
		s.args = nil
		s.start()
	})
}

// TestCommands runs what needs no server.
func TestCommands(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args  []string
		words []string
	}{
		{[]string{"version"}, []string{"tiergrid ", " go1.", "linux/"}},
		{[]string{"--help"}, []string{"server", "user", "config", "loadtest", "version", "completion"}},
		{[]string{}, []string{"USAGE"}},
		{[]string{"server", "--help"}, []string{"--data", "--resp-bind", "TIERGRID_HTTP_BIND", "memory.max-size"}},
		{[]string{"user", "create", "--help"}, []string{"NAME", "-p", "-g", "admin"}},
		{[]string{"completion", "bash"}, []string{"complete ", "tiergrid"}},
		{[]string{"completion", "zsh"}, []string{"compdef", "tiergrid"}},
		{[]string{"completion", "fish"}, []string{"complete ", "tiergrid"}},
		{[]string{"config", "show"}, []string{"127.0.0.1:6379", "127.0.0.1:11222", "when-full: remove"}},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			t.Parallel()
			out := mustRun(t, c.args...)
			for _, word := range c.words {
				if !strings.Contains(out, word) {
					t.Errorf("it does not say %q:\n%s", word, out)
				}
			}
		})
	}
}

// TestConfigShow shows that what is printed can be read again and is then the same,
// and that flags go before the file.
func TestConfigShow(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "tiergrid.yaml", "memory: {max-size: 1GB}\nnode: {name: m7}\ncaches: {ledger: {database: 1, durability: always}}\n")
	shown := mustRun(t, "config", "show", "--config", file, "--ssd-max-size", "64GiB")
	for _, line := range []string{"max-size: 1GB", "max-size: 64GiB", "name: m7", "durability: always"} {
		if !strings.Contains(shown, line) {
			t.Errorf("no %q in\n%s", line, shown)
		}
	}
	again := writeFile(t, "again.yaml", shown)
	if got := mustRun(t, "config", "show", "--config", again); got != shown {
		t.Errorf("shown again it is\n%s", got)
	}
	if got := mustRun(t, "config", "check", "--config", again); got != "" {
		t.Errorf("a good configuration is answered %q", got)
	}
}

// TestCompletionWorks asks bash itself.
func TestCompletionWorks(t *testing.T) {
	t.Parallel()
	script := `PATH=` + filepath.Dir(linkBinary(t)) + `:$PATH
source <(tiergrid completion bash)
COMP_WORDS=(tiergrid us); COMP_CWORD=1; _tiergrid_complete; echo "${COMPREPLY[@]}"
COMP_WORDS=(tiergrid user cr); COMP_CWORD=2; _tiergrid_complete; echo "${COMPREPLY[@]}"
COMP_WORDS=(tiergrid server --http-b); COMP_CWORD=2; _tiergrid_complete; echo "${COMPREPLY[@]}"
`
	if got := mustRunTool(t, script, "bash", "--norc"); got != "user\ncreate\n--http-bind\n" {
		t.Errorf("completed to %q", got)
	}
}

// linkBinary gives the binary its name, whatever it was built as.
func linkBinary(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tiergrid")
	if err := os.Symlink(binary, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestLogFormats reads a log in JSON.
func TestLogFormats(t *testing.T) {
	t.Parallel()
	s := startServer(t, "--log-format", "json")
	s.stop()
	for line := range strings.Lines(s.stderr.String()) {
		if !strings.HasPrefix(line, `{"time":"`) || !strings.HasSuffix(line, "}\n") {
			t.Errorf("no JSON: %s", line)
		}
	}
	if log := s.stderr.String(); !strings.Contains(log, `"msg":"tiergrid is ready"`) || !strings.Contains(log, s.resp) {
		t.Errorf("the log does not tell that the server is ready:\n%s", log)
	}
	quiet := startServer(t, "--log-level", "error")
	quiet.stop()
	if log := quiet.stderr.String(); log != "" {
		t.Errorf("a server without trouble says %q", log)
	}
}
