package server_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tiergrid/tiergrid/node/resp"
	"github.com/tiergrid/tiergrid/node/wire"
)

// batch is one of several that are run together.
func (f *fixture) batch(commands ...cmd) *wire.Batch {
	b := &wire.Batch{Table: f.table, Out: resp.NewWriter(nil, 2)}
	for _, c := range commands {
		b.Requests = append(b.Requests, c.request(f.t))
	}
	return b
}

// answers are the replies to a batch as they go to the client.
func answers(b *wire.Batch) string { return strings.ReplaceAll(string(b.Out.Bytes()), "\r\n", " ") }

// TestTogether shows how far a batch comes without waiting, whatever the others do.
func TestTogether(t *testing.T) {
	long := strings.Repeat("x", 17<<10)
	many := append([]string{"mget"}, strings.Fields(strings.Repeat("warm ", 65))...)
	for _, test := range []struct {
		name     string
		commands []cmd
		done     int
		want     string
	}{
		{"in memory", []cmd{do("get", "warm"), do("set", "warm", "2"), do("get", "warm"), do("incr", "warm")}, 4, "$1 1 +OK $1 2 :3 "},
		{"nothing", nil, 0, ""},
		{"a read below memory", []cmd{do("exists", "warm"), do("get", "cold"), do("get", "warm")}, 1, ":1 "},
		{"a write that has to look below memory", []cmd{do("set", "warm", "2"), do("set", "cold", "2")}, 1, "+OK "},
		{"a key that never was", []cmd{do("set", "new", "1")}, 0, ""},
		{"a long value", []cmd{do("get", "warm"), do("set", "warm", long)}, 1, "$1 1 "},
		{"many keys", []cmd{do(many...)}, 0, ""},
		{"a walk", []cmd{do("get", "warm"), do("keys", "*")}, 1, "$1 1 "},
		{"no such database", []cmd{do("get", "warm"), {args: []string{"get", "warm"}, database: 9}}, 1, "$1 1 "},
		{"an error of the command", []cmd{do("incr", "word"), do("get", "warm")}, 2, "-ERR value is not an integer or out of range $1 1 "},
		{"more than is sent at once", []cmd{do("get", "large"), do("get", "large"), do("get", "large"), do("get", "large")}, 3, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := start(t, options{memory: 256 << 20})
			c := f.client()
			c.pipeline(do("set", "warm", "1"), do("set", "word", "w"), do("set", "large", strings.Repeat("x", 100<<10)), do("get", "large"))
			b, other := f.batch(test.commands...), f.batch(do("set", "word", "v"), do("get", "word"))
			f.server.RunTogether([]*wire.Batch{other, b})
			if got := answers(b); b.Done != test.done || test.want != "" && got != test.want {
				t.Errorf("%d were answered: %.80q, want %d: %q", b.Done, got, test.done, test.want)
			}
			if got := answers(other); got != "+OK $1 v " {
				t.Errorf("the other session was answered %q", got)
			}
			f.audit()
		})
	}
}

// TestTogetherWaitsForNoDisk: what is acknowledged only when it is on disk is not run
// together, nor is a write while the store lets writers wait.
func TestTogetherWaitsForNoDisk(t *testing.T) {
	f := start(t, options{table: durable(databases(1))})
	f.client().do("set", "k", "1")
	b := f.batch(do("get", "k"))
	if f.server.RunTogether([]*wire.Batch{b}); b.Done != 0 || answers(b) != "" {
		t.Errorf("always: %d were answered: %s", b.Done, answers(b))
	}
	s := new(faulty)
	f = start(t, options{wrap: s.wrap})
	f.client().do("set", "k", "1")
	s.stalled.Store(true)
	b = f.batch(do("get", "k"), do("set", "k", "2"))
	if f.server.RunTogether([]*wire.Batch{b}); b.Done != 1 || answers(b) != "$1 1 " {
		t.Errorf("stalled: %d were answered: %s", b.Done, answers(b))
	}
}

// TestTogetherFails: an error of the storage is the answer to all whose effect is
// lost, in each session, and to nobody else. One that reads may not even notice.
func TestTogetherFails(t *testing.T) {
	s := new(faulty)
	f := start(t, options{wrap: s.wrap})
	f.client().pipeline(do("set", "a", "1"), do("set", "b", "1"), do("set", "c", "1"))
	version := f.version("a")
	s.apply.Store(&fault{err: errInjected})
	batches := []*wire.Batch{
		f.batch(do("get", "a"), do("set", "a", "2"), do("set", "cold", "2")),
		f.batch(do("get", "b")),
		f.batch(do("incr", "b"), do("incr", "b")),
	}
	f.server.RunTogether(batches)
	s.apply.Store(nil)
	for i, want := range []struct{ done, errors int }{{2, 2}, {1, 0}, {2, 2}} {
		b := batches[i]
		if got := strings.Count(answers(b), "-ERR the storage failed"); b.Done != want.done || got != want.errors {
			t.Errorf("batch %d: %d were answered, %d with an error, want %+v: %s", i, b.Done, got, want, answers(b))
		}
		for k := range b.Requests {
			if failed := b.Requests[k].Error != ""; failed != (want.errors > 0 && k < want.done) {
				t.Errorf("request %d of batch %d says %q", k, i, b.Requests[k].Error)
			}
		}
	}
	got := f.client().pipeline(do("mget", "a", "b", "c"), do("set", "a", "3"))
	if text(got[0]) != "[1 1 1]" || f.version("a") != version+1 {
		t.Errorf("afterwards there is %s, version %x after %x", text(got[0]), f.version("a"), version)
	}
}

// TestTogetherWaitsForNoLock: a session whose unit is held is left over, the others
// are not.
func TestTogetherWaitsForNoLock(t *testing.T) {
	s := new(faulty)
	f := start(t, options{wrap: s.wrap})
	f.gathered.off = true
	f.client().pipeline(do("set", "{x}1", "1"), do("set", "y", "1"))
	holding, release := make(chan struct{}), make(chan struct{})
	hook := func() {
		close(holding)
		<-release
	}
	s.beforeGet.Store(&hook)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f.client().do("append", "{x}cold", "1") // holds the unit while it reads below
	}()
	<-holding
	var late atomic.Bool
	timer := time.AfterFunc(timeout, func() {
		late.Store(true)
		close(release)
	})
	one, other := f.batch(do("get", "{x}1"), do("set", "{x}1", "2")), f.batch(do("set", "y", "2"))
	f.server.RunTogether([]*wire.Batch{one, other})
	if timer.Stop() {
		close(release)
	}
	<-ended
	got := fmt.Sprintf("late %v, answered %d and %d: %s; %s", late.Load(), one.Done, other.Done, answers(one), answers(other))
	if got != "late false, answered 1 and 1: $1 1 ; +OK " {
		t.Error(got)
	}
}

// TestLargeRepliesLeaveAtOnce: a large value is sent from where it lies, but not while
// something that was shown before it is not committed (I7).
func TestLargeRepliesLeaveAtOnce(t *testing.T) {
	large := strings.Repeat("x", 100<<10)
	for _, test := range []struct {
		name     string
		commands []cmd
		sent     int // replies that left before the run has ended
	}{
		{"alone", []cmd{do("get", "large")}, 1},
		{"behind reads", []cmd{do("exists", "large"), do("get", "large"), do("get", "large")}, 3},
		{"behind a write", []cmd{do("set", "k", "1"), do("get", "large"), do("get", "k")}, 0},
	} {
		for _, together := range []bool{true, false} {
			t.Run(fmt.Sprint(test.name, ", together ", together), func(t *testing.T) {
				f := start(t, options{memory: 256 << 20})
				f.client().pipeline(do("set", "k", "0"), do("set", "large", large), do("get", "large"))
				var conn eager
				b := f.batch(test.commands...)
				b.Out = resp.NewWriter(&conn, 2)
				if together {
					f.server.RunTogether([]*wire.Batch{b})
				} else if err := f.server.Run(t.Context(), b); err != nil {
					t.Fatal(err)
				}
				if b.Done != len(test.commands) {
					t.Fatalf("%d were answered", b.Done)
				}
				if left := len(test.commands) - test.sent; (b.Out.Pending() > 0) != (left > 0) || conn.Len() > 0 != (test.sent > 0) {
					t.Errorf("%d bytes were sent and %d are pending, want %d and %d replies", conn.Len(), b.Out.Pending(), test.sent, left)
				}
				if err := b.Out.Flush(); err != nil {
					t.Fatal(err)
				}
				if n := strings.Count(conn.String(), large); n != strings.Count(fmt.Sprint(test.commands), "[get large]") {
					t.Errorf("the value came %d times", n)
				}
			})
		}
	}
}

// eager takes everything at once.
type eager struct{ sink }

func (e *eager) TryWrite(p []byte) (int, error) { return e.Write(p) }

func (e *eager) TryWriteBuffers(pieces [][]byte) (int, error) {
	n, err := e.WriteBuffers(pieces)
	return int(n), err
}
