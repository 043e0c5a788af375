package poll

import (
	"runtime"
	"sync"
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
	ready   []*Conn      // of the next turn
	list    list         // of the turn under way
	share   int          // how many connections to ask for
	number  atomic.Int64 // of the turn under way, or 0
	leading atomic.Bool
	turns   int
}

// list are the connections of a turn, and those that come again after it. The watchdog
// may take all that the worker has not come to.
type list struct {
	mu    sync.Mutex
	conns []*Conn
	next  int
	again []*Conn
}

// start makes conns those of the turn.
func (l *list) start(conns []*Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns, l.next = conns, 0
}

// finish ends the turn, and returns the connections that come again.
func (l *list) finish() []*Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	again := l.again
	l.conns, l.next, l.again = nil, 0, l.conns[:0]
	return again
}

func (l *list) pop() *Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next == len(l.conns) {
		return nil
	}
	c := l.conns[l.next]
	l.conns[l.next] = nil
	l.next++
	return c
}

func (l *list) push(c *Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.again = append(l.again, c)
}

// take appends all that is left to dst.
func (l *list) take(dst []*Conn) []*Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	dst = append(append(dst, l.conns[l.next:]...), l.again...)
	clear(l.conns[l.next:])
	clear(l.again)
	l.next, l.again = len(l.conns), l.again[:0]
	return dst
}

// Turn is one call of Serve. It is used by the worker that called.
type Turn struct {
	worker *worker
	// Len is how many connections the turn has brought.
	Len int
	// Yield asks the worker to let other goroutines run after this turn, because
	// it has given them something to do.
	Yield bool
	// Work is how much there was to do in this turn, say requests. Where connections
	// bring much each, workers take fewer of them at once, and share them better.
	Work int
}

// Next returns the next connection of the turn, which the caller owns from now on, or
// nil when there is no other.
func (t *Turn) Next() *Conn { return t.worker.list.pop() }

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
	if !c.Release() {
		t.worker.list.push(c)
	}
}

// Again has a connection served in the worker's next turn although its socket may
// have nothing more to read.
func (t *Turn) Again(c *Conn) { t.worker.list.push(c) }

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
		w.leading.Store(true)
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
		w.leading.Store(true)
		return true
	default:
		return false
	}
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
		switch event.Fd {
		case stopKey:
			return false
		case bellKey:
			w.ready = w.poller.spilled.take(w.ready)
			continue
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
	n := len(w.ready)
	if n == 0 {
		return
	}
	w.list.start(w.ready)
	p := w.poller
	number := p.counts.Turns.Add(1)
	p.counts.Ready.Add(int64(n))
	w.turn.Len, w.turn.Yield, w.turn.Work = n, false, 0
	w.number.Store(number)
	p.watchdog.wake()
	p.config.Serve(&w.turn)
	w.number.Store(0)
	w.ready = w.list.finish()
	w.share = turnConns
	if w.turn.Work > 0 {
		w.share = max(turnConnsMin, min(turnConns, turnWork*n/w.turn.Work))
	}
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
