package main

import "testing"

// TestGarbageIsBounded shows that the pace of the collector bounds garbage, and
// never goes beyond Go's own.
func TestGarbageIsBounded(t *testing.T) {
	for live, want := range map[uint64]int{0: 100, 1 << 20: 100, 64 << 20: 100, 128 << 20: 50, 1 << 30: 6, 48 << 30: 4} {
		if got := gcPercent(live); got != want {
			t.Errorf("with %d bytes alive: %d %%, want %d", live, got, want)
		}
	}
}
