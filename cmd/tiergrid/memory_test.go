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

func TestAHeapThatIsHeldAndNotAliveIsWasteful(t *testing.T) {
	for _, c := range []struct {
		live, held uint64
		want       bool
	}{
		{0, 0, false}, {20 << 20, 100 << 20, false}, {20 << 20, 200 << 20, true},
		{1 << 30, 1<<30 + 200<<20, false}, {1 << 30, 1<<30 + 300<<20, true},
	} {
		if got := (heap{live: c.live, held: c.held}).wasteful(); got != c.want {
			t.Errorf("%d held, %d alive: wasteful %v", c.held, c.live, got)
		}
	}
	if h := readHeap(); h.held == 0 {
		t.Errorf("the runtime says %+v of this process", h)
	}
}
