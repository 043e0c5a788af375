package tiers

import (
	"runtime"
	"sync/atomic"
)

// StripeCount is the number of stripes of a stack. Config.Stripe's result is
// taken modulo it.
const StripeCount = 1 << 16

// One stripe is one word:
//
//	bit 0       held: someone is changing memory for rows of this stripe
//	bits 1–23   writers in flight: between begin and end
//	bits 24–63  finished writes, wrapping
//
// Who may do what:
//   - a writer begins (adds one in flight) only while the stripe isn't held;
//   - a promotion holds the stripe only if no writer is in flight and nothing
//     was finished since the promoter looked;
//   - a writer holds the stripe only if it is the one writer in flight and was
//     so all the time; it ends by releasing the hold together with its count.
//
// A holder never waits for anything, so waiting for a holder is always short.
const (
	heldBit      = 1
	writerUnit   = 1 << 1
	writerMask   = 1<<24 - 2
	finishedUnit = 1 << 24
)

// stripes are the change counters of a stack's rows, and a counter of the same
// shape for range deletes, which touch every stripe at once.
type stripes struct {
	words  [StripeCount]atomic.Uint64
	ranges atomic.Uint64
}

// quiet is the state of a stripe without the hold, and whether no writer is in
// flight.
func (s *stripes) quiet(stripe uint32) (uint64, bool) {
	w := s.words[stripe].Load() &^ heldBit
	return w, w&writerMask == 0
}

// notAlone stands for the state of a stripe whose writer has company. It is no
// state of a stripe: a writer is in flight in all that begin returns.
const notAlone = 0

// begin counts a writer in. It returns the state the stripe will have while
// this writer stays the only one, or notAlone if it already isn't.
func (s *stripes) begin(stripe uint32) (alone uint64) {
	word := &s.words[stripe]
	for {
		old := word.Load()
		if old&heldBit != 0 {
			runtime.Gosched()
			continue
		}
		if word.CompareAndSwap(old, old+writerUnit) {
			if old&writerMask != 0 {
				return notAlone
			}
			return old + writerUnit
		}
	}
}

// hold tries to hold a stripe that is in the given state.
func (s *stripes) hold(stripe uint32, state uint64) bool {
	return s.words[stripe].CompareAndSwap(state, state|heldBit)
}

// release ends the hold of a promotion.
func (s *stripes) release(stripe uint32, state uint64) { s.words[stripe].Store(state) }

// end counts a writer out that doesn't hold the stripe.
func (s *stripes) end(stripe uint32) { s.words[stripe].Add(finishedUnit - writerUnit) }

// endHeld counts a writer out that holds the stripe since state.
func (s *stripes) endHeld(stripe uint32, state uint64) {
	s.words[stripe].Store(state - writerUnit + finishedUnit)
}

// beginRanges counts a range delete in and waits until no stripe is held that
// was held before, so that every holder from now on sees the count.
func (s *stripes) beginRanges() {
	s.ranges.Add(writerUnit)
	for i := range s.words {
		for s.words[i].Load()&heldBit != 0 {
			runtime.Gosched()
		}
	}
}

func (s *stripes) endRanges() { s.ranges.Add(finishedUnit - writerUnit) }
