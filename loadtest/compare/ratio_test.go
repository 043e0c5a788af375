package compare

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestSpreadOf(t *testing.T) {
	for _, c := range []struct {
		in   []float64
		want Spread
	}{
		{[]float64{3}, Spread{3, 3, 3}},
		{[]float64{3, 1}, Spread{2, 1, 3}},
		{[]float64{9, 1, 4}, Spread{4, 1, 9}},
		{[]float64{9, 1, 4, 5}, Spread{4.5, 1, 9}},
	} {
		if got := SpreadOf(c.in); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.in, got, c.want)
		}
	}
}

func TestSpreadProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Float64Range(0, 1e9), 1, 30).Draw(t, "values")
		before := slices.Clone(v)
		s := SpreadOf(v)
		below, above := 0, 0
		for _, x := range v {
			if x <= s.Median {
				below++
			}
			if x >= s.Median {
				above++
			}
		}
		if s.Min > s.Median || s.Median > s.Max || 2*below < len(v) || 2*above < len(v) {
			t.Fatalf("%v: %+v", v, s)
		}
		if !slices.Equal(v, before) {
			t.Fatal("the values were moved")
		}
	})
}

func TestRatiosOfPairs(t *testing.T) {
	got := Ratios([]float64{10, 30}, []float64{20, 10})
	if !slices.Equal(got, []float64{0.5, 3}) {
		t.Errorf("%v", got)
	}
}

func TestNoValuesPanic(t *testing.T) {
	for name, f := range map[string]func(){
		"spread": func() { SpreadOf(nil) },
		"ratios": func() { Ratios([]float64{1}, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		})
	}
}

func TestResult(t *testing.T) {
	at := func(rps float64) Measure {
		return Measure{Requests: 2_000_000, Row: Row{RPS: rps}, CPU: 3 * time.Second}
	}
	r := Result{Test: Test{Need: 0.9}, A: []Measure{at(90), at(10), at(50)}, B: []Measure{at(100), at(100), at(50)}}
	if got, want := r.Ratio(), (Spread{0.9, 0.1, 1}); got != want {
		t.Errorf("ratio %+v, want %+v", got, want)
	}
	if !r.Pass() {
		t.Error("a median of exactly what is needed passes")
	}
	if r.Test.Need = 0.91; r.Pass() {
		t.Error("passed below what is needed")
	}
	if got := r.A[0].CPUPerMillion(); got != 1.5 {
		t.Errorf("%v CPU seconds per million", got)
	}
}
