package compare

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tiergrid/tiergrid/loadtest/internal/fakeserver"
	"github.com/tiergrid/tiergrid/loadtest/process"
)

func TestMain(m *testing.M) {
	fakeserver.Main()
	goleak.VerifyTestMain(m)
}

// fakeBenchmark writes a program in place of redis-benchmark. It appends its
// arguments to a file and says that the server it met first does 200 requests a
// second and any other 100. extra is shell that runs before it answers.
func fakeBenchmark(t *testing.T, extra string) (program, calls string) {
	t.Helper()
	dir := t.TempDir()
	program, calls = filepath.Join(dir, "fake-benchmark"), filepath.Join(dir, "calls")
	script := fmt.Sprintf(`#!/bin/sh
echo "$*" >>%[1]s
[ -e %[2]s/first ] || echo $5 >%[2]s/first
rps=100
[ "$5" != "$(cat %[2]s/first)" ] || rps=200
%[3]s
echo test,rps,avg_latency_ms,min_latency_ms,p50_latency_ms,p95_latency_ms,p99_latency_ms,max_latency_ms
echo "X,$rps,1,1,1,1,1,1"
`, calls, dir, extra)
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return program, calls
}

// fakeSuite has two groups of two fake servers.
func fakeSuite(tests ...Test) Suite {
	group := func(name string) Group {
		return Group{Name: name, Value: 10, Keys: 50, Tests: tests,
			A: process.Config{Name: "a", Args: fakeserver.Args("")},
			B: process.Config{Name: "b", Args: fakeserver.Args("")}}
	}
	return Suite{Name: "fake", Groups: []Group{group("one"), group("two")}, Pairs: 3,
		RunTime: time.Second, Settle: 50 * time.Millisecond}
}

// sides reads which server each call went to: a for the first that was met.
func sides(t *testing.T, calls string) (string, []string) {
	t.Helper()
	b, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	ports := map[string]string{}
	var order strings.Builder
	for _, line := range lines {
		port := strings.Fields(line)[4]
		if ports[port] == "" {
			ports[port] = string(rune('a' + len(ports)))
		}
		order.WriteString(ports[port])
	}
	return order.String(), lines
}

func TestRunAlternates(t *testing.T) {
	program, calls := fakeBenchmark(t, "")
	dir := t.TempDir()
	var progress strings.Builder
	s := fakeSuite(Test{Name: "get it", Command: "get", Pipeline: 16, Requests: 7, Need: 1.5})
	results, err := Run(t.Context(), s, Options{Dir: dir, Program: program, Progress: &progress})
	if err != nil {
		t.Fatal(err)
	}
	order, lines := sides(t, calls)
	if order != "abababcdcdcd" {
		t.Errorf("order %s: two groups with servers of their own, three pairs each", order)
	}
	if !strings.Contains(lines[0], "--csv -h 127.0.0.1 -p ") || !strings.HasSuffix(lines[0], " -t get -d 10 -P 16 -c 50 -r 50 -n 7") {
		t.Errorf("call %q", lines[0])
	}
	if len(results) != 2 || results[0].Group != "one" || results[1].Group != "two" {
		t.Fatalf("results %+v", results)
	}
	first := results[0]
	if r := first.Ratio(); r != (Spread{2, 2, 2}) || !first.Pass() || first.NameA != "a" || len(first.B) != 3 {
		t.Errorf("ratio %+v of %+v", r, first)
	}
	if m := first.A[0]; m.Requests != 7 || m.RSS == 0 || m.PeakRSS == 0 || m.Row.RPS != 200 {
		t.Errorf("measure %+v", m)
	}
	if !strings.Contains(progress.String(), "get it: pair 3: 200 and 100 requests/s, ratio 2.000") {
		t.Errorf("progress:\n%s", progress.String())
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("%s was left behind", left[0].Name())
	}
}

// TestRunFindsRequests shows that a test which names no number of requests gets
// what the slower server does in the run time.
func TestRunFindsRequests(t *testing.T) {
	program, calls := fakeBenchmark(t, "")
	s := fakeSuite(Test{Name: "set", Command: "set"})
	s.Groups, s.RunTime = s.Groups[:1], 40*time.Second
	results, err := Run(t.Context(), s, Options{Dir: t.TempDir(), Program: program})
	if err != nil {
		t.Fatal(err)
	}
	order, lines := sides(t, calls)
	if order != "abababab" || !strings.HasSuffix(lines[0], " -n 2000") || !strings.HasSuffix(lines[2], " -n 4000") {
		t.Errorf("order %s, calls %q", order, lines)
	}
	if results[0].Test.Requests != 4000 {
		t.Errorf("%d requests, want 100/s × 40 s", results[0].Test.Requests)
	}
}

func TestRunFails(t *testing.T) {
	get := Test{Name: "get", Command: "get", Requests: 5}
	fails := func(change func(*Suite)) Suite {
		s := fakeSuite(get)
		change(&s)
		return s
	}
	for _, c := range []struct {
		name, extra string
		suite       Suite
		is          error
		says        string
	}{
		{"benchmark fails", "echo 'Error: no'; exit 1", fakeSuite(get), nil, "Error: no"},
		{"no CSV", "exit 0", fakeSuite(get), ErrCSV, "pair 1, a"},
		{"two tests", "echo 'X,1,1,1,1,1,1,1'", fakeSuite(get), ErrCSV, ""},
		{"no rate", "rps=0", fakeSuite(get), ErrCSV, "no requests per second"},
		{"server cannot start", "", fails(func(s *Suite) { s.Groups[0].B.Args = fakeserver.Args("exit") }), process.ErrEnded, "start b"},
		{"no suite", "", Suite{}, ErrSuite, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			program, _ := fakeBenchmark(t, c.extra)
			dir := t.TempDir()
			results, err := Run(t.Context(), c.suite, Options{Dir: dir, Program: program})
			if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want %v that says %q", err, c.is, c.says)
			}
			if left, _ := os.ReadDir(dir); len(left) != 0 || len(results) != 0 {
				t.Errorf("left behind %v, results %v", left, results)
			}
		})
	}
}

// TestRunRefusesMisses lets the benchmark read a key that is not there.
func TestRunRefusesMisses(t *testing.T) {
	program, _ := fakeBenchmark(t, `redis-cli -p $5 GET nothing >/dev/null`)
	_, err := Run(t.Context(), fakeSuite(Test{Name: "get", Command: "get", Requests: 5}), Options{Dir: t.TempDir(), Program: program})
	if !errors.Is(err, ErrMissed) || !strings.Contains(err.Error(), "1 of 5") {
		t.Errorf("error %v", err)
	}
	_, err = Run(t.Context(), fakeSuite(Test{Name: "set", Command: "set", Requests: 5}), Options{Dir: t.TempDir(), Program: program})
	if err != nil {
		t.Errorf("misses matter to a test of reading only: %v", err)
	}
}

func TestRunEndsWithContext(t *testing.T) {
	program, calls := fakeBenchmark(t, "exec sleep 60")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		for range 500 {
			if _, err := os.Stat(calls); err == nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	dir := t.TempDir()
	_, err := Run(ctx, fakeSuite(Test{Name: "get", Command: "get", Requests: 5}), Options{Dir: dir, Program: program})
	if err == nil {
		t.Error("no error")
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("%s was left behind", left[0].Name())
	}
}

func TestValidate(t *testing.T) {
	good := fakeSuite(Test{Name: "get", Command: "get"})
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Suite){
		"no groups":        func(s *Suite) { s.Groups = nil },
		"negative pairs":   func(s *Suite) { s.Pairs = -1 },
		"endless":          func(s *Suite) { s.RunTime = time.Hour },
		"endless group":    func(s *Suite) { s.Groups[1].RunTime = time.Hour },
		"no command":       func(s *Suite) { s.Groups[1].A.Args = nil },
		"one name":         func(s *Suite) { s.Groups[1].B.Name = "a" },
		"no keys":          func(s *Suite) { s.Groups[1].Keys = 0 },
		"no value":         func(s *Suite) { s.Groups[1].Value = 0 },
		"no tests":         func(s *Suite) { s.Groups[1].Tests = nil },
		"nameless command": func(s *Suite) { s.Groups[1].Tests = []Test{{Name: "x"}} },
		"pipeline":         func(s *Suite) { s.Groups[1].Tests = []Test{{Command: "get", Pipeline: maxPipeline + 1}} },
		"clients":          func(s *Suite) { s.Groups[1].Tests = []Test{{Command: "get", Clients: -1}} },
		"need":             func(s *Suite) { s.Groups[1].Tests = []Test{{Command: "get", Need: -1}} },
	} {
		s := good
		s.Groups = slices.Clone(good.Groups)
		change(&s)
		if err := s.Validate(); !errors.Is(err, ErrSuite) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSameServerTwice is a small real comparison: redis-server with itself. Its
// ratio says nothing about speed here, only that numbers come through.
func TestSameServerTwice(t *testing.T) {
	redis := func(name string) process.Config {
		return process.Config{Name: name, Args: []string{"redis-server", "--port", "{port}", "--bind", "127.0.0.1",
			"--dir", "{dir}", "--save", "", "--appendonly", "yes"}}
	}
	s := Suite{Name: "itself", Pairs: 2, RunTime: 200 * time.Millisecond, Settle: 200 * time.Millisecond,
		Groups: []Group{{Name: "itself", A: redis("left"), B: redis("right"), Value: 100, Keys: 500, Tests: []Test{
			{Name: "GET", Command: "get", Need: 0.1}, {Name: "SET P16", Command: "set", Pipeline: 16, Requests: 100_000},
		}}}}
	results, err := Run(t.Context(), s, Options{Dir: t.TempDir()})
	if err != nil || len(results) != 2 {
		t.Fatalf("%v, %v", results, err)
	}
	for _, r := range results {
		if m := r.Ratio().Median; m < 0.1 || m > 10 {
			t.Errorf("%s: ratio %v", r.Test.Name, m)
		}
		for _, m := range append(r.A, r.B...) {
			if m.Row.Test == "" || m.Row.P50 > m.Row.Max || m.CPU <= 0 || m.RSS <= 0 {
				t.Errorf("%s: %+v", r.Test.Name, m)
			}
		}
	}
}
