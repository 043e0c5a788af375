package ssd

import (
	"sync/atomic"
	"time"
)

// gate counts the calls inside a store, which would panic if one came after
// its closing. Unlike a read lock it refuses new calls as soon as the closing
// begins, so that a goroutine with an open iterator may still read and leave.
type gate struct {
	state atomic.Int64 // calls inside, plus shut once closing
	empty chan struct{}
}

const shut = 1 << 62

func newGate() *gate { return &gate{empty: make(chan struct{}, 1)} }

// enter reports whether the caller may go in; if so, it must leave.
func (g *gate) enter() bool {
	if g.state.Add(1) < shut {
		return true
	}
	g.leave()
	return false
}

func (g *gate) leave() {
	if g.state.Add(-1) == shut {
		select {
		case g.empty <- struct{}{}:
		default:
		}
	}
}

// close refuses all who come from now on; false if it was closed before.
func (g *gate) close() bool {
	for {
		inside := g.state.Load()
		if inside >= shut {
			return false
		}
		if g.state.CompareAndSwap(inside, inside+shut) {
			return true
		}
	}
}

// wait waits until all have left, and reports how many have not in time.
func (g *gate) wait(patience time.Duration) int64 {
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for g.state.Load() != shut {
		select {
		case <-g.empty:
		case <-timeout.C:
			return g.state.Load() - shut
		}
	}
	return 0
}
