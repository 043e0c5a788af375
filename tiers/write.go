package tiers

import "slices"

// Apply writes a batch through: the store takes it as a whole, then memory
// follows. When Apply has returned, every reader sees the batch. A durable
// batch's ticket must be waited for; see Ticket.Wait. After an error from the
// store memory holds no row of the batch.
func (s *Stack) Apply(b *Batch, durable bool) (Ticket, error) {
	w := s.writes.Get().(*write)
	w.begin(s, b)
	defer w.end(s)
	ticket, err := s.store.Apply(b, durable)
	if s.memory != nil {
		w.updateMemory(s, b, err != nil)
	}
	return ticket, err
}

// write is one batch on its way through a stack.
type write struct {
	stripes []uint32 // of the batch's point ops, sorted, each once
	// states holds, for each stripe, the state it must have to be held; once
	// updateMemory ran, the state it is held in. notAlone: not held.
	states []uint64
	held   bool // states are those of held stripes
	// ranged: the batch has a range delete that concerns memory.
	ranged bool
	ranges uint64 // the range counter after begin
	memory Batch  // what memory gets if it may not get the batch itself
}

// begin marks all stripes of the batch, so that Observe and promotions notice.
func (w *write) begin(s *Stack, b *Batch) {
	for i := range b.Ops {
		op := &b.Ops[i]
		switch {
		case op.Below:
		case op.Kind == DeleteRange:
			w.ranged = true
		default:
			w.stripes = append(w.stripes, s.stripeOf(op.Key))
		}
	}
	if len(w.stripes) > 1 {
		slices.Sort(w.stripes)
		w.stripes = slices.Compact(w.stripes)
	}
	for _, stripe := range w.stripes {
		w.states = append(w.states, s.stripes.begin(stripe))
	}
	if w.ranged {
		s.stripes.beginRanges()
	}
	w.ranges = s.stripes.ranges.Load()
}

// end counts the writer out of its stripes and gives w back.
func (w *write) end(s *Stack) {
	if w.ranged {
		s.stripes.endRanges()
	}
	for i, stripe := range w.stripes {
		if w.held && w.states[i] != notAlone {
			s.stripes.endHeld(stripe, w.states[i])
		} else {
			s.stripes.end(stripe)
		}
	}
	w.stripes, w.states = w.stripes[:0], w.states[:0]
	w.held, w.ranged = false, false
	s.writes.Put(w)
}

// updateMemory makes memory follow the store. Rows of stripes that had another
// writer are dropped instead of set: which of the two the store took last is
// not known here. The same goes for all rows if a range delete came between or
// if the store failed.
func (w *write) updateMemory(s *Stack, b *Batch, failed bool) {
	alone := w.holdAll(s)
	ranges := !w.onlyRange(s)
	if alone && !ranges && !failed {
		// An error means that memory is closed and answers no reads either.
		_, _ = s.memory.Apply(b, false)
		return
	}
	for i := range b.Ops {
		op := b.Ops[i]
		if op.Below {
			continue
		}
		if op.Kind == Set && (failed || ranges || !w.holds(s.stripeOf(op.Key))) {
			op.Kind, op.Value = Delete, nil
			s.contended.Add(1)
		}
		w.memory.add(op)
	}
	_, _ = s.memory.Apply(&w.memory, false)
	w.memory.Reset()
}

// holdAll holds every stripe whose only writer this is, and reports whether
// those are all.
func (w *write) holdAll(s *Stack) bool {
	all := true
	for i, stripe := range w.stripes {
		if w.states[i] == notAlone || !s.stripes.hold(stripe, w.states[i]) {
			w.states[i] = notAlone
			all = false
		}
	}
	w.held = true
	return all
}

func (w *write) holds(stripe uint32) bool {
	i, found := slices.BinarySearch(w.stripes, stripe)
	return found && w.states[i] != notAlone
}

// onlyRange reports whether no range delete but the batch's own was under way
// since begin. It is asked while the stripes are held: a range delete that
// begins later waits for them.
func (w *write) onlyRange(s *Stack) bool {
	var own uint64
	if w.ranged {
		own = writerUnit
	}
	return w.ranges&writerMask == own && s.stripes.ranges.Load() == w.ranges
}
