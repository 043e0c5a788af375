package main

import (
	"runtime/debug"

	"github.com/tiergrid/tiergrid/cmd/tiergrid/config"
)

// heapHeadroom is what the Go heap may hold beside the memory tier: sessions,
// buffers on their way, and garbage. The tier itself counts as heap from the start
// and would by default allow as much garbage again.
const heapHeadroom = 128 << 20

// limitHeap makes the garbage collector keep the heap near what the configuration
// asks for, instead of letting it double.
func limitHeap(c *config.Config) {
	debug.SetMemoryLimit(int64(c.Memory.MaxSize) + heapHeadroom)
}
