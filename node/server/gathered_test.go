package server_test

import (
	"sync"

	"github.com/tiergrid/tiergrid/node/server"
	"github.com/tiergrid/tiergrid/node/wire"
)

// gathered runs the batches of clients as a proxy does: those that come while others
// are being run are run together next.
type gathered struct {
	mu      sync.Mutex
	waiting []*wire.Batch
	done    chan struct{} // closed when those that wait were run
	running bool
	off     bool // batches are only run apart
}

// run returns when the batch was run as far as that needs no waiting.
func (g *gathered) run(s *server.Server, b *wire.Batch) {
	if g.off {
		return
	}
	g.mu.Lock()
	if len(g.waiting) == 0 {
		g.done = make(chan struct{})
	}
	g.waiting = append(g.waiting, b)
	done := g.done
	if g.running {
		g.mu.Unlock()
		<-done
		return
	}
	g.running = true
	for len(g.waiting) > 0 {
		batches, done := g.waiting, g.done
		g.waiting = nil
		g.mu.Unlock()
		for len(batches) > 0 {
			n := 1
			for n < len(batches) && batches[n].Table == batches[0].Table {
				n++
			}
			s.RunTogether(batches[:n])
			batches = batches[n:]
		}
		close(done)
		g.mu.Lock()
	}
	g.running = false
	g.mu.Unlock()
}
