package poll

import (
	"os"
	"sync/atomic"
	"time"
)

// waiter lets one goroutine wait until a socket can be read or written.
type waiter struct {
	// deadline is in nanoseconds since started, 0 for none.
	deadline atomic.Int64
	// signal is made by the first wait: most connections never need it.
	signal atomic.Pointer[chan struct{}]
}

// started is what deadlines count from: the wall clock may be set.
var started = time.Now()

func (w *waiter) setDeadline(t time.Time) {
	at := int64(0)
	if !t.IsZero() {
		if at = int64(t.Sub(started)); at == 0 {
			at = -1
		}
	}
	w.deadline.Store(at)
	w.wake()
}

// late reports whether the deadline has passed.
func (w *waiter) late() bool {
	at := w.deadline.Load()
	return at != 0 && at <= int64(time.Since(started))
}

// wake makes the waiting goroutine try again.
func (w *waiter) wake() {
	signal := w.signal.Load()
	if signal == nil {
		return
	}
	select {
	case *signal <- struct{}{}:
	default: // it was told and has not looked yet
	}
}

// arm must come before the attempt that decides whether to wait: what happens
// after it is not missed.
func (w *waiter) arm() {
	if w.signal.Load() == nil {
		signal := make(chan struct{}, 1)
		w.signal.CompareAndSwap(nil, &signal)
	}
}

// wait returns when something has happened since the last wait, or with
// os.ErrDeadlineExceeded.
func (w *waiter) wait() error {
	signal := *w.signal.Load()
	at := w.deadline.Load()
	if at == 0 {
		<-signal
		return nil
	}
	timer := time.NewTimer(time.Duration(at) - time.Since(started))
	defer timer.Stop()
	select {
	case <-signal:
		return nil
	case <-timer.C:
		if w.deadline.Load() != at {
			return nil
		}
		return os.ErrDeadlineExceeded
	}
}
