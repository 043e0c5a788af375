package ssd

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

var osExit = os.Exit

// EventKind names a kind of event, in words fit for a log line.
type EventKind string

// The kinds of events.
const (
	BackgroundError EventKind = "background error" // a flush or compaction failed and is tried again
	Corruption      EventKind = "damaged block"    // a read met damage on disk
	SlowDisk        EventKind = "slow disk"        // one disk operation is taking long
	StallBegin      EventKind = "writes stalled"   // writers wait for flush or compaction
	StallEnd        EventKind = "writes resumed"   // they no longer do
	DiskFull        EventKind = "disk full"        // the ballast was given up
	Refusing        EventKind = "refusing growth"  // Room began to return ErrFull
	Accepting       EventKind = "accepting growth" // it no longer does
	Failed          EventKind = "store failed"     // OnFatal follows
)

// Event is one thing that happened inside a store.
type Event struct {
	Kind   EventKind
	Path   string        // the file concerned, if one is
	Took   time.Duration // how long it has taken so far, if it takes time
	Reason string        // more in words
	Err    error         // the error, if it is one
}

// String is the event as a log line.
func (e Event) String() string {
	var b strings.Builder
	b.WriteString(string(e.Kind))
	if e.Path != "" {
		fmt.Fprintf(&b, " %s", e.Path)
	}
	if e.Took != 0 {
		fmt.Fprintf(&b, " after %v", e.Took)
	}
	if e.Reason != "" {
		fmt.Fprintf(&b, ": %s", e.Reason)
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

// counters count events since the opening.
type counters struct {
	stalls, slow, errors, corruptions atomic.Int64
	stalled                           atomic.Bool // writers wait now
	lines                             throttle
}

// throttle lets one log line per second through; Pebble repeats failing work
// without a pause.
type throttle struct {
	last    atomic.Int64
	dropped atomic.Int64
}

func (t *throttle) pass(now time.Time) (dropped int64, ok bool) {
	last := t.last.Load()
	if now.UnixNano()-last < int64(time.Second) || !t.last.CompareAndSwap(last, now.UnixNano()) {
		t.dropped.Add(1)
		return 0, false
	}
	return t.dropped.Swap(0), true
}

// warn counts, logs and reports an event of trouble.
func (s *Store) warn(counter *atomic.Int64, e Event) {
	counter.Add(1)
	if dropped, ok := s.events.lines.pass(time.Now()); ok {
		s.config.Logger.Warn(e.String(), "store", s.dir.path, "dropped_lines", dropped)
	}
	s.config.OnEvent(e)
}

func (s *Store) listener() *pebble.EventListener {
	return &pebble.EventListener{
		BackgroundError: func(err error) {
			s.warn(&s.events.errors, Event{Kind: BackgroundError, Err: err})
		},
		DataCorruption: func(info pebble.DataCorruptionInfo) {
			s.warn(&s.events.corruptions, Event{Kind: Corruption, Path: info.Path, Err: info.Details})
		},
		DiskSlow: func(info vfs.DiskSlowInfo) { s.diskSlow(info) },
		WriteStallBegin: func(info pebble.WriteStallBeginInfo) {
			s.events.stalls.Add(1)
			s.events.stalled.Store(true)
			s.config.OnEvent(Event{Kind: StallBegin, Reason: info.Reason})
		},
		WriteStallEnd: func() {
			s.events.stalled.Store(false)
			s.config.OnEvent(Event{Kind: StallEnd})
		},
		WALCreated: s.space.logs.created,
		WALDeleted: s.space.logs.deleted,
	}
}

func (s *Store) diskSlow(info vfs.DiskSlowInfo) {
	s.warn(&s.events.slow, Event{Kind: SlowDisk, Path: info.Path, Took: info.Duration, Reason: info.OpType.String()})
}

// logger is Pebble's logger.
type logger struct{ s *Store }

// Infof implements pebble.Logger.
func (l *logger) Infof(format string, args ...any) {
	l.s.config.Logger.Debug(fmt.Sprintf(format, args...), "store", l.s.dir.path)
}

// Errorf implements pebble.Logger.
func (l *logger) Errorf(format string, args ...any) {
	if dropped, ok := l.s.events.lines.pass(time.Now()); ok {
		l.s.config.Logger.Error(fmt.Sprintf(format, args...), "store", l.s.dir.path, "dropped_lines", dropped)
	}
}

// Fatalf implements pebble.Logger. Pebble calls it where it cannot go on.
func (l *logger) Fatalf(format string, args ...any) { l.s.fail(fmt.Errorf(format, args...)) }
