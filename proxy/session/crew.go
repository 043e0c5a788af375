package session

import (
	"sync"
	"sync/atomic"
)

// idleCrew is how many goroutines wait for the next session. Their stacks have grown
// to what a command needs, so they are cheaper than new ones.
const idleCrew = 64

// crew are the goroutines that work on watched sessions where a worker of the poller
// must not: at most one for each session.
type crew struct {
	jobs chan *session
	stop chan struct{}
	idle chan struct{} // one element for each goroutine that waits
	all  sync.WaitGroup

	resumed atomic.Int64
}

func newCrew() *crew {
	return &crew{jobs: make(chan *session), stop: make(chan struct{}), idle: make(chan struct{}, idleCrew)}
}

// do resumes a session that the caller owns. It does not wait.
func (c *crew) do(s *session) {
	c.resumed.Add(1)
	select {
	case c.jobs <- s:
	default:
		c.all.Go(func() { c.work(s) })
	}
}

func (c *crew) work(s *session) {
	for {
		s.resume()
		select {
		case c.idle <- struct{}{}:
		default:
			return
		}
		select {
		case s = <-c.jobs:
			<-c.idle
		case <-c.stop:
			return
		}
	}
}

// close waits for all goroutines. No session may be left.
func (c *crew) close() {
	select {
	case <-c.stop:
	default:
		close(c.stop)
	}
	c.all.Wait()
}
