package poll

import (
	"sync/atomic"
	"time"
)

// watchdog takes the leadership from a worker whose turn takes too long. It looks
// every few milliseconds, and sleeps while there are no turns.
type watchdog struct {
	turn   atomic.Int64 // the number of the leader's turn under way, or 0
	asleep atomic.Bool
	kick   chan struct{} // wakes it
}

// begin is called by the leader before a turn, with a number that no other turn has.
func (d *watchdog) begin(turn int64) {
	d.turn.Store(turn)
	if d.asleep.Load() && d.asleep.CompareAndSwap(true, false) {
		d.kick <- struct{}{} // there is room: it was asleep, and one wakes it
	}
}

// end is called after the turn. By then the worker may no longer lead.
func (d *watchdog) end(turn int64) { d.turn.CompareAndSwap(turn, 0) }

// watch is the goroutine of the watchdog.
func (p *Poller) watch() {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	var turn, turns int64
	for {
		select {
		case <-timer.C:
		case <-p.quit:
			return
		}
		before, beforeTurns := turn, turns
		turn, turns = p.watchdog.turn.Load(), p.counts.Turns.Load()
		switch {
		case turn != 0 && turn == before:
			if p.leader.Load().resign() {
				p.counts.Late.Add(1)
			}
		case turn == 0 && turns == beforeTurns:
			if !p.sleep() {
				return
			}
		}
		timer.Reset(patience)
	}
}

// sleep waits for the next turn; false when the Poller closes.
func (p *Poller) sleep() bool {
	d := &p.watchdog
	d.asleep.Store(true)
	if d.turn.Load() != 0 && d.asleep.CompareAndSwap(true, false) {
		return true // it began before it could see that nobody watches
	}
	select {
	case <-d.kick:
		return true
	case <-p.quit:
		return false
	}
}
