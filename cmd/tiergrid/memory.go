package main

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/tiergrid/tiergrid/node/resp"
)

// The collector's pace is set from the heap that is alive. By default a heap may
// double before it is collected; but the memory tier is most of the heap here,
// holds no pointers and never becomes garbage, so that would only double the
// process. Instead garbage may grow to gcGarbage, whatever the tier's size.
const (
	gcGarbage = 64 << 20
	gcMost    = 100 // percent, Go's own default
	gcLeast   = 4
	gcTick    = time.Second
)

// paceGC keeps the collector's pace until ctx is done.
func paceGC(ctx context.Context) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	ticker := time.NewTicker(gcTick)
	defer ticker.Stop()
	set := 0
	for {
		metrics.Read(live)
		if percent := gcPercent(live[0].Value.Uint64()); percent != set {
			debug.SetGCPercent(percent)
			set = percent
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// gcPercent is the pace for a heap of which so many bytes are alive.
func gcPercent(live uint64) int {
	if live == 0 {
		return gcMost
	}
	return int(max(gcLeast, min(gcMost, gcGarbage*100/live)))
}

// trimTick is how long large buffers may wait for reuse: two ticks at most.
const trimTick = 5 * time.Second

// trimBuffers gives the memory of large buffers back after a burst, until ctx is
// done.
func trimBuffers(ctx context.Context) {
	ticker := time.NewTicker(trimTick)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			resp.TrimBuffers()
		}
	}
}
