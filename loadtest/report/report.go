// Package report writes what was measured, for people as text or Markdown and
// for programs as JSON.
//
// A Report is filled in once and then only read. Numbers are medians of the runs
// with the least and greatest beside them; a ratio is that of pairs of runs, and
// "need" is what its median, or a size, is judged by. The package measures
// nothing and decides nothing itself.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/tiergrid/tiergrid/loadtest/compare"
	"github.com/tiergrid/tiergrid/loadtest/footprint"
)

// Report is one session of measuring.
type Report struct {
	Title    string    `json:"title"`
	Taken    time.Time `json:"taken"`
	Machine  Machine   `json:"machine"`
	Programs []string  `json:"programs"` // the versions they print
	// Method says how the numbers were taken, in a sentence or two.
	Method     string             `json:"method"`
	Results    []compare.Result   `json:"results"`
	Footprints []footprint.Result `json:"footprints"`
}

// Missed names what did not pass.
func (r *Report) Missed() []string {
	var names []string
	for i := range r.Results {
		if !r.Results[i].Pass() {
			names = append(names, r.Results[i].Test.Name)
		}
	}
	for _, f := range r.Footprints {
		if !f.Pass() {
			names = append(names, f.Name)
		}
	}
	return names
}

// JSON writes the report with every run.
func (r *Report) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// Text writes the report for a terminal.
func (r *Report) Text(w io.Writer) error {
	out := &writer{w: w}
	out.printf("%s\n%s\n", r.Title, r.Machine)
	for _, p := range r.Programs {
		out.printf("%s\n", p)
	}
	for _, t := range r.tables() {
		out.printf("\n%s\n", t.title)
		t.text(out)
	}
	return out.err
}

// Markdown writes the report as a document.
func (r *Report) Markdown(w io.Writer) error {
	out := &writer{w: w}
	out.printf("# %s\n\n%s. %s.\n\n", r.Title, r.Taken.UTC().Format("2006-01-02 15:04 MST"), r.Machine)
	if r.Method != "" {
		out.printf("%s\n\n", r.Method)
	}
	for _, p := range r.Programs {
		out.printf("- %s\n", p)
	}
	for _, t := range r.tables() {
		out.printf("\n## %s\n\n", t.title)
		t.markdown(out)
	}
	return out.err
}

func (r *Report) tables() []table {
	var ts []table
	if len(r.Results) > 0 {
		ts = append(ts, r.rates(), r.costs())
	}
	if len(r.Footprints) > 0 {
		ts = append(ts, r.sizes())
	}
	return ts
}

func (r *Report) rates() table {
	t := table{title: "Requests per second", head: []string{"test", r.Results[0].NameA, r.Results[0].NameB, "ratio", "need", ""}}
	for i := range r.Results {
		res := &r.Results[i]
		a, b := res.Each(func(m compare.Measure) float64 { return m.Row.RPS })
		need := ""
		if res.Test.Need > 0 {
			need = fmt.Sprintf("≥ %.2f", res.Test.Need)
		}
		t.row(res.Test.Name, spread("%.0f", a), spread("%.0f", b),
			spreadOf("%.3f", res.Ratio()), need, verdict(res.Pass(), res.Test.Need > 0))
	}
	return t
}

func (r *Report) costs() table {
	t := table{title: "Latency and cost", head: []string{"test", "server", "avg ms", "p50 ms", "p95 ms", "p99 ms", "max ms", "CPU s per million", "RSS MB"}}
	for i := range r.Results {
		res := &r.Results[i]
		var cells [2][]string
		for _, of := range []func(compare.Measure) float64{
			func(m compare.Measure) float64 { return m.Row.Avg },
			func(m compare.Measure) float64 { return m.Row.P50 },
			func(m compare.Measure) float64 { return m.Row.P95 },
			func(m compare.Measure) float64 { return m.Row.P99 },
			func(m compare.Measure) float64 { return m.Row.Max },
			compare.Measure.CPUPerMillion,
			func(m compare.Measure) float64 { return float64(m.RSS) / 1e6 },
		} {
			a, b := res.Each(of)
			cells[0] = append(cells[0], short(compare.SpreadOf(a).Median))
			cells[1] = append(cells[1], short(compare.SpreadOf(b).Median))
		}
		t.row(append([]string{res.Test.Name, res.NameA}, cells[0]...)...)
		t.row(append([]string{"", res.NameB}, cells[1]...)...)
	}
	return t
}

func (r *Report) sizes() table {
	t := table{title: "Memory", head: []string{"state", "measured", "limit", "unit", "peak RSS MB", ""}}
	for _, f := range r.Footprints {
		t.row(f.Name, grouped(f.Got), grouped(f.Limit), f.Unit, short(float64(f.Peak)/1e6), verdict(f.Pass(), true))
	}
	return t
}

func verdict(pass, judged bool) string {
	switch {
	case !judged:
		return ""
	case pass:
		return "pass"
	default:
		return "MISSED"
	}
}
