package ssd

import (
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
)

// odds follows how many of the last lookups found no row, as a moving average in
// parts of oddsOne. When a store is being filled that is nearly all of them, and then
// it pays to ask the filters of the bottom level, which Pebble's Get never does: it
// reads a block of the level for each key that is not there. Where most keys are
// there, reading that block at once is cheaper.
type odds struct{ absent atomic.Int32 }

const (
	oddsOne  = 1 << 12
	oddsPace = 64 // of the last lookups count most
)

// found counts one lookup. Two at the same time may count as one.
func (o *odds) found(found bool) {
	absent := o.absent.Load()
	if found {
		o.absent.Store(absent - absent/oddsPace)
		return
	}
	o.absent.Store(absent + (oddsOne-absent)/oddsPace)
}

func (o *odds) mostlyAbsent() bool { return o.absent.Load() > oddsOne/2 }

// getFiltered is get for a key that is probably not there.
func (s *Store) getFiltered(key []byte, fn func(value []byte)) (bool, error) {
	bound := append(append(make([]byte, 0, len(key)+1), key...), 0)
	iter, err := s.db.NewIter(&pebble.IterOptions{LowerBound: key, UpperBound: bound, UseL6Filters: true})
	if err != nil {
		return false, s.readError(key, err)
	}
	found := iter.SeekPrefixGE(key)
	var value []byte
	if found {
		value, err = iter.ValueAndErr()
	} else {
		err = iter.Error()
	}
	if err == nil {
		s.odds.found(found)
		s.count(found)
	}
	if found && err == nil {
		fn(value)
	}
	if closed := iter.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return false, s.readError(key, err)
	}
	return found, nil
}

// count counts a lookup that did not fail.
func (s *Store) count(found bool) {
	if found {
		s.hits.Add(1)
		return
	}
	s.misses.Add(1)
}
