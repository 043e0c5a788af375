package poll

import (
	"sync"
	"sync/atomic"
	"time"
)

// watchdog relieves workers whose turn takes too long. It looks every few milliseconds,
// and sleeps while there are no turns.
type watchdog struct {
	asleep atomic.Bool
	kick   chan struct{} // wakes it
}

// wake is called in the beginning of every turn.
func (d *watchdog) wake() {
	if d.asleep.Load() && d.asleep.CompareAndSwap(true, false) {
		d.kick <- struct{}{} // there is room: it was asleep, and one wakes it
	}
}

// watch is the goroutine of the watchdog.
func (p *Poller) watch() {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	seen := make([]int64, len(p.workers)) // the turn of each worker at the last look
	before := int64(-1)                   // all turns at the last look
	for {
		select {
		case <-timer.C:
		case <-p.quit:
			return
		}
		turns := p.counts.Turns.Load()
		for i, w := range p.workers {
			turn := w.number.Load()
			if turn != 0 && turn == seen[i] {
				p.relieve(w)
			}
			seen[i] = turn
		}
		if turns == before && p.quiet() && !p.sleep() {
			return
		}
		before = turns
		timer.Reset(patience)
	}
}

// quiet reports whether no worker has a turn.
func (p *Poller) quiet() bool {
	for _, w := range p.workers {
		if w.number.Load() != 0 {
			return false
		}
	}
	return true
}

// relieve lets others serve what this worker has not come to, and lead in its place.
func (p *Poller) relieve(w *worker) {
	spilled := p.spilled.add(&w.list)
	if w.resign() || spilled {
		p.counts.Late.Add(1)
	}
	if spilled {
		p.ring(p.bell)
	}
}

// spilled are connections that were taken from a worker whose turn takes too long.
// Whoever hears the bell that is rung after it has them.
type spilled struct {
	mu    sync.Mutex
	conns []*Conn
}

// add takes what is left of a turn, and reports whether that was anything.
func (s *spilled) add(from *list) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.conns)
	s.conns = from.take(s.conns)
	return len(s.conns) > before
}

// take appends all to dst.
func (s *spilled) take(dst []*Conn) []*Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	dst = append(dst, s.conns...)
	s.conns = nil
	return dst
}

// sleep waits for the next turn; false when the Poller closes.
func (p *Poller) sleep() bool {
	d := &p.watchdog
	d.asleep.Store(true)
	if !p.quiet() && d.asleep.CompareAndSwap(true, false) {
		return true // a turn began before it could see that nobody watches
	}
	select {
	case <-d.kick:
		return true
	case <-p.quit:
		return false
	}
}
