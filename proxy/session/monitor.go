package session

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/tiergrid/tiergrid/node/command"
	"github.com/tiergrid/tiergrid/node/resp"
)

// monitorSet are the sessions that MONITOR.
type monitorSet struct {
	n  atomic.Int32
	mu sync.Mutex
	// outboxes is replaced, never changed, so that it can be used unlocked.
	outboxes []*outbox
}

// any is all that it costs when nobody monitors.
func (m *monitorSet) any() bool { return m.n.Load() > 0 }

func (m *monitorSet) count() int { return int(m.n.Load()) }

// add registers o. greet queues what comes before everything that is shown; once
// the client has it, nothing that others do is missed.
func (m *monitorSet) add(o *outbox, greet func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.outboxes = append(append([]*outbox(nil), m.outboxes...), o)
	m.n.Store(int32(len(m.outboxes)))
	greet()
}

func (m *monitorSet) remove(o *outbox) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var rest []*outbox
	for _, other := range m.outboxes {
		if other != o {
			rest = append(rest, other)
		}
	}
	m.outboxes = rest
	m.n.Store(int32(len(rest)))
}

func (m *monitorSet) list() []*outbox {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.outboxes
}

// monitor makes the session one that is shown what others do.
func (s *session) monitor([][]byte) {
	switch {
	case s.inExec:
		s.fail(command.ErrMonitorQueued)
		return
	case s.outbox != nil:
		return // as in Redis, a second MONITOR has no reply
	}
	s.flush()
	stats := &s.srv.stats
	s.outbox = newOutbox(s.conn, &s.srv.cfg.Limits,
		func() { stats.laggards.Add(1) }, func(n int64) { stats.bytesOut.Add(n) })
	s.redirect(s.outbox)
	s.mark(flagMonitor, true)
	s.srv.monitors.add(s.outbox, func() {
		s.ok()
		s.flush()
	})
}

// stopMonitoring ends MONITOR; what was shown so far is still written.
func (s *session) stopMonitoring() {
	if s.outbox == nil {
		return
	}
	s.srv.monitors.remove(s.outbox)
	s.flush()
	if s.srv.draining() {
		s.outbox.hurry(lingerTime)
	}
	s.outbox.close()
	s.outbox = nil
	s.mark(flagMonitor, false)
	s.redirect(nil)
}

// redirect makes replies go to an outbox, or to the connection with nil.
func (s *session) redirect(to *outbox) {
	proto := s.out.Proto()
	s.out.Reset()
	s.sent = 0
	if to == nil {
		s.out = s.newWriter(proto)
	} else {
		s.out = resp.NewWriter(to, proto)
	}
	s.out.Discard(s.mute)
	if s.work != nil {
		s.work.batch.Out = s.out
	}
}

// showMonitors shows a command that ran to all monitors. Those for operators and
// those that say so are not shown. A monitor's own command is shown after its
// reply.
func (s *session) showMonitors(cmd *command.Command, args [][]byte, database int) {
	if cmd.Flags&(command.SkipMonitor|command.Admin) != 0 {
		return
	}
	if s.outbox != nil {
		if s.ending {
			return
		}
		s.flush()
	}
	line := s.monitorLine(public(cmd, args), database)
	for _, o := range s.srv.monitors.list() {
		if !o.put(line) {
			s.srv.monitors.remove(o)
		}
	}
}

// monitorLine is a status reply with time, database, address and words.
func (s *session) monitorLine(args [][]byte, database int) []byte {
	size := 64 + len(s.addr)
	for _, a := range args {
		size += len(a) + 3
	}
	line := make([]byte, 0, size)
	line = append(line, '+')
	line = appendMicros(line, time.Now())
	line = append(line, " ["...)
	line = appendInt(line, database)
	line = append(append(append(line, ' '), s.addr...), ']')
	for _, a := range args {
		line = appendQuoted(append(line, ' '), a)
	}
	return append(line, "\r\n"...)
}

// appendMicros appends seconds and microseconds since 1970.
func appendMicros(dst []byte, t time.Time) []byte {
	dst = append(appendInt(dst, int(t.Unix())), '.')
	micros := t.Nanosecond() / 1000
	for unit := 100_000; unit > 0; unit /= 10 {
		dst = append(dst, '0'+byte(micros/unit%10))
	}
	return dst
}

// appendQuoted appends b between quotes, with escapes for what is not printable
// ASCII.
func appendQuoted(dst, b []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for _, c := range b {
		switch c {
		case '\\', '"':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\a':
			dst = append(dst, '\\', 'a')
		case '\b':
			dst = append(dst, '\\', 'b')
		default:
			if c < ' ' || c > '~' {
				dst = append(dst, '\\', 'x', hex[c>>4], hex[c&15])
			} else {
				dst = append(dst, c)
			}
		}
	}
	return append(dst, '"')
}
