package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// content is the n-th value of a key: the same at every call, different for every
// key and n, and not compressible.
func content(key string, n, size int) []byte {
	b := make([]byte, size)
	_, _ = rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "%s %d", key, n))).Read(b) // never fails
	return b
}

// state is what a key holds: the n-th value that its writer made, or nothing.
type state struct {
	n        int // 0: there is no such key
	size     int
	origin   string    // the key that the value was made for
	deadline time.Time // zero: no TTL
}

// writer is a client that writes to keys of its own, one batch after the other,
// and remembers what was acknowledged and what was on its way when the server went.
type writer struct {
	client *redis.Client
	name   string
	rnd    *rand.Rand
	choose func(w *writer) batch

	written  int
	acked    map[string]state
	inFlight batch // sent and not answered
	broken   error // an error that came while the server should have been there
}

// batch is what is sent at once. Of an atomic one all takes effect or nothing.
type batch struct {
	changes map[string]state
	atomic  bool
	// queue adds the commands to a pipeline; nil sets or deletes each key.
	queue func(ctx context.Context, pipe redis.Pipeliner)
}

func newWriter(client *redis.Client, name string, choose func(w *writer) batch) *writer {
	seed := sha256.Sum256([]byte(name))
	return &writer{client: client, name: name, rnd: rand.New(rand.NewChaCha8(seed)), choose: choose, acked: map[string]state{}}
}

// writersOf returns writers of all kinds.
func writersOf(client *redis.Client) []*writer {
	var all []*writer
	for i := range 3 {
		all = append(all,
			newWriter(client, fmt.Sprintf("small%d", i), (*writer).oneSmall),
			newWriter(client, fmt.Sprintf("pipe%d", i), (*writer).pipeline))
	}
	return append(all,
		newWriter(client, "pair", (*writer).pair),
		newWriter(client, "large", (*writer).oneLarge),
		newWriter(client, "huge", (*writer).oneHuge),
		newWriter(client, "moved", (*writer).rename))
}

// next is a value that was not written before.
func (w *writer) next(key string, size int) state {
	w.written++
	s := state{n: w.written, size: size, origin: key}
	if w.rnd.IntN(2) == 0 {
		s.deadline = time.Now().Add(time.Hour)
	}
	return s
}

func (w *writer) key(among int) string { return fmt.Sprintf("%s:%d", w.name, w.rnd.IntN(among)) }

// set changes one key to a new value.
func (w *writer) set(key string, size int) batch {
	return batch{changes: map[string]state{key: w.next(key, size)}}
}

// oneSmall sets a key, or deletes it.
func (w *writer) oneSmall() batch {
	if w.rnd.IntN(8) == 0 {
		return batch{changes: map[string]state{w.key(40): {}}}
	}
	return w.set(w.key(40), 20)
}

// oneLarge sets a key to 120 kB, which are kept apart from their head.
func (w *writer) oneLarge() batch { return w.set(w.key(10), 120_000) }

// oneHuge sets a key to what is kept in several chunks, or to something small.
func (w *writer) oneHuge() batch { return w.set(w.key(3), []int{1_500_000, 10}[w.rnd.IntN(2)]) }

// pipeline sets several keys, each for itself.
func (w *writer) pipeline() batch {
	b := batch{changes: map[string]state{}}
	for range 16 {
		key := w.key(100)
		b.changes[key] = w.next(key, 100)
	}
	return b
}

// pair sets two keys of different slots in one transaction.
func (w *writer) pair() batch {
	b := batch{atomic: true, changes: map[string]state{}}
	i := w.rnd.IntN(20)
	for key, size := range map[string]int{fmt.Sprint(w.name, ":left:", i): 100, fmt.Sprint(w.name, ":right:", i): 5000} {
		b.changes[key] = w.next(key, size)
	}
	return b
}

// rename moves a value to another key, or makes one.
func (w *writer) rename() batch {
	from, to := w.key(20), w.key(20)
	moved := w.acked[from]
	if moved.n == 0 || from == to {
		return w.set(from, 6000)
	}
	return batch{atomic: true, changes: map[string]state{from: {}, to: moved},
		queue: func(ctx context.Context, pipe redis.Pipeliner) { pipe.Rename(ctx, from, to) }}
}

// run writes until the server is gone. leaving is set before that.
func (w *writer) run(ctx context.Context, leaving *atomic.Bool) {
	for ctx.Err() == nil {
		b := w.choose(w)
		err := w.send(ctx, b)
		if err == nil {
			continue
		}
		if !leaving.Load() || isReply(err) {
			w.broken = err
		}
		return
	}
}

func isReply(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply)
}

// send sends a batch and notes for each key whether it was acknowledged.
func (w *writer) send(ctx context.Context, b batch) error {
	pipe := w.client.Pipeline()
	if b.atomic && b.queue == nil {
		pipe = w.client.TxPipeline()
	}
	replies := map[string]redis.Cmder{}
	if b.queue != nil {
		b.queue(ctx, pipe)
	} else {
		for key, s := range b.changes {
			replies[key] = queueState(ctx, pipe, key, s)
		}
	}
	_, err := pipe.Exec(ctx)
	w.inFlight = batch{changes: map[string]state{}, atomic: b.atomic}
	for key, s := range b.changes {
		if err == nil || !b.atomic && replies[key].Err() == nil {
			w.acked[key] = s
		} else {
			w.inFlight.changes[key] = s
		}
	}
	return err
}

// queueState adds the command that brings a key into a state.
func queueState(ctx context.Context, pipe redis.Pipeliner, key string, s state) redis.Cmder {
	switch {
	case s.n == 0:
		return pipe.Del(ctx, key)
	case s.deadline.IsZero():
		return pipe.Set(ctx, key, content(s.origin, s.n, s.size), 0)
	}
	return pipe.Set(ctx, key, content(s.origin, s.n, s.size), time.Until(s.deadline))
}

// check reads everything back: each key holds what was acknowledged last, or what
// was on its way after that.
func (w *writer) check(t *testing.T, ctx context.Context) {
	t.Helper()
	if w.broken != nil {
		t.Fatalf("%s: while the server should have run: %v", w.name, w.broken)
	}
	arrived := 0
	for key, s := range w.inFlight.changes {
		if diff := w.compare(t, ctx, key, s); diff == "" {
			w.acked[key] = s
			arrived++
		}
	}
	if w.inFlight.atomic && arrived != 0 && arrived != len(w.inFlight.changes) {
		t.Fatalf("%s: %d of the %d changes of one transaction are there", w.name, arrived, len(w.inFlight.changes))
	}
	w.inFlight = batch{}
	for key, s := range w.acked {
		if diff := w.compare(t, ctx, key, s); diff != "" {
			t.Fatalf("%s: acknowledged as its value %d: %s", key, s.n, diff)
		}
	}
}

// compare says how a key differs from a state.
func (w *writer) compare(t *testing.T, ctx context.Context, key string, s state) string {
	t.Helper()
	pipe := w.client.Pipeline()
	value, ttl := pipe.Get(ctx, key), pipe.PTTL(ctx, key)
	if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
		t.Fatalf("read %s: %v", key, err)
	}
	if s.n == 0 {
		if errors.Is(value.Err(), redis.Nil) {
			return ""
		}
		return "it is there"
	}
	got, err := value.Bytes()
	if err != nil {
		return err.Error()
	}
	if !bytes.Equal(got, content(s.origin, s.n, s.size)) {
		return fmt.Sprintf("%d bytes which are others", len(got))
	}
	return wrongTTL(s.deadline, ttl.Val())
}

func wrongTTL(deadline time.Time, ttl time.Duration) string {
	if deadline.IsZero() {
		if ttl < 0 {
			return ""
		}
		return fmt.Sprintf("a TTL of %v, which was not set", ttl)
	}
	if off := time.Until(deadline) - ttl; ttl < 0 || off.Abs() > 10*time.Second {
		return fmt.Sprintf("a TTL of %v instead of %v", ttl, time.Until(deadline))
	}
	return ""
}

// load is writers at work.
type load struct {
	leaving atomic.Bool
	wg      sync.WaitGroup
	cancel  context.CancelFunc
}

// startLoad lets writers write until the server is gone.
func startLoad(t *testing.T, writers []*writer) *load {
	ctx, cancel := context.WithCancel(t.Context())
	l := &load{cancel: cancel}
	for _, w := range writers {
		l.wg.Go(func() { w.run(ctx, &l.leaving) })
	}
	t.Cleanup(l.end)
	return l
}

// end waits for the writers after the server has gone.
func (l *load) end() {
	l.cancel()
	l.wg.Wait()
}

// checkAll checks what each writer wrote, and that DBSIZE counts exactly that.
func checkAll(t *testing.T, client *redis.Client, writers []*writer) {
	t.Helper()
	ctx := t.Context()
	want := int64(0)
	for _, w := range writers {
		w.check(t, ctx)
		for _, s := range w.acked {
			if s.n > 0 {
				want++
			}
		}
	}
	if got, err := client.DBSize(ctx).Result(); err != nil || got != want {
		t.Fatalf("DBSIZE = %d, %v; there are %d keys", got, err, want)
	}
	if want == 0 {
		t.Fatal("nothing was written")
	}
}
