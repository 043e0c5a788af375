package session

import (
	"bytes"

	"github.com/tiergrid/tiergrid/node/command"
	"github.com/tiergrid/tiergrid/proxy/grid"
)

// watchList is what WATCH registered since the last EXEC, DISCARD or UNWATCH.
type watchList struct {
	list []grid.Watch
	size int
}

func (s *session) watch(args [][]byte) {
	if s.tx != nil {
		s.fail(command.ErrWatchInsideMulti)
		return
	}
	keys := args[1:]
	size := queuedSize(keys) + queuedOverhead*len(keys)
	if s.watches.size+size > s.srv.cfg.Limits.Transaction {
		s.fail(command.ErrWatchedTooLarge)
		return
	}
	copies := make([][]byte, len(keys))
	for i, k := range keys {
		copies[i] = bytes.Clone(k)
	}
	list, err := s.srv.grid.Watch(s.ctx, s.database, copies)
	if err != nil {
		s.fail(command.Failed(err))
		return
	}
	s.watches.list = append(s.watches.list, list...)
	s.watches.size += size
	s.ok()
}

func (s *session) unwatch() { s.watches = watchList{} }
