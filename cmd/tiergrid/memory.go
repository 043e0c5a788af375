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

// quietTicks is for how many ticks in a row the collector must have had nothing
// to do before memory that a burst has left is given back at once. Otherwise it
// would stay for minutes, as a process that does nothing makes no garbage.
const quietTicks = 10

// heap is what the runtime says of its memory.
type heap struct{ live, held, cycles uint64 }

var heapMetrics = []string{
	"/gc/heap/live:bytes", "/gc/cycles/total:gc-cycles",
	"/memory/classes/heap/objects:bytes", "/memory/classes/heap/unused:bytes", "/memory/classes/heap/free:bytes",
}

func readHeap() heap {
	samples := make([]metrics.Sample, len(heapMetrics))
	for i, name := range heapMetrics {
		samples[i].Name = name
	}
	metrics.Read(samples)
	value := func(i int) uint64 { return samples[i].Value.Uint64() }
	return heap{live: value(0), cycles: value(1), held: value(2) + value(3) + value(4)}
}

// wasteful tells that much more memory is held than is alive.
func (h heap) wasteful() bool { return h.held > h.live+h.live/8+2*gcGarbage }

// paceGC keeps the collector's pace until ctx is done.
func paceGC(ctx context.Context) {
	ticker := time.NewTicker(gcTick)
	defer ticker.Stop()
	var last heap
	set, quiet := 0, 0
	for {
		now := readHeap()
		if percent := gcPercent(now.live); percent != set {
			debug.SetGCPercent(percent)
			set = percent
		}
		quiet++
		if now.cycles != last.cycles {
			quiet = 0
		}
		if last = now; quiet >= quietTicks && now.wasteful() {
			debug.FreeOSMemory()
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
