package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// The pauses between two attempts to accept after a failure.
const (
	minAcceptPause = 5 * time.Millisecond
	maxAcceptPause = time.Second
)

// refusal is what a connection over the limit gets.
const refusal = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"

// refusalTimeout bounds the sending of it.
const refusalTimeout = time.Second

// front accepts connections, waits for their first byte and gives them to the
// HTTP server or to RESP. Each connection has a goroutine of its own until then,
// so one that says nothing holds up nobody.
type front struct {
	limits Limits
	resp   func(net.Conn) // nil: everything is HTTP
	log    *slog.Logger
	queue  *queue

	// running counts the goroutines of the front and the connections that the
	// HTTP server has.
	running sync.WaitGroup

	mu        sync.Mutex
	stopped   bool
	listeners map[net.Listener]struct{}
	undecided waiting
	handed    map[net.Conn]struct{} // to RESP, which has not returned yet

	httpOpen  atomic.Int64
	refused   atomic.Int64 // connections over a limit
	silent    atomic.Int64 // connections closed because they said nothing
	respTotal atomic.Int64
}

func newFront(l Limits, resp func(net.Conn), log *slog.Logger) *front {
	return &front{
		limits:    l,
		resp:      resp,
		log:       log,
		queue:     newQueue(),
		listeners: map[net.Listener]struct{}{},
		undecided: newWaiting(),
		handed:    map[net.Conn]struct{}{},
	}
}

// accept gives each connection of ln to take, in a goroutine, until stop.
func (f *front) accept(ln net.Listener, take func(net.Conn)) error {
	if !f.addListener(ln) {
		ln.Close()
		return nil
	}
	defer f.removeListener(ln)
	pause := time.Duration(0)
	for {
		c, err := ln.Accept()
		switch {
		case err == nil:
			pause = 0
			f.spawn(c, take)
		case f.isStopped():
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("admin: accept: %w", err)
		default:
			// Usually no file descriptor is left; one will be.
			pause = min(max(2*pause, minAcceptPause), maxAcceptPause)
			f.log.Warn("accept failed", "err", err, "pause", pause)
			f.queue.sleep(pause)
		}
	}
}

// spawn runs take for c unless the front has stopped.
func (f *front) spawn(c net.Conn, take func(net.Conn)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		c.Close()
		return
	}
	f.running.Go(func() { take(c) })
}

// decide waits for the first byte of c, and gives c away.
func (f *front) decide(c net.Conn) {
	entry := f.await(c)
	first, c, err := firstByte(c, f.limits.FirstByteTimeout)
	f.settle(entry)
	switch {
	case err != nil:
		f.silent.Add(1)
		c.Close()
	case first == '*' && f.resp != nil:
		f.handOver(c)
	default:
		f.deliver(c)
	}
}

// await notes that c has said nothing yet. Where too many have not, the one that
// has waited longest makes room: a newcomer is likelier to speak.
func (f *front) await(c net.Conn) *waiter {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := f.undecided.add(c)
	if f.undecided.len() > f.limits.Undecided {
		f.refused.Add(1)
		f.undecided.oldest().Close()
	}
	if f.stopped {
		c.Close()
	}
	return w
}

func (f *front) settle(w *waiter) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.undecided.remove(w)
}

// handOver runs RESP on c.
func (f *front) handOver(c net.Conn) {
	if !f.addHanded(c) {
		c.Close()
		return
	}
	defer f.removeHanded(c)
	defer func() {
		if p := recover(); p != nil {
			f.log.Error("panic in a RESP connection", "panic", p, "stack", string(debug.Stack()))
			c.Close()
		}
	}()
	f.respTotal.Add(1)
	f.resp(c)
}

// deliver gives c to the HTTP server.
func (f *front) deliver(c net.Conn) {
	if f.httpOpen.Add(1) > int64(f.limits.Connections) {
		f.httpOpen.Add(-1)
		f.refused.Add(1)
		refuse(c)
		return
	}
	f.running.Add(1)
	if !f.queue.put(c) {
		f.endHTTP()
		c.Close()
	}
}

// refuse answers that there is no room. What is there of the request is read
// first: closing over it would throw the answer away.
func refuse(c net.Conn) {
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(refusalTimeout))
	if _, err := c.Read(make([]byte, 4096)); err == nil {
		_, _ = c.Write([]byte(refusal))
	}
}

// deliverOwner gives c to the HTTP server as a connection of the owner.
func (f *front) deliverOwner(c net.Conn) { f.deliver(ownerConn{c}) }

// connState counts the connections that the HTTP server has ended with.
func (f *front) connState(_ net.Conn, state http.ConnState) {
	if state == http.StateClosed || state == http.StateHijacked {
		f.endHTTP()
	}
}

func (f *front) endHTTP() {
	f.httpOpen.Add(-1)
	f.running.Done()
}

// stop ends accepting, and closes what has said nothing yet.
func (f *front) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopped = true
	for ln := range f.listeners {
		ln.Close()
	}
	f.undecided.each(func(c net.Conn) { c.Close() })
	f.queue.Close()
}

// wait returns when nothing is running any more. When ctx is done it
// closes the connections that RESP still has, and returns the error of ctx.
func (f *front) wait(ctx context.Context) error {
	idle := make(chan struct{})
	go func() {
		f.running.Wait()
		close(idle)
	}()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
	}
	f.closeHanded()
	<-idle
	return ctx.Err()
}

func (f *front) closeHanded() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.handed {
		c.Close()
	}
}

func (f *front) addHanded(c net.Conn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.stopped {
		f.handed[c] = struct{}{}
	}
	return !f.stopped
}

func (f *front) removeHanded(c net.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.handed, c)
}

func (f *front) addListener(ln net.Listener) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.stopped {
		f.listeners[ln] = struct{}{}
	}
	return !f.stopped
}

// removeListener closes ln and forgets it.
func (f *front) removeListener(ln net.Listener) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ln.Close()
	delete(f.listeners, ln)
}

func (f *front) isStopped() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stopped
}

// undecidedLen is how many connections have said nothing yet.
func (f *front) undecidedLen() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.undecided.len()
}
