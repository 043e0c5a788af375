package server_test

import (
	"sync/atomic"

	"github.com/tiergrid/tiergrid/tiers"
)

// faulty is a store whose calls fail or wait as a test says.
type faulty struct {
	tiers.Store
	get, apply, iter atomic.Pointer[fault]
	stalled          atomic.Bool // what Stalled says

	// beforeIter and beforeGet, if they are there, are called once, before an
	// iterator is made and before a row is read.
	beforeIter, beforeGet atomic.Pointer[func()]

	// held, if it is there, holds back every fsync of a durable batch.
	held atomic.Pointer[hold]
}

// hold holds fsyncs back until free is closed; applied is told of each batch whose
// fsync is waited for: it was applied, counted, and its locks are released.
type hold struct{ applied, free chan struct{} }

// hold holds all fsyncs back from now on.
func (s *faulty) hold() (applied chan struct{}) {
	h := &hold{make(chan struct{}, 1000), make(chan struct{})}
	s.held.Store(h)
	return h.applied
}

// let lets them through again.
func (s *faulty) let() { close(s.held.Swap(nil).free) }

// fault is what a call does in place of its work.
type fault struct {
	err   error
	panic bool
	skip  atomic.Int32 // how many calls pass before
}

func (f *fault) strike() error {
	if f == nil || f.skip.Add(-1) >= 0 {
		return nil
	}
	if f.panic {
		panic("a panic of the test")
	}
	return f.err
}

// wrap is for options.
func (s *faulty) wrap(store tiers.Store) tiers.Store {
	s.Store = store
	return s
}

func (s *faulty) Get(key []byte, fn func([]byte)) (bool, error) {
	if err := s.get.Load().strike(); err != nil {
		return false, err
	}
	if f := s.beforeGet.Swap(nil); f != nil {
		(*f)()
	}
	return s.Store.Get(key, fn)
}

func (s *faulty) Apply(b *tiers.Batch, durable bool) (tiers.Ticket, error) {
	if err := s.apply.Load().strike(); err != nil {
		return tiers.Ticket{}, err
	}
	ticket, err := s.Store.Apply(b, durable)
	h := s.held.Load()
	if err != nil || !durable || h == nil {
		return ticket, err
	}
	return tiers.NewTicket(&heldTicket{h, ticket}), nil
}

func (s *faulty) Stalled() bool { return s.stalled.Load() || s.Store.Stalled() }

func (s *faulty) NewIter(lower, upper []byte) (tiers.Iter, error) {
	if err := s.iter.Load().strike(); err != nil {
		return nil, err
	}
	if f := s.beforeIter.Swap(nil); f != nil {
		(*f)()
	}
	return s.Store.NewIter(lower, upper)
}

// heldTicket waits until fsyncs are let through.
type heldTicket struct {
	hold   *hold
	ticket tiers.Ticket
}

func (t *heldTicket) Wait() error {
	t.hold.applied <- struct{}{}
	<-t.hold.free
	return t.ticket.Wait()
}
