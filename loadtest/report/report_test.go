package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/tiergrid/tiergrid/loadtest/compare"
	"github.com/tiergrid/tiergrid/loadtest/footprint"
)

var rewrite = flag.Bool("rewrite", false, "write the expected files anew")

// sample has a test that passed, one that missed, one that is not judged, and
// two sizes.
func sample() *Report {
	at := func(rps, ms float64, cpu time.Duration) compare.Measure {
		return compare.Measure{Requests: 1_000_000, CPU: cpu, RSS: 123_456_789, PeakRSS: 200_000_000,
			Row: compare.Row{Test: "GET", RPS: rps, Avg: ms, Min: ms / 2, P50: ms, P95: 2 * ms, P99: 3 * ms, Max: 40 * ms}}
	}
	result := func(name string, need float64, b float64) compare.Result {
		return compare.Result{Group: "g", NameA: "tiergrid", NameB: "redis-server",
			Test: compare.Test{Name: name, Command: "get", Pipeline: 1, Clients: 50, Requests: 1_000_000, Need: need},
			A:    []compare.Measure{at(90_000, 0.3, 4*time.Second), at(95_000, 0.4, 5*time.Second), at(100_000, 0.5, 6*time.Second)},
			B:    []compare.Measure{at(b, 0.1, time.Second), at(b, 1.5, 2*time.Second), at(b, 11, 12*time.Second)}}
	}
	return &Report{
		Title: "One server next to another", Taken: time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC),
		Machine:  Machine{CPU: "Some CPU", Cores: 2, Memory: 8e9, Kernel: "6.1.0"},
		Programs: []string{"tiergrid 1.0", "Redis server v=7.0.15"}, Method: "They took turns.",
		Results: []compare.Result{result("GET 100 B", 0.95, 100_000), result("GET 120 kB", 0.96, 100_000), result("SET", 0, 200_000)},
		Footprints: []footprint.Result{
			{Name: "10,000 idle connections", Unit: "bytes a connection", Got: 12_345, Limit: 20_000, Peak: 223_000_000},
			{Name: "holding", Unit: "bytes of memory", Got: 1_600_000_000, Limit: 1_534_803_097, Peak: 1_700_000_000},
		},
	}
}

func golden(t *testing.T, name string, write func(io.Writer) error) {
	t.Helper()
	var got bytes.Buffer
	if err := write(&got); err != nil {
		t.Fatal(err)
	}
	file := "testdata/" + name
	if *rewrite {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s (%v) differs from:\n%s", file, err, got.String())
	}
}

func TestGolden(t *testing.T) {
	r := sample()
	golden(t, "report.txt", r.Text)
	golden(t, "report.md", r.Markdown)
	golden(t, "empty.md", (&Report{Title: "Nothing yet"}).Markdown)
}

func TestJSONKeepsEveryRun(t *testing.T) {
	var b bytes.Buffer
	if err := sample().JSON(&b); err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if len(back.Results) != 3 || len(back.Footprints) != 2 || back.Results[0].A[2] != sample().Results[0].A[2] {
		t.Errorf("%+v", back)
	}
}

func TestMissed(t *testing.T) {
	if got := sample().Missed(); !slices.Equal(got, []string{"GET 120 kB", "holding"}) {
		t.Errorf("%q", got)
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1234: "-1,234", -123: "-123"} {
		if got := grouped(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	for v, want := range map[float64]string{0: "0.000", 0.0123: "0.012", 1.234: "1.23", 12.34: "12.3", 1234.5: "1234"} {
		if got := short(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}

// full has room for a few bytes only.
type full struct{ room int }

var errFull = errors.New("full")

func (f *full) Write(b []byte) (int, error) {
	if f.room -= len(b); f.room < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestWriteErrorsComeThrough(t *testing.T) {
	r := sample()
	for _, write := range []func(io.Writer) error{r.Text, r.Markdown, r.JSON} {
		if err := write(&full{room: 300}); !errors.Is(err, errFull) {
			t.Errorf("error %v", err)
		}
	}
}

func TestThisMachine(t *testing.T) {
	m := ThisMachine()
	if m.Cores < 1 || m.Memory < 1<<26 || m.Kernel == "" {
		t.Errorf("%+v", m)
	}
}

func TestVersion(t *testing.T) {
	v, err := Version(t.Context(), "redis-benchmark", "--version")
	if err != nil || len(v) < len("redis-benchmark 7") {
		t.Errorf("%q, %v", v, err)
	}
	if _, err := Version(t.Context(), "/nonexistent/program"); err == nil {
		t.Error("no error")
	}
}
