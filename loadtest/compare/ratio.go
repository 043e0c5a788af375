package compare

import (
	"fmt"
	"slices"
)

// Spread is the median of some values, and the least and greatest of them.
type Spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// SpreadOf panics without values: there is no median of nothing.
func SpreadOf(values []float64) Spread {
	if len(values) == 0 {
		panic("spread of no values")
	}
	v := slices.Sorted(slices.Values(values))
	mid := v[len(v)/2]
	if len(v)%2 == 0 {
		mid = (v[len(v)/2-1] + mid) / 2
	}
	return Spread{Median: mid, Min: v[0], Max: v[len(v)-1]}
}

// Ratios divides a by b, pair by pair: neighbours in time, which met the same
// machine.
func Ratios(a, b []float64) []float64 {
	if len(a) != len(b) {
		panic(fmt.Sprintf("%d and %d values are no pairs", len(a), len(b)))
	}
	r := make([]float64, len(a))
	for i := range a {
		r[i] = a[i] / b[i]
	}
	return r
}
