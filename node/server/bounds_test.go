package server_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tiergrid/tiergrid/node/resp"
	"github.com/tiergrid/tiergrid/node/wire"
)

// TestReadsHoldTheMemoryOfOne: a pipeline of commands that look at large values
// and answer a number holds no more memory than one of them (I14).
func TestReadsHoldTheMemoryOfOne(t *testing.T) {
	s := new(faulty)
	f := start(t, options{memory: -1, wrap: s.wrap})
	c := f.client()
	c.do("set", "large", strings.Repeat("x", 2<<20))
	commands := make([]cmd, 40)
	for i := range commands {
		commands[i] = do("bitcount", "large")
	}
	commands = append(commands, do("get", "last"))
	_, before := resp.BuffersInUse()
	held := int64(0)
	// The hook is set by the reads themselves, so the last one measures.
	var look func()
	look = func() {
		_, now := resp.BuffersInUse()
		held = max(held, now-before)
		s.beforeGet.Store(&look)
	}
	s.beforeGet.Store(&look)
	c.pipeline(commands...)
	s.beforeGet.Store(nil)
	if held > 4<<20 {
		t.Errorf("a pipeline of %d BITCOUNT holds %d bytes", len(commands)-1, held)
	}
}

// slow is a client that takes its replies only when it is let; it tells whether
// any lock was held meanwhile.
type slow struct {
	write func(n int) error
	total int
	most  int
}

func (s *slow) Write(b []byte) (int, error) {
	s.total += len(b)
	s.most = max(s.most, len(b))
	return len(b), s.write(len(b))
}

// TestNoLockIsHeldForASlowClient: while replies go out in the middle of a batch,
// others may change every key that the batch has changed.
func TestNoLockIsHeldForASlowClient(t *testing.T) {
	f := start(t, options{})
	large := strings.Repeat("x", 1<<20)
	f.client().do("set", "large", large)
	writes := 0
	dst := &slow{write: func(int) error {
		writes++
		if got := answer(t, f.inBackground(do("incr", "n"))); strings.HasPrefix(got, "error") {
			t.Errorf("INCR answered %s", got)
		}
		return nil
	}}
	batch := &wire.Batch{Table: f.table, Out: resp.NewWriter(dst, 2)}
	for range 3 {
		batch.Requests = append(batch.Requests, do("incr", "n").request(t), do("get", "large").request(t))
	}
	if err := f.server.Run(context.Background(), batch); err != nil {
		t.Fatal(err)
	}
	if got := text(f.client().do("get", "n")); got != fmt.Sprint(3+writes) || writes < 3 {
		t.Errorf("n is %s after %d writes to the client", got, writes)
	}
}

// TestOutputIsBounded: ten thousand replies of a megabyte pass through a bounded
// amount of memory (I14).
func TestOutputIsBounded(t *testing.T) {
	f := start(t, options{memory: -1})
	const size, each = 1 << 20, 128
	batches := rounds(79)
	f.client().do("set", "large", strings.Repeat("x", size))
	_, before := resp.BuffersInUse()
	held := int64(0)
	dst := &slow{write: func(int) error {
		_, now := resp.BuffersInUse()
		held = max(held, now-before)
		return nil
	}}
	batch := &wire.Batch{Table: f.table, Out: resp.NewWriter(dst, 2)}
	for range each {
		batch.Requests = append(batch.Requests, do("get", "large").request(t))
	}
	for range batches {
		if err := f.server.Run(context.Background(), batch); err != nil {
			t.Fatal(err)
		}
		if err := batch.Out.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if dst.total < size*batches*each || held > 4*size {
		t.Errorf("%d bytes went through %d bytes of memory", dst.total, held)
	}
}

// TestABrokenClientEndsTheBatch: what was done stays done, the rest is not run, and
// no lock is left.
func TestABrokenClientEndsTheBatch(t *testing.T) {
	f := start(t, options{})
	f.client().do("set", "large", strings.Repeat("x", 1<<20))
	errBroken := errors.New("broken")
	batch := &wire.Batch{Table: f.table, Out: resp.NewWriter(&slow{write: func(int) error { return errBroken }}, 2)}
	for _, c := range []cmd{do("incr", "n"), do("get", "large"), do("incr", "n")} {
		batch.Requests = append(batch.Requests, c.request(t))
	}
	if err := f.server.Run(context.Background(), batch); !errors.Is(err, errBroken) {
		t.Errorf("the batch ended with %v", err)
	}
	if got := answer(t, f.inBackground(do("incr", "n"))); got != "2" {
		t.Errorf("n is %s", got)
	}
}

// TestATransactionHasOneTime: nothing expires within a transaction (R12).
func TestATransactionHasOneTime(t *testing.T) {
	var clock atomic.Int64
	f := start(t, options{clock: func() int64 { return clock.Add(1) }})
	for range 20 {
		f.client().do("set", "k", "v", "px", "8")
		got := f.client().exec(nil, do("get", "k"), do("get", "k"), do("exists", "k"), do("pttl", "k"), do("pttl", "k"))
		e := got.Elems
		if text(e[0]) != text(e[1]) || e[2].Int == 1 == e[0].Null || e[3].Int != e[4].Int {
			t.Errorf("a transaction answered %s", text(got))
		}
		clock.Add(1)
	}
}

// TestATransactionsRepliesAreBounded: they stay in memory until it is committed.
func TestATransactionsRepliesAreBounded(t *testing.T) {
	f := start(t, options{})
	f.client().do("set", "large", strings.Repeat("x", 4<<20))
	commands := []cmd{do("set", "k", "1")}
	for range 20 {
		commands = append(commands, do("get", "large"))
	}
	if got := text(f.client().exec(nil, commands...)); !strings.HasPrefix(got, "error ERR the replies of the transaction exceed") {
		t.Errorf("the transaction answered %.100s", got)
	}
	if got := text(f.client().do("get", "k")); got != "nil" {
		t.Errorf("k is %s", got)
	}
}

// TestATransactionHasABoundOnWhatItWrites: short commands that each write a long
// value are given up as a whole (I14, R12).
func TestATransactionHasABoundOnWhatItWrites(t *testing.T) {
	f := start(t, options{memory: -1})
	c := f.client()
	c.do("set", "large", strings.Repeat("x", 20<<20))
	commands := make([]cmd, 20)
	for i := range commands {
		commands[i] = do("setrange", "large", "5", "y")
	}
	got := text(c.exec(nil, commands...))
	if !strings.Contains(got, "the changes of the transaction exceed 256 MiB") {
		t.Errorf("EXEC answers %.100s", got)
	}
	if got := text(c.do("getrange", "large", "0", "9")); got != "xxxxxxxxxx" {
		t.Errorf("after it the value begins with %s", got)
	}
}

// TestOneReplyHasABound: a short MGET that names a long value many times gets an
// error and not all of the memory (I14).
func TestOneReplyHasABound(t *testing.T) {
	f := start(t, options{memory: -1})
	c := f.client()
	c.do("set", "large", strings.Repeat("x", 32<<20))
	keys := append([]string{"mget"}, slices.Repeat([]string{"large"}, 20)...)
	if got := text(c.do(keys...)); !strings.Contains(got, "the reply exceeds 512 MiB") {
		t.Errorf("MGET answers %.100s", got)
	}
	if got := text(c.do("strlen", "large")); got != fmt.Sprint(32<<20) {
		t.Errorf("STRLEN answers %s", got)
	}
}
