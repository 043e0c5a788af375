package tiers

import (
	"errors"
	"sync"
	"sync/atomic"
)

// Config says what a Stack is made of.
type Config struct {
	// Memory holds copies of hot rows. Nil: every read goes to the store.
	Memory Tier
	// Store keeps everything. The stack owns both and closes them.
	Store Store
	// Stripe says which rows change together: all rows of one Redis key must
	// give the same number, and rows of different keys should rarely do. It is
	// called for every written row and every read that misses memory.
	Stripe func(rowKey []byte) uint32
}

// Validate reports what is missing.
func (c *Config) Validate() error {
	if c.Store == nil {
		return errors.New("tiers: a stack needs a store")
	}
	if c.Stripe == nil {
		return errors.New("tiers: a stack needs a stripe function")
	}
	return nil
}

// Stack is a memory tier over a store. See the package comment for its rules.
type Stack struct {
	memory  Tier // nil if there is none
	store   Store
	stripe  func([]byte) uint32
	stripes *stripes

	reads  sync.Pool // *read
	writes sync.Pool // *write

	promotions atomic.Int64
	contended  atomic.Int64
}

// StackStats are the figures of a stack and of its tiers.
type StackStats struct {
	Memory, Store Stats
	// Promotions counts copies made up into memory after a read below.
	Promotions int64
	// Contended counts rows that were not put or left in memory because
	// another write to their stripe was under way.
	Contended int64
}

// New returns a stack over the tiers of c, which belong to it from now on.
func New(c Config) (*Stack, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	s := &Stack{memory: c.Memory, store: c.Store, stripe: c.Stripe, stripes: new(stripes)}
	s.reads.New = func() any { return newRead(s) }
	s.writes.New = func() any { return new(write) }
	return s, nil
}

func (s *Stack) stripeOf(key []byte) uint32 { return s.stripe(key) % StripeCount }

// Token remembers the state in which Observe found a stripe.
type Token struct {
	stripe        uint32
	state, ranges uint64
}

// Observe begins a lock-free read of several rows of one stripe. It returns
// false while a write to the stripe is in flight: the caller tries again, or
// waits for the lock that orders writes. Otherwise the rows read until
// Unchanged returns true are those of one moment.
func (s *Stack) Observe(stripe uint32) (Token, bool) {
	stripe %= StripeCount
	ranges := s.stripes.ranges.Load()
	state, quiet := s.stripes.quiet(stripe)
	return Token{stripe, state, ranges}, quiet && ranges&writerMask == 0
}

// Unchanged reports whether no write to the token's stripe began since Observe
// returned it.
func (s *Stack) Unchanged(t Token) bool {
	state, _ := s.stripes.quiet(t.stripe)
	return state == t.state && s.stripes.ranges.Load() == t.ranges
}

// NewIter walks over the store; see Store.NewIter. Memory has nothing that the
// store hasn't.
func (s *Stack) NewIter(lower, upper []byte) (Iter, error) { return s.store.NewIter(lower, upper) }

// Sync is the store's durability barrier.
func (s *Stack) Sync() error { return s.store.Sync() }

// Room asks the store whether n bytes of growth fit.
func (s *Stack) Room(n int) error { return s.store.Room(n) }

// Stalled reports whether writers have to wait for the store now.
func (s *Stack) Stalled() bool { return s.store.Stalled() }

// Stats returns the figures of all tiers.
func (s *Stack) Stats() StackStats {
	st := StackStats{
		Store:      s.store.Stats(),
		Promotions: s.promotions.Load(),
		Contended:  s.contended.Load(),
	}
	if s.memory != nil {
		st.Memory = s.memory.Stats()
	}
	return st
}

// Close closes memory and then the store, which fsyncs what it has.
func (s *Stack) Close() error {
	var err error
	if s.memory != nil {
		err = s.memory.Close()
	}
	return errors.Join(err, s.store.Close())
}
