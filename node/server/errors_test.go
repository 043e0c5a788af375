package server_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/tiergrid/tiergrid/node/record"
)

var errInjected = errors.New("an error of the test")

// failed tells whether a reply is that of a storage that failed.
func failed(reply string) bool { return strings.HasPrefix(reply, "error ERR the storage failed") }

// version is the position of a key's unit as the store has it.
func (f *fixture) version(key string) uint64 {
	k := record.MakeKey(&f.table.HashKey, 1, []byte(key))
	return f.audit().positions[k.Slot/64]
}

// TestFailedWrites: after an error of the storage nothing has happened, which each
// command whose effect is lost answers; versions have no gap (R12) and what follows
// works.
func TestFailedWrites(t *testing.T) {
	for _, test := range []struct {
		name     string
		commands []cmd
		fail     func(*faulty, *fault)
		want     []string // "failed" for an error of the storage
	}{
		{"the batch", []cmd{do("set", "k", "2"), do("incr", "n"), do("get", "k")},
			func(s *faulty, f *fault) { s.apply.Store(f) }, []string{"failed", "failed", "failed"}},
		{"a read within", []cmd{do("set", "k", "2"), do("append", "cold", "x"), do("get", "k")},
			func(s *faulty, f *fault) { s.get.Store(f) }, []string{"failed", "failed", "1"}},
		{"a panic within", []cmd{do("set", "k", "2"), do("append", "cold", "x"), do("get", "k")},
			func(s *faulty, f *fault) { f.panic = true; s.get.Store(f) }, []string{"failed", "failed", "1"}},
		{"a read alone", []cmd{do("get", "k"), do("get", "cold"), do("exists", "k")},
			func(s *faulty, f *fault) { s.get.Store(f) }, []string{"failed", "failed", "1"}},
		{"a panic of a read", []cmd{do("get", "cold"), do("get", "k")},
			func(s *faulty, f *fault) { f.panic = true; s.get.Store(f) }, []string{"failed", "1"}},
		{"a walk", []cmd{do("keys", "*"), do("get", "k")},
			func(s *faulty, f *fault) { s.iter.Store(f) }, []string{"failed", "1"}},
		{"a random key", []cmd{do("randomkey")},
			func(s *faulty, f *fault) { s.iter.Store(f) }, []string{"failed"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := new(faulty)
			f := start(t, options{wrap: s.wrap})
			f.gathered.off = true
			c := f.client()
			c.do("set", "k", "1") // in memory, so that reads of it cannot fail
			before := f.version("k")
			test.fail(s, &fault{err: errInjected})
			replies := c.pipeline(test.commands...)
			s.get.Store(nil)
			s.apply.Store(nil)
			s.iter.Store(nil)
			for i, reply := range replies {
				if got := text(reply); got != test.want[i] && !(test.want[i] == "failed" && failed(got)) {
					t.Errorf("%q answered %s, want %s", test.commands[i].args, got, test.want[i])
				}
			}
			if got := text(c.do("get", "k")); got != "1" {
				t.Errorf("k is %s after all", got)
			}
			c.do("set", "k", "3")
			if after := f.version("k"); after != before+1 {
				t.Errorf("the version went from %x to %x", before, after)
			}
		})
	}
}

// TestFailedTransactions: a transaction is carried out whole or not at all (R12).
func TestFailedTransactions(t *testing.T) {
	for name, fail := range map[string]func(*faulty){
		"apply": func(s *faulty) { s.apply.Store(&fault{err: errInjected}) },
		"get":   func(s *faulty) { s.get.Store(&fault{err: errInjected}) },
		"panic": func(s *faulty) { s.get.Store(&fault{panic: true}) },
		"iter":  func(s *faulty) { s.iter.Store(&fault{err: errInjected}) },
	} {
		t.Run(name, func(t *testing.T) {
			s := new(faulty)
			f := start(t, options{wrap: s.wrap})
			c := f.client()
			c.do("set", "k", "1")
			fail(s)
			reply := c.exec(nil, do("set", "k", "2"), do("append", "cold", "x"), do("keys", "*"))
			s.get.Store(nil)
			s.apply.Store(nil)
			s.iter.Store(nil)
			if !failed(text(reply)) {
				t.Errorf("the transaction answered %s", text(reply))
			}
			if got := text(c.exec(nil, do("get", "k"), do("exists", "cold"), do("dbsize"))); got != "[1 0 1]" {
				t.Errorf("afterwards there is %s", got)
			}
			f.audit()
		})
	}
}

// TestAppliedRepliesAreNotTakenBack: what was applied before an error keeps its
// reply, also where the run was committed in between because it was full, because
// a walk had to find it, or because another session held a unit.
func TestAppliedRepliesAreNotTakenBack(t *testing.T) {
	s := new(faulty)
	f := start(t, options{wrap: s.wrap})
	c := f.client()
	big := strings.Repeat("x", 2<<20)
	fail := &fault{err: errInjected}
	fail.skip.Store(1)
	s.apply.Store(fail)
	replies := c.pipeline(do("set", "a", big), do("set", "b", "1"))
	s.apply.Store(nil)
	if got := text(replies[0]); got != "OK" || !failed(text(replies[1])) {
		t.Errorf("the run answered %s and %s", got, text(replies[1]))
	}
	// A walk commits what the run has written before it.
	fail.skip.Store(1)
	s.apply.Store(fail)
	replies = c.pipeline(do("set", "c", "1"), do("dbsize"), do("set", "d", "1"))
	s.apply.Store(nil)
	if got := text(replies[0]); got != "OK" || !failed(text(replies[2])) {
		t.Errorf("the run answered %s and %s", got, text(replies[2]))
	}
	if got := text(c.do("mget", "c", "d")); got != "[1 nil]" {
		t.Errorf("there is %s", got)
	}
	f.appliedBeforeAcquire(t, s)
}

// appliedBeforeAcquire lets a second session hold the unit that a run needs next.
func (f *fixture) appliedBeforeAcquire(t *testing.T, s *faulty) {
	entries := f.units.Totals(1).Entries.Load()
	inside, free := make(chan struct{}), make(chan struct{})
	stop := func() {
		close(inside)
		<-free
	}
	s.beforeGet.Store(&stop)
	other := f.inBackground(do("append", "{cold}", "x"))
	<-inside
	fail := &fault{err: errInjected}
	fail.skip.Store(2) // the run's first batch and the other's
	s.apply.Store(fail)
	run := make(chan string)
	go func() {
		replies := f.client().pipeline(do("set", "e", "1"), do("set", "{cold}", "2"))
		run <- text(replies[0]) + " " + text(replies[1])
	}()
	for f.units.Totals(1).Entries.Load() == entries { // until e is there and the run waits for the other
		time.Sleep(time.Millisecond)
	}
	close(free)
	if got := answer(t, other); got != "1" {
		t.Errorf("APPEND answered %s", got)
	}
	if got := answer(t, run); !strings.HasPrefix(got, "OK error ERR the storage failed") {
		t.Errorf("the run answered %s", got)
	}
	s.apply.Store(nil)
}

// TestPanicsAreLogged: a panic is a bug, which must not pass in silence.
func TestPanicsAreLogged(t *testing.T) {
	s := new(faulty)
	var log bytes.Buffer
	f := start(t, options{wrap: s.wrap, logger: slog.New(slog.NewTextHandler(&log, nil))})
	s.get.Store(&fault{panic: true})
	f.client().do("get", "k")
	s.get.Store(nil)
	if !strings.Contains(log.String(), "a command panicked") || !strings.Contains(log.String(), "a panic of the test") {
		t.Errorf("the log says %q", log.String())
	}
	f.client().do("set", "k", "1") // no lock is left
	if got := text(f.client().do("get", "k")); got != "1" {
		t.Errorf("k is %s", got)
	}
}

// TestAnErrorForgetsNoFsync: when a batch fails, readers still wait for the one
// before it that is on its way to disk (R13).
func TestAnErrorForgetsNoFsync(t *testing.T) {
	s := new(faulty)
	f := start(t, options{table: durable(databases(1)), wrap: s.wrap})
	applied := s.hold()
	write := f.inBackground(do("set", "k", "1"))
	<-applied
	s.apply.Store(&fault{err: errInjected})
	if got := answer(t, f.inBackground(do("set", "k", "2"))); !failed(got) {
		t.Errorf("the second SET answered %s", got)
	}
	s.apply.Store(nil)
	read := f.inBackground(do("get", "k"))
	silent(t, do("get", "k"), read)
	s.let()
	if got := answer(t, read); got != "1" {
		t.Errorf("GET answered %s", got)
	}
	answer(t, write)
}
