package memory

import (
	"sync/atomic"
	"time"
)

// tick is how often the age clock is read. Ages count in seconds.
const tick = 250 * time.Millisecond

// clock gives freecache the time in whole seconds, never falling: one step
// back would spoil its averages for good. Reading it is one load.
type clock struct {
	seconds atomic.Uint32
	read    func() time.Duration // set: asked each time
	quit    chan struct{}
	done    chan struct{}
}

// newClock starts the goroutine that advances the clock, unless read is given.
// stop ends it.
func newClock(read func() time.Duration) *clock {
	c := &clock{read: read}
	c.seconds.Store(1)
	if read == nil {
		c.quit, c.done = make(chan struct{}), make(chan struct{})
		go c.run(time.Now())
	}
	return c
}

// Now implements freecache.Timer.
func (c *clock) Now() uint32 {
	if c.read != nil {
		c.advance(c.read())
	}
	return c.seconds.Load()
}

func (c *clock) advance(since time.Duration) {
	now := uint32(since/time.Second) + 1
	for {
		old := c.seconds.Load()
		if now <= old || c.seconds.CompareAndSwap(old, now) {
			return
		}
	}
}

func (c *clock) run(start time.Time) {
	defer close(c.done)
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case <-c.quit:
			return
		case <-ticker.C:
			c.advance(time.Since(start))
		}
	}
}

func (c *clock) stop() {
	if c.quit != nil {
		close(c.quit)
		<-c.done
	}
}
