package server_test

import (
	"testing"
	"time"
)

// patience is how long a reply that must not come yet is waited for, and what a
// machine that is busy may take for one that must.
const (
	patience = 15 * time.Millisecond
	timeout  = 30 * time.Second
)

// inBackground runs a command in a session of its own.
func (f *fixture) inBackground(c cmd) chan string {
	done := make(chan string, 1)
	go func() { done <- text(f.client().pipeline(c)[0]) }()
	return done
}

// answer waits for a reply that must come.
func answer(t *testing.T, done chan string) string {
	t.Helper()
	select {
	case reply := <-done:
		return reply
	case <-time.After(timeout):
		t.Fatal("a command did not answer")
		return ""
	}
}

// silent fails when a reply comes that must not come yet.
func silent(t *testing.T, c cmd, done chan string) {
	t.Helper()
	select {
	case reply := <-done:
		t.Errorf("%q has answered %s before the fsync", c.args, reply)
		done <- reply
	case <-time.After(patience):
	}
}

// TestRepliesWaitForWhatTheyShow proves R13 and I7 for durability always: what
// shows an unsynced mutation, or an absence, waits for it, and nothing else does.
func TestRepliesWaitForWhatTheyShow(t *testing.T) {
	for _, test := range []struct {
		name        string
		write, read cmd
		want        string
		mustWait    bool
	}{
		{"a new value", do("set", "k", "new"), do("get", "k"), "new", true},
		{"its length", do("set", "k", "new"), do("strlen", "k"), "3", true},
		{"an absence", do("del", "k"), do("get", "k"), "nil", true},
		{"nothing to delete", do("del", "k"), do("del", "k"), "0", true},
		{"a refused SET", do("set", "k", "new"), do("set", "k", "other", "nx"), "nil", true},
		{"one of several", do("set", "k", "new"), do("mget", "other", "k"), "[o new]", true},
		{"a cleared database", do("flushdb"), do("get", "k"), "nil", true},
		{"the size", do("set", "fresh", "1"), do("dbsize"), "3", true},
		{"a walk", do("set", "fresh", "1"), do("keys", "fresh"), "[fresh]", true},
		{"a walk that misses", do("del", "k"), do("keys", "k"), "[]", true},
		{"another key", do("set", "k", "new"), do("get", "other"), "o", false},
		{"another absence", do("set", "k", "new"), do("get", "none"), "nil", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := new(faulty)
			f := start(t, options{table: durable(databases(2)), wrap: s.wrap})
			f.client().pipeline(do("set", "k", "old"), do("set", "other", "o"))
			applied := s.hold()
			write := f.inBackground(test.write)
			<-applied
			read := f.inBackground(test.read)
			if test.mustWait {
				silent(t, test.read, read)
			} else if reply := answer(t, read); reply != test.want {
				t.Errorf("%q answered %s, want %s", test.read.args, reply, test.want)
			}
			silent(t, test.write, write)
			s.let()
			answer(t, write)
			if test.mustWait {
				if reply := answer(t, read); reply != test.want {
					t.Errorf("%q answered %s, want %s", test.read.args, reply, test.want)
				}
			}
		})
	}
}

// TestWalksWaitForWhatTheyMeet: a walk waits also for what was applied after it
// began but before it looked (R13, I7).
func TestWalksWaitForWhatTheyMeet(t *testing.T) {
	for _, test := range []struct {
		read cmd
		want string
	}{{do("keys", "*"), "[k]"}, {do("scan", "0"), "[0 [k]]"}, {do("randomkey"), "k"}} {
		s := new(faulty)
		f := start(t, options{table: durable(databases(1)), wrap: s.wrap})
		applied := s.hold()
		var write chan string
		meet := func() {
			write = f.inBackground(do("set", "k", "v"))
			<-applied
		}
		s.beforeIter.Store(&meet)
		read := f.inBackground(test.read)
		silent(t, test.read, read)
		s.let()
		if reply := answer(t, read); reply != test.want {
			t.Errorf("%q answered %s, want %s", test.read.args, reply, test.want)
		}
		answer(t, write)
	}
}

// TestNobodyWaitsUnderInterval: what is applied is committed there.
func TestNobodyWaitsUnderInterval(t *testing.T) {
	s := new(faulty)
	f := start(t, options{wrap: s.wrap})
	s.hold()
	defer s.let()
	for _, test := range []struct {
		c    cmd
		want string
	}{{do("set", "k", "v"), "OK"}, {do("get", "k"), "v"}, {do("dbsize"), "1"}, {do("keys", "*"), "[k]"}} {
		if reply := answer(t, f.inBackground(test.c)); reply != test.want {
			t.Errorf("%q answered %s, want %s", test.c.args, reply, test.want)
		}
	}
}
