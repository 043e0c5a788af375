package session

import (
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tiergrid/tiergrid/node/command"
)

// Modes of a pause.
const (
	pauseNone int32 = iota
	pauseWrite
	pauseAll
)

// pause is CLIENT PAUSE: until its deadline, commands wait in a goroutine of
// their session.
type pause struct {
	mode    atomic.Int32 // pauseNone: the rest is not looked at
	waiting atomic.Int64 // sessions

	mu      sync.Mutex
	until   time.Time
	changed chan struct{} // closed when mode or until change
}

func (p *pause) active() bool { return p.mode.Load() != pauseNone }

// start begins a pause or prolongs one: the later end and the stricter mode
// count.
func (p *pause) start(mode int32, until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mode.Load() != pauseNone && time.Now().Before(p.until) {
		mode = max(mode, p.mode.Load())
		if until.Before(p.until) {
			until = p.until
		}
	}
	p.until = until
	p.mode.Store(mode)
	p.wake()
}

func (p *pause) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode.Store(pauseNone)
	p.wake()
}

// wake is called with mu locked.
func (p *pause) wake() {
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

// remaining returns the mode, how long it still holds, and what tells of a change
// before.
func (p *pause) remaining() (int32, time.Duration, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	left := time.Until(p.until)
	if left <= 0 {
		p.mode.Store(pauseNone)
	}
	if p.changed == nil {
		p.changed = make(chan struct{})
	}
	return p.mode.Load(), left, p.changed
}

// waitForPause waits until cmd may run; it must not if the session was killed
// meanwhile. Monitors never wait, as in Redis, where they count as replicas.
func (s *session) waitForPause(cmd *command.Command) {
	if s.outbox != nil {
		return
	}
	parked := false
	for {
		mode, left, changed := s.srv.pause.remaining()
		if mode == pauseNone || mode == pauseWrite && !s.writes(cmd) {
			return
		}
		if !parked {
			parked = true
			s.park(true)
			defer s.park(false)
		}
		s.sleep(left, changed)
		if s.ctx.Err() != nil {
			s.ending = true
			return
		}
	}
}

// park tells others that the session waits, after what it has answered was sent.
func (s *session) park(on bool) {
	s.mark(flagBlocked, on)
	if !on {
		s.srv.pause.waiting.Add(-1)
		return
	}
	s.srv.pause.waiting.Add(1)
	s.runData()
	s.flush()
}

func (s *session) sleep(d time.Duration, wake <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-wake:
	case <-s.ctx.Done():
	}
}

// writes reports whether a command may change data or what others see: for EXEC,
// whether one of the queued commands may.
func (s *session) writes(cmd *command.Command) bool {
	const writing = command.Write | command.MayReplicate
	if cmd == cmdExec && s.tx != nil {
		for i := range s.tx.queue {
			if s.tx.queue[i].cmd.Flags&writing != 0 {
				return true
			}
		}
	}
	return cmd.Flags&writing != 0
}

// longestPause is about 292 years, the longest time.Duration, in milliseconds.
const longestPause = int64(1<<63-1) / int64(time.Millisecond)

func (s *session) clientPause(args [][]byte) {
	mode := pauseAll
	if len(args) == 4 {
		switch {
		case fold(args[3], "write"):
			mode = pauseWrite
		case !fold(args[3], "all"):
			s.fail(command.ErrPauseMode)
			return
		}
	}
	ms, err := strconv.ParseInt(string(args[2]), 10, 64)
	switch {
	case len(args) > 4:
		s.fail(command.WrongSubcommandArity("client", "pause"))
	case err != nil || ms > longestPause:
		s.fail(command.ErrPauseTimeout)
	case ms < 0:
		s.fail(command.ErrNegativeTimeout)
	default:
		s.srv.pause.start(mode, time.Now().Add(time.Duration(ms)*time.Millisecond))
		s.ok()
	}
}

func (s *session) clientUnpause([][]byte) {
	s.srv.pause.stop()
	s.ok()
}
