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

// relieve lets another worker lead in place of this one, and serve what it has not come
// to. The connections must be there before the leadership is: nobody but a new leader
// looks for them, and one that waits for its sockets would not.
func (p *Poller) relieve(w *worker) {
	if !w.leading.CompareAndSwap(true, false) {
		return
	}
	p.spilled.add(&w.list)
	p.counts.Late.Add(1)
	p.token <- struct{}{}
}

// spilled are connections that were taken from a worker whose turn takes too long. The
// next leader has them.
type spilled struct {
	any   atomic.Bool
	mu    sync.Mutex
	conns []*Conn
}

func (s *spilled) add(from *list) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns = from.take(s.conns)
	s.any.Store(len(s.conns) > 0)
}

// take appends all to dst.
func (s *spilled) take(dst []*Conn) []*Conn {
	if !s.any.Load() {
		return dst
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	dst = append(dst, s.conns...)
	s.conns = nil
	s.any.Store(false)
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
