package session

import (
	"bytes"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tiergrid/tiergrid/node/command"
)

const (
	// What an entry of the slow log keeps of a command, as in Redis.
	slowArgs     = 32
	slowArgBytes = 128
	// maxSlowEntries bounds what CONFIG SET may ask for.
	maxSlowEntries = 1 << 20
	// slowDefaultCount is how many entries SLOWLOG GET returns.
	slowDefaultCount = 10
)

// slowLog keeps the latest commands that took long.
type slowLog struct {
	threshold atomic.Int64 // nanoseconds, negative for never
	most      atomic.Int64

	mu      sync.Mutex
	lastID  int64
	entries []slowEntry // the newest last
}

type slowEntry struct {
	id      int64
	at      int64 // Unix seconds
	elapsed time.Duration
	args    [][]byte
	addr    string
	name    string
}

func (l *slowLog) init(limits Limits) {
	l.threshold.Store(int64(limits.SlowerThan))
	l.most.Store(int64(limits.SlowEntries))
	l.lastID = -1
}

// slow reports whether a run of that length is to be kept.
func (l *slowLog) slow(elapsed time.Duration) bool {
	threshold := l.threshold.Load()
	return int64(elapsed) >= threshold && threshold >= 0
}

// logSlow keeps a command of the session.
func (s *session) logSlow(cmd *command.Command, args [][]byte, elapsed time.Duration) {
	if cmd.Flags&command.SkipSlowlog != 0 {
		return
	}
	s.srv.slow.add(slowEntry{
		at: time.Now().Unix(), elapsed: elapsed, args: shortened(public(cmd, args)), addr: s.addr, name: s.name(),
	})
}

// shortened copies what the slow log keeps of a command.
func shortened(args [][]byte) [][]byte {
	kept := make([][]byte, 0, min(len(args), slowArgs))
	for i, a := range args {
		switch {
		case i == slowArgs-1 && len(args) > slowArgs:
			return append(kept, append(append([]byte("... ("), strconv.Itoa(len(args)-i)...), " more arguments)"...))
		case len(a) > slowArgBytes:
			short := append([]byte(nil), a[:slowArgBytes]...)
			short = append(append(short, "... ("...), strconv.Itoa(len(a)-slowArgBytes)...)
			kept = append(kept, append(short, " more bytes)"...))
		default:
			kept = append(kept, bytes.Clone(a))
		}
	}
	return kept
}

func (l *slowLog) add(e slowEntry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lastID++
	e.id = l.lastID
	most := int(l.most.Load())
	if most == 0 {
		l.entries = nil
		return
	}
	if excess := len(l.entries) - most + 1; excess > 0 {
		l.entries = slices.Delete(l.entries, 0, excess)
	}
	l.entries = append(l.entries, e)
}

// get returns the n newest entries, the newest first; all with n = -1.
func (l *slowLog) get(n int64) []slowEntry {
	l.mu.Lock()
	defer l.mu.Unlock()
	most := min(int64(len(l.entries)), l.most.Load())
	if n < 0 || n > most {
		n = most
	}
	list := slices.Clone(l.entries[len(l.entries)-int(n):])
	slices.Reverse(list)
	return list
}

func (l *slowLog) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int(min(int64(len(l.entries)), l.most.Load()))
}

func (l *slowLog) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = nil
}

func (s *session) slowlogGet(args [][]byte) {
	count := int64(slowDefaultCount)
	if len(args) > 3 {
		s.fail(command.WrongSubcommandArity("slowlog", string(args[1])))
		return
	}
	if len(args) == 3 {
		n, err := strconv.ParseInt(string(args[2]), 10, 64)
		if err != nil || n < -1 {
			s.fail(command.ErrSlowlogCount)
			return
		}
		count = n
	}
	entries := s.srv.slow.get(count)
	s.out.Array(len(entries))
	for i := range entries {
		s.appendSlow(&entries[i])
	}
}

func (s *session) appendSlow(e *slowEntry) {
	s.out.Array(6)
	s.out.Int(e.id)
	s.out.Int(e.at)
	s.out.Int(e.elapsed.Microseconds())
	s.out.Array(len(e.args))
	for _, a := range e.args {
		s.out.Bulk(a)
	}
	s.out.BulkString(e.addr)
	s.out.BulkString(e.name)
}

func (s *session) slowlogLen([][]byte) { s.out.Int(int64(s.srv.slow.len())) }

func (s *session) slowlogReset([][]byte) {
	s.srv.slow.reset()
	s.ok()
}
