package compare

import "time"

// Measure is one run of one contestant.
type Measure struct {
	Requests int           `json:"requests"`
	Row      Row           `json:"row"`
	CPU      time.Duration `json:"cpu_ns"` // of the server, with what it did after the run
	RSS      int64         `json:"rss_bytes"`
	PeakRSS  int64         `json:"peak_rss_bytes"` // since the server's start
}

// CPUPerMillion is processor seconds of the server for a million requests.
func (m Measure) CPUPerMillion() float64 { return m.CPU.Seconds() / float64(m.Requests) * 1e6 }

// Result is what the runs of a test came to. A[i] and B[i] are a pair.
type Result struct {
	Group string    `json:"group"`
	Test  Test      `json:"test"`
	NameA string    `json:"name_a"`
	NameB string    `json:"name_b"`
	A     []Measure `json:"a"`
	B     []Measure `json:"b"`
}

// Each returns one number of each run of A and of B.
func (r *Result) Each(of func(Measure) float64) (a, b []float64) {
	for _, m := range r.A {
		a = append(a, of(m))
	}
	for _, m := range r.B {
		b = append(b, of(m))
	}
	return a, b
}

// Ratio is A over B in requests per second.
func (r *Result) Ratio() Spread { return SpreadOf(Ratios(r.Each(rps))) }

// Pass says whether the median ratio is what the test needs.
func (r *Result) Pass() bool { return r.Ratio().Median >= r.Test.Need }

func rps(m Measure) float64 { return m.Row.RPS }
