package poll

import (
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// turnConns is the most connections of one turn.
	turnConns = 128
	// patience is how long a turn of the leader may take before another worker
	// leads.
	patience = 2 * time.Millisecond
	// turnWork is about how much work a turn should bring, in the unit of Turn.Work.
	// turnConnsMin connections it may bring always.
	turnWork     = 64
	turnConnsMin = 4
	// yieldEvery is after how many turns a worker lets other goroutines run.
	yieldEvery = 16
)

// worker looks for connections that have something to read, while it leads, and
// serves them.
type worker struct {
	poller  *Poller
	turn    Turn
	events  [turnConns]unix.EpollEvent
	ready   []*Conn // of the next turn
	served  []*Conn // of the turn under way, or the last one
	share   int     // how many connections to ask for
	leading atomic.Bool
	turns   int
}

// Turn is one call of Serve. It is used by the worker that called.
type Turn struct {
	worker *worker
	// Yield asks the worker to let other goroutines run after this turn, because
	// it has given them something to do.
	Yield bool
	// Work is how much there was to do in this turn, say requests. Where connections
	// bring much each, workers take fewer of them at once, and share them better.
	Work int
}

// Delegate lets another worker look after the sockets while this turn goes on. It
// is for turns with much to do.
func (t *Turn) Delegate() {
	if t.worker.resign() {
		t.worker.poller.counts.Delegated.Add(1)
	}
}

// Release is Conn.Release for a worker: a connection that has more to read comes
// in the worker's next turn.
func (t *Turn) Release(c *Conn) {
	if !c.release() {
		t.worker.ready = append(t.worker.ready, c)
	}
}

// Again has a connection served in the worker's next turn although its socket may
// have nothing more to read.
func (t *Turn) Again(c *Conn) { t.worker.ready = append(t.worker.ready, c) }

func newWorker(p *Poller) *worker {
	w := &worker{poller: p, share: turnConns}
	w.turn.worker = w
	return w
}

// run takes turns until the Poller is closed.
func (w *worker) run() {
	for w.lead() {
		for w.more() {
			if w.leading.Load() && !w.find() {
				return
			}
			w.serve()
		}
	}
}

// more reports whether the worker goes on: if it leads, or has connections left, or
// found others although it does not lead. That is only tried after a turn with much to
// do: when there is enough for several workers, none should wait to be woken, and when
// there is not, one of them finds more at once.
func (w *worker) more() bool {
	if w.leading.Load() || w.takeLead() || len(w.ready) > 0 {
		return true
	}
	return w.share <= turnConns/8 && w.claim(w.poll()) && len(w.ready) > 0
}

// lead waits for the leadership; false when the Poller closes.
func (w *worker) lead() bool {
	select {
	case <-w.poller.token:
		w.leads()
		return true
	case <-w.poller.quit:
		return false
	}
}

// takeLead takes the leadership if nobody has it: a worker whose own connections
// always have more must not be one that the others wait for.
func (w *worker) takeLead() bool {
	select {
	case <-w.poller.token:
		w.leads()
		return true
	default:
		return false
	}
}

func (w *worker) leads() {
	w.poller.leader.Store(w)
	w.leading.Store(true)
}

// resign gives the leadership to another worker, if this one has it.
func (w *worker) resign() bool {
	if !w.leading.CompareAndSwap(true, false) {
		return false
	}
	w.poller.token <- struct{}{} // there is one token, and this worker had it
	return true
}

// find collects the connections of the next turn. It waits if there are none; false
// when the Poller closes.
func (w *worker) find() bool {
	if n := w.poll(); n > 0 || len(w.ready) > 0 {
		return w.claim(n)
	}
	// Goroutines that were given something to do since may be waiting for this
	// processor, which the wait below would keep for a while.
	runtime.Gosched()
	if n := w.poll(); n > 0 {
		return w.claim(n)
	}
	return w.claim(w.wait())
}

// claim takes what the first n events tell.
func (w *worker) claim(n int) bool {
	for i := range n {
		event := &w.events[i]
		if event.Fd == stopKey {
			return false
		}
		c := w.poller.conns.find(int(event.Fd), uint32(event.Pad))
		if c != nil && c.happened(event.Events) {
			w.ready = append(w.ready, c)
		}
	}
	return true
}

// serve has one turn.
func (w *worker) serve() {
	if len(w.ready) == 0 {
		return
	}
	w.served, w.ready = w.ready, w.served[:0]
	p := w.poller
	number := p.counts.Turns.Add(1)
	p.counts.Ready.Add(int64(len(w.served)))
	w.turn.Yield, w.turn.Work = false, 0
	if w.leading.Load() {
		p.watchdog.begin(number)
		p.config.Serve(&w.turn, w.served)
		p.watchdog.end(number)
	} else {
		p.config.Serve(&w.turn, w.served)
	}
	w.share = turnConns
	if w.turn.Work > 0 {
		w.share = max(turnConnsMin, min(turnConns, turnWork*len(w.served)/w.turn.Work))
	}
	clear(w.served)
	if w.turns++; w.turn.Yield || w.turns%yieldEvery == 0 {
		runtime.Gosched()
	}
}

// poll asks for events without waiting. The call is so short that the runtime need
// not know of it.
func (w *worker) poll() int {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(w.poller.epoll),
		uintptr(unsafe.Pointer(&w.events[0])), uintptr(w.share), 0, 0, 0)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// wait waits for an event.
func (w *worker) wait() int {
	n, err := unix.EpollWait(w.poller.epoll, w.events[:w.share], -1)
	if err != nil {
		return 0 // a signal; run comes again
	}
	return n
}
