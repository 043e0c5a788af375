package session

import (
	"time"

	"github.com/tiergrid/tiergrid/node/command"
	"github.com/tiergrid/tiergrid/proxy/grid"
)

// account counts one command that ran in a database, and shows it to SLOWLOG and
// MONITOR.
func (s *session) account(cmd *command.Command, args [][]byte, database int, elapsed time.Duration, failure string) {
	failed := int64(0)
	if failure != "" {
		failed = 1
		s.srv.stats.failure(failure)
	}
	s.srv.stats.ran(cmd, 1, elapsed, failed)
	if s.srv.slow.slow(elapsed) {
		s.logSlow(cmd, args, elapsed)
	}
	if s.srv.monitors.any() {
		s.showMonitors(cmd, args, database)
	}
}

// accountBatch counts data commands. Commands that follow one another and are the
// same are counted at once: the counters are shared by all sessions.
func (s *session) accountBatch(requests []grid.Request) {
	watching := s.srv.monitors.any()
	for len(requests) > 0 {
		cmd, n := requests[0].Cmd, 0
		elapsed, failed := time.Duration(0), int64(0)
		for n < len(requests) && requests[n].Cmd == cmd {
			r := &requests[n]
			n++
			elapsed += r.Elapsed
			if r.Error != "" {
				failed++
				s.srv.stats.failure(r.Error)
			}
			if s.srv.slow.slow(r.Elapsed) {
				s.logSlow(cmd, r.Args, r.Elapsed)
			}
			if watching {
				s.showMonitors(cmd, r.Args, r.Database)
			}
		}
		s.srv.stats.ran(cmd, int64(n), elapsed, failed)
		requests = requests[n:]
	}
}

// hidden is shown in place of passwords.
var hidden = []byte("(redacted)")

// public returns args without the passwords in them.
func public(cmd *command.Command, args [][]byte) [][]byte {
	switch cmd {
	case cmdAuth:
		return redacted(args, 1, len(args)-1)
	case cmdHello:
		for i := 2; i+2 < len(args); i++ {
			if fold(args[i], "auth") {
				return redacted(args, i+1, 2)
			}
			if fold(args[i], "setname") {
				i++
			}
		}
	}
	return args
}

// redacted returns a copy of args with n of them hidden.
func redacted(args [][]byte, from, n int) [][]byte {
	shown := append([][]byte(nil), args...)
	for i := from; i < from+n; i++ {
		shown[i] = hidden
	}
	return shown
}
