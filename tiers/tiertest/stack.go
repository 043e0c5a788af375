package tiertest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/tiergrid/tiergrid/tiers"
)

// StackOptions say how stacks are built for RunStack.
type StackOptions struct {
	// OpenMemory returns a new memory tier; nil for a stack without one.
	OpenMemory func(t testing.TB) tiers.Tier
	// OpenStore returns a new store.
	OpenStore func(t testing.TB) tiers.Store
}

// Hooked is a store that calls back at the two moments where a stack's rules
// are at stake. The hooks run in the goroutine of the call and may call the
// stack themselves, which forces an interleaving without any timing.
type Hooked struct {
	tiers.Store
	// Read is called when a row was read and before it is handed up.
	Read func(key []byte)
	// Applied is called when a batch was applied and before Apply returns.
	Applied func(b *tiers.Batch)
}

// Get implements tiers.Tier.
func (h *Hooked) Get(key []byte, fn func([]byte)) (bool, error) {
	return h.Store.Get(key, func(value []byte) {
		if hook := h.Read; hook != nil {
			h.Read = nil
			hook(key)
		}
		fn(value)
	})
}

// Apply implements tiers.Tier.
func (h *Hooked) Apply(b *tiers.Batch, durable bool) (tiers.Ticket, error) {
	ticket, err := h.Store.Apply(b, durable)
	if hook := h.Applied; hook != nil {
		h.Applied = nil
		hook(b)
	}
	return ticket, err
}

// RowStripe is the stripe function of the suite's stacks: rows that agree in
// their first 4 bytes change together.
func RowStripe(rowKey []byte) uint32 {
	var head [4]byte
	copy(head[:], rowKey)
	return binary.BigEndian.Uint32(head[:]) * 2654435761 >> 16
}

func (o StackOptions) open(t testing.TB) (*tiers.Stack, *Hooked) {
	hooked := &Hooked{Store: o.OpenStore(t)}
	c := tiers.Config{Store: hooked, Stripe: RowStripe}
	if o.OpenMemory != nil {
		c.Memory = o.OpenMemory(t)
	}
	s, err := tiers.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s, hooked
}

// RunStack judges a stack: the Tier suite, I10 under forced interleavings, and
// reads of several rows without a lock.
func RunStack(t *testing.T, o StackOptions) {
	RunSubject(t, Options{Open: func(t testing.TB) Subject {
		s, _ := o.open(t)
		return s
	}})
	t.Run("never stale (R25, I10)", func(t *testing.T) {
		s, hooked := o.open(t)
		if err := errors.Join(NeverStale(s, hooked), s.Close()); err != nil {
			t.Fatal(err)
		}
	})
	for name, run := range map[string]func(*testing.T, *tiers.Stack, *Hooked){
		"one moment":               testMoment,
		"observe":                  testObserve,
		"memory follows the store": testFollows,
		"failed batch (I10)":       testFailedBatch,
	} {
		t.Run(name, func(t *testing.T) {
			s, hooked := o.open(t)
			run(t, s, hooked)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// Race is one forced interleaving: what happens to row "k" while it is being
// read from the store, or while another batch is being applied.
type race struct {
	name  string
	first func(*tiers.Batch) // nil: the row is read
	then  func(*tiers.Batch)
}

func set(value string) func(*tiers.Batch) {
	return func(w *tiers.Batch) { w.Set([]byte("k"), []byte(value)) }
}

func remove(w *tiers.Batch) { w.Delete([]byte("k")) }

func removeRange(w *tiers.Batch) { w.DeleteRange([]byte("a"), []byte("z")) }

func removeAndSet(w *tiers.Batch) {
	removeRange(w)
	set("range, then set")(w)
}

// races are all pairs that can leave an old copy in memory.
var races = []race{
	{"read, set", nil, set("new")},
	{"read, set the same", nil, set("old")},
	{"read, delete", nil, remove},
	{"read, delete range", nil, removeRange},
	{"read, range then set", nil, removeAndSet},
	{"set, set", set("first"), set("second")},
	{"set, delete", set("first"), remove},
	{"set, delete range", set("first"), removeRange},
	{"delete, set", remove, set("second")},
	{"range, set", removeRange, set("second")},
	{"range and set, set", removeAndSet, set("second")},
	{"range and set, range", removeAndSet, removeRange},
}

// NeverStale forces every race and returns an error if the subject, built over
// the hooked store, afterwards serves something else than the store has.
func NeverStale(s Subject, store *Hooked) error {
	for _, r := range races {
		if err := r.run(s, store); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	return nil
}

func (r race) run(s Subject, store *Hooked) error {
	key := []byte("k")
	// Applied to the store alone, so that memory doesn't have the row.
	start := errors.Join(apply(s, remove), apply(store.Store, set("old")))
	if start != nil {
		return start
	}
	var inner error
	if r.first == nil {
		store.Read = func([]byte) { inner = apply(s, r.then) }
		if _, err := get(s, key); err != nil {
			return err
		}
	} else {
		store.Applied = func(*tiers.Batch) { inner = apply(s, r.then) }
		if err := apply(s, r.first); err != nil {
			return err
		}
	}
	if inner != nil {
		return inner
	}
	return agrees(s, store, key)
}

// agrees compares a row as served with the row as stored, twice: a read may
// promote.
func agrees(s Subject, store tiers.Store, key []byte) error {
	want, err := get(store, key)
	if err != nil {
		return err
	}
	for range 2 {
		got, err := get(s, key)
		if err != nil {
			return err
		}
		if string(got) != string(want) || (got == nil) != (want == nil) {
			return fmt.Errorf("served %s, stored is %s", show(got), show(want))
		}
	}
	return nil
}

// testMoment: readers of two rows of one stripe, written together, see them
// equal whenever Unchanged says that they saw one moment.
func testMoment(t *testing.T, s *tiers.Stack, _ *Hooked) {
	a, b := []byte("pair.a"), []byte("pair.b")
	stripe := RowStripe(a)
	const writes = 2000
	var reading sync.WaitGroup
	stop := make(chan struct{})
	for range 2 {
		reading.Add(1)
		go func() {
			defer reading.Done()
			for seen := 0; ; {
				select {
				case <-stop:
					return
				default:
				}
				token, quiet := s.Observe(stripe)
				if !quiet {
					continue
				}
				x, errX := get(s, a)
				y, errY := get(s, b)
				if !s.Unchanged(token) {
					continue
				}
				if seen++; string(x) != string(y) || errX != nil || errY != nil {
					t.Errorf("one moment has %s and %s, errors %v, %v", show(x), show(y), errX, errY)
					return
				}
			}
		}()
	}
	for i := range writes {
		value := fmt.Appendf(nil, "%d", i)
		err := apply(s, func(w *tiers.Batch) {
			w.Set(a, value)
			w.Set(b, value)
		})
		if err != nil {
			t.Error(err)
		}
	}
	close(stop)
	reading.Wait()
}

// testObserve forces a write at each stage of an observation.
func testObserve(t *testing.T, s *tiers.Stack, store *Hooked) {
	stripe := RowStripe([]byte("k"))
	for name, change := range map[string]func(*tiers.Batch){"set": set("v"), "delete": remove, "range": removeRange} {
		token, quiet := s.Observe(stripe)
		if !quiet || !s.Unchanged(token) {
			t.Fatalf("%s: before the write: quiet %v", name, quiet)
		}
		store.Applied = func(*tiers.Batch) {
			if _, quiet := s.Observe(stripe); quiet {
				t.Errorf("%s: quiet while the write is in flight", name)
			}
			if s.Unchanged(token) {
				t.Errorf("%s: unchanged while the write is in flight", name)
			}
		}
		if err := apply(s, change); err != nil {
			t.Fatal(err)
		}
		if s.Unchanged(token) {
			t.Errorf("%s: unchanged after the write", name)
		}
	}
}

// testFollows lets writers of the same rows collide; once they are done, the
// stack serves what the store has.
func testFollows(t *testing.T, s *tiers.Stack, store *Hooked) {
	var writing sync.WaitGroup
	for w := range 4 {
		writing.Add(1)
		go func() {
			defer writing.Done()
			for i := range 300 {
				err := apply(s, func(b *tiers.Batch) {
					b.Set(rowKey((w+i)%8), fmt.Appendf(nil, "%d by %d", i, w))
					b.Set(rowKey(i%8), fmt.Appendf(nil, "%d by %d too", i, w))
					if i%16 == w {
						b.DeleteRange(rowKey(2), rowKey(4))
					}
				})
				if _, errGet := get(s, rowKey(i%8)); err != nil || errGet != nil {
					t.Errorf("errors %v, %v", err, errGet)
				}
			}
		}()
	}
	writing.Wait()
	for i := range 8 {
		if err := agrees(s, store, rowKey(i)); err != nil {
			t.Errorf("row %d: %v", i, err)
		}
	}
}

var errInjected = errors.New("injected")

// refusing is a store whose Apply fails after it was applied, or before.
type refusing struct {
	tiers.Store
	applied bool
}

func (r refusing) Apply(b *tiers.Batch, durable bool) (tiers.Ticket, error) {
	if r.applied {
		ticket, err := r.Store.Apply(b, durable)
		if err := errors.Join(err, ticket.Wait()); err != nil {
			return tiers.Ticket{}, err
		}
	}
	return tiers.Ticket{}, errInjected
}

// testFailedBatch: after a failed batch memory holds no row of it, so that it
// can be neither ahead of the store nor behind.
func testFailedBatch(t *testing.T, s *tiers.Stack, store *Hooked) {
	inner := store.Store
	for _, applied := range []bool{false, true} {
		if err := apply(s, set("old")); err != nil {
			t.Fatal(err)
		}
		store.Store = refusing{inner, applied}
		if err := apply(s, set("new")); !errors.Is(err, errInjected) {
			t.Fatalf("error %v", err)
		}
		store.Store = inner
		if err := agrees(s, store, []byte("k")); err != nil {
			t.Errorf("applied %v: %v", applied, err)
		}
	}
}
