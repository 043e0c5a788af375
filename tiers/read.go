package tiers

// Get calls fn with a view of the row's value, from memory or else from the
// store, and reports whether the row exists. A row found below is promoted,
// unless a write to its stripe came between. The rules for fn are Tier.Get's.
func (s *Stack) Get(key []byte, fn func(value []byte)) (bool, error) {
	if s.memory == nil {
		return s.store.Get(key, fn)
	}
	found, err := s.memory.Get(key, fn)
	if found || err != nil {
		return found, err
	}
	r := s.reads.Get().(*read)
	found, err = r.below(key, fn)
	s.reads.Put(r)
	return found, err
}

// GetMemory is Get for readers that must not wait for the store: a row that is not
// in memory is not found.
func (s *Stack) GetMemory(key []byte, fn func(value []byte)) (bool, error) {
	if s.memory == nil {
		return false, nil
	}
	return s.memory.Get(key, fn)
}

// GetBelow reads a row from the store and leaves memory alone. It is for rows
// written Below, and for large scans that would only push hot rows out.
func (s *Stack) GetBelow(key []byte, fn func(value []byte)) (bool, error) {
	return s.store.Get(key, fn)
}

// read is one read that missed memory. It is pooled together with its callback
// so that a miss allocates nothing here.
type read struct {
	stack *Stack
	key   []byte
	fn    func([]byte)
	view  func([]byte) // r.viewed, bound once

	seen    Token
	promote bool
	copyUp  Batch
}

func newRead(s *Stack) *read {
	r := &read{stack: s}
	r.view = r.viewed
	return r
}

func (r *read) below(key []byte, fn func([]byte)) (bool, error) {
	defer r.forget()
	r.key, r.fn = key, fn
	// The look at the stripe must come before the look at the store.
	r.seen, r.promote = r.stack.Observe(r.stack.stripeOf(key))
	return r.stack.store.Get(key, r.view)
}

func (r *read) forget() { r.key, r.fn = nil, nil }

func (r *read) viewed(value []byte) {
	r.fn(value)
	if r.promote {
		r.promoteRow(value)
	}
}

// promoteRow copies the row up if the stripe is as it was before the store was
// read. The hold keeps writers of the stripe out until the copy is made; the
// second look at the range counter pairs with beginRanges, which raises it and
// then waits for every hold.
func (r *read) promoteRow(value []byte) {
	s := r.stack
	if !s.stripes.hold(r.seen.stripe, r.seen.state) {
		// A neighbour's promotion or a write: either way the next reader may
		// do better.
		return
	}
	defer s.stripes.release(r.seen.stripe, r.seen.state)
	if s.stripes.ranges.Load() != r.seen.ranges {
		return
	}
	r.copyUp.Set(r.key, value)
	if _, err := s.memory.Apply(&r.copyUp, false); err == nil {
		s.promotions.Add(1)
	}
	r.copyUp.Reset()
}
