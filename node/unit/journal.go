package unit

import (
	"bytes"
	"context"
	"encoding/binary"
	"sync/atomic"

	"github.com/tiergrid/tiergrid/node/record"
	"github.com/tiergrid/tiergrid/tiers"
)

// journal numbers the rows that batches leave behind. Each row says, for every
// unit the batch touched, how far the unit has come; a unit's own position row
// follows later (savePositions), and then the journal rows before it are cut.
// A row gets its number while the locks of its units are held, so the rows of one
// unit are numbered in its order.
type journal struct {
	last atomic.Uint64
	cut  uint64 // rows up to here are gone; owned by savePositions
}

func (s *Set) recover() error {
	if err := s.eachRow(record.SpacePosition, s.recoverRow); err != nil {
		return err
	}
	err := s.eachRow(record.SpaceJournal, func(key, value []byte) error {
		if len(key) == 1+8 {
			s.journal.last.Store(binary.BigEndian.Uint64(key[1:]))
		}
		return s.recoverRow(key, value)
	})
	for _, held := range *s.groups.Load() {
		for _, u := range held {
			for i := range u.counters {
				s.totalsOf(u.counters[i].Cache).add(&u.counters[i].Counters)
			}
		}
	}
	return err
}

// recoverRow takes over what a row says of units that it is newer for.
func (s *Set) recoverRow(_, value []byte) error {
	return record.ParsePositions(value, func(p record.Position) {
		u := s.unitsOf(p.Group)[p.Partition%uint16(len(units{}))]
		if p.Version <= u.version {
			return
		}
		u.version = p.Version
		u.unsaved = true
		for i := range p.Caches {
			*u.counter(p.Caches[i].Cache) = p.Caches[i].Counters
		}
		s.notBefore(p.Now)
	})
}

// eachRow visits the rows of a space.
func (s *Set) eachRow(space byte, visit func(key, value []byte) error) error {
	iter, err := s.stack.NewIter([]byte{space}, []byte{space + 1})
	if err != nil {
		return err
	}
	for ok := iter.First(); ok && err == nil; ok = iter.Next() {
		var value []byte
		if value, err = iter.Value(); err == nil {
			err = visit(bytes.Clone(iter.Key()), value)
		}
	}
	if closeErr := iter.Close(); err == nil {
		err = closeErr
	}
	return err
}

// savePositions writes the position rows of the units that changed and cuts the
// journal. Rows numbered up to the cut belong to batches whose locks were held
// when the number was read, so the position of each of their units, read under
// its lock afterwards, covers them.
func (s *Set) savePositions(context.Context) {
	if s.journal.last.Load() == s.journal.cut {
		return
	}
	if err := s.savePositionsNow(); err != nil {
		s.config.Logger.Error("cannot save positions", "error", err)
	}
}

func (s *Set) savePositionsNow() error {
	cut := s.journal.last.Load()
	var batch tiers.Batch
	var saved []*Unit
	for _, held := range *s.groups.Load() {
		for _, u := range held {
			if row := u.saveRow(s.now.Load()); row != nil {
				batch.SetBelow(record.AppendPositionKey(nil, u.group, u.partition), row)
				saved = append(saved, u)
			}
		}
	}
	batch.DeleteRangeBelow([]byte{record.SpaceJournal}, record.AppendJournalKey(nil, cut+1))
	if _, err := s.stack.Apply(&batch, false); err != nil {
		for _, u := range saved {
			u.markUnsaved()
		}
		return err
	}
	s.journal.cut = cut
	s.unsynced.Store(true)
	return nil
}

// saveRow returns the unit's position row, or nil where the stored one holds.
func (u *Unit) saveRow(now int64) []byte {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.unsaved {
		return nil
	}
	u.unsaved = false
	return record.AppendPositions(nil, u.position(now))
}

func (u *Unit) markUnsaved() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.unsaved = true
}
