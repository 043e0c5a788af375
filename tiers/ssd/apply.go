package ssd

import (
	"fmt"
	"math/bits"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/tiergrid/tiergrid/tiers"
)

// Apply implements tiers.Tier: the batch is written to the log as one record
// and then visible. Without durable it reaches the disk by the log's own
// buffering, at the latest with the next Sync.
func (s *Store) Apply(b *tiers.Batch, durable bool) (ticket tiers.Ticket, err error) {
	if err := s.enter(); err != nil {
		return ticket, err
	}
	defer s.gate.leave()
	defer s.recovered(&err)
	batch := s.batches.get(s.db, b.Size)
	if err := fill(batch, b); err != nil {
		return ticket, err
	}
	s.space.written.Add(int64(batch.Len()))
	if durable {
		return s.applyDurable(batch)
	}
	if err := s.db.Apply(batch, pebble.NoSync); err != nil {
		return ticket, fmt.Errorf("ssd: write: %w", err)
	}
	s.batches.put(batch)
	return ticket, nil
}

func (s *Store) applyDurable(batch *pebble.Batch) (tiers.Ticket, error) {
	if err := s.db.ApplyNoSyncWait(batch, pebble.Sync); err != nil {
		return tiers.Ticket{}, fmt.Errorf("ssd: write: %w", err)
	}
	w := waits.Get().(*wait)
	w.store, w.batch = s, batch
	return tiers.NewTicket(w), nil
}

func fill(batch *pebble.Batch, b *tiers.Batch) error {
	var err error
	for i := range b.Ops {
		op := &b.Ops[i]
		switch op.Kind {
		case tiers.Set:
			err = batch.Set(op.Key, op.Value, nil)
		case tiers.Delete:
			err = batch.Delete(op.Key, nil)
		case tiers.DeleteRange:
			err = batch.DeleteRange(op.Key, op.Value, nil)
		default:
			panic(fmt.Sprintf("ssd: op %d of a batch has the unknown kind %d", i, op.Kind))
		}
		if err != nil {
			return fmt.Errorf("ssd: op %d of a batch: %w", i, err)
		}
	}
	return nil
}

// wait is the ticket of one durable batch.
type wait struct {
	store *Store
	batch *pebble.Batch
}

var waits = sync.Pool{New: func() any { return new(wait) }}

// Wait implements tiers.Waiter. An fsync that failed ends the store.
func (w *wait) Wait() error {
	s, batch := w.store, w.batch
	w.store, w.batch = nil, nil
	waits.Put(w)
	if err := batch.SyncWait(); err != nil {
		s.fail(fmt.Errorf("fsync: %w", err))
		return s.failure()
	}
	s.batches.put(batch)
	return nil
}

// batchPools keep batches, and with them their buffers, for reuse: the small
// and the large apart, so that a large value finds a large buffer.
type batchPools struct{ small, large sync.Pool }

const (
	smallBatch = 16 << 10
	// keptBatch is the largest buffer that is kept.
	keptBatch = 1 << 20
	// batchHeader is what a batch takes beside its ops.
	batchHeader = 64
)

func (p *batchPools) of(size int) *sync.Pool {
	if size <= smallBatch {
		return &p.small
	}
	return &p.large
}

func (p *batchPools) get(db *pebble.DB, size int) *pebble.Batch {
	size += batchHeader
	if batch, ok := p.of(size).Get().(*pebble.Batch); ok {
		return batch
	}
	// A power of two, because the batch rounds up to one itself, and would
	// throw a smaller buffer away.
	return db.NewBatchWithSize(max(1024, 1<<bits.Len(uint(size-1))), pebble.WithMaxRetainedSizeBytes(keptBatch))
}

// put takes a batch back. Very large ones have lost their buffer by then: the
// store keeps it in its queue, or Reset drops it.
func (p *batchPools) put(batch *pebble.Batch) {
	size := batch.Len()
	batch.Reset()
	p.of(size + batchHeader).Put(batch)
}
