package ssd

import (
	"fmt"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/tiergrid/tiergrid/tiers"
)

// iter is an open iterator. It stays inside the store's gate until closed.
type iter struct {
	store   *Store
	rows    *pebble.Iterator
	options pebble.IterOptions
	moved   bool
}

var iters = sync.Pool{New: func() any { return new(iter) }}

// NewIter implements tiers.Store.
func (s *Store) NewIter(lower, upper []byte) (tiers.Iter, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	it := iters.Get().(*iter)
	it.store = s
	it.options = pebble.IterOptions{LowerBound: bound(lower), UpperBound: bound(upper)}
	rows, err := s.db.NewIter(&it.options)
	if err != nil {
		s.gate.leave()
		return nil, fmt.Errorf("ssd: iterator: %w", err)
	}
	it.rows = rows
	return it, nil
}

// bound makes an empty bound open.
func bound(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}

func (it *iter) First() bool {
	it.moved = true
	return it.rows.First()
}

func (it *iter) Seek(key []byte) bool {
	it.moved = true
	return it.rows.SeekGE(key)
}

func (it *iter) Next() bool {
	if !it.moved {
		return it.First()
	}
	return it.rows.Next()
}

func (it *iter) Valid() bool { return it.moved && it.rows.Valid() }

func (it *iter) Key() []byte { return it.rows.Key() }

func (it *iter) Value() ([]byte, error) {
	value, err := it.rows.ValueAndErr()
	if err != nil {
		return nil, it.store.readError(it.rows.Key(), err)
	}
	return value, nil
}

func (it *iter) Error() error {
	if err := it.rows.Error(); err != nil {
		return fmt.Errorf("ssd: iterator: %w", err)
	}
	return nil
}

func (it *iter) Close() error {
	err := it.rows.Close()
	it.store.gate.leave()
	*it = iter{}
	iters.Put(it)
	if err != nil {
		return fmt.Errorf("ssd: iterator: %w", err)
	}
	return nil
}
