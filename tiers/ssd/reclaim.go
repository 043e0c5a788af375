package ssd

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// reclaimer gets space back from when growth is refused until the limit is no
// longer near. Deleted and overwritten rows take space until a compaction
// meets what hides them, and a few flushed deletes are too small for Pebble to
// compact by itself. So one goroutine compacts the whole key space in rounds,
// a chunk after the other. What compactions leave in value files, Pebble
// rewrites by garbageRatio.
//
// Chunks are small, because the disk may have no more than the reserve left
// when they are rewritten. After each chunk it rests as long as that took, and
// after a round the longer the less was written since: the load is bounded,
// and nothing is done where nothing has changed.
type reclaimer struct {
	store  *Store
	cursor []byte // where the next round begins

	written int64 // space.written when the last whole round began
	ended   time.Time
	took    time.Duration
}

// reclaimRest is the least time between two rounds or failures.
const reclaimRest = time.Second

func newReclaimer(s *Store) *reclaimer { return &reclaimer{store: s, written: -1} }

// run ends with ctx.
func (r *reclaimer) run(ctx context.Context) {
	for rest(ctx, r.store.config.Poll) {
		if !r.needed() || !r.due() {
			continue
		}
		if err := r.round(ctx); err != nil && ctx.Err() == nil {
			r.store.warn(&r.store.events.errors, Event{Kind: BackgroundError, Reason: "reclaiming space", Err: err})
			rest(ctx, reclaimRest)
		}
	}
}

// rest waits; false if ctx ended.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

func (r *reclaimer) needed() bool {
	return r.store.space.pressing.Load() && r.store.failed.Load() == nil
}

// due reports whether a round is worth its load: after one hundredth of the
// tables' size was written at once, after less up to ten times later than the
// last round took.
func (r *reclaimer) due() bool {
	since := r.store.space.written.Load() - r.written
	if r.written < 0 || since == 0 {
		return r.written < 0
	}
	times := min(10, float64(r.store.space.last.Load().used.tables)/100/float64(since))
	return time.Since(r.ended) >= reclaimRest+time.Duration(times*float64(r.took))
}

// round flushes the deletes, which free nothing in a memtable, and compacts
// chunk after chunk. The next round goes on where this one was stopped.
func (r *reclaimer) round(ctx context.Context) error {
	began, written := time.Now(), r.store.space.written.Load()
	if err := r.flush(ctx); err != nil {
		return err
	}
	tables, err := r.store.db.SSTables()
	if err != nil {
		return err
	}
	for _, c := range rotate(chunks(tables, r.store.config.MemTable), r.cursor) {
		if !r.needed() {
			return nil
		}
		r.cursor = c.start
		if err := r.compact(ctx, c); err != nil {
			return err
		}
	}
	r.cursor = nil
	r.written, r.took, r.ended = written, time.Since(began), time.Now()
	return nil
}

func (r *reclaimer) flush(ctx context.Context) error {
	flushed, err := r.store.db.AsyncFlush()
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-flushed:
		return nil
	}
}

// compact rewrites a chunk if the disk can hold both forms of it, and rests.
func (r *reclaimer) compact(ctx context.Context, c chunk) error {
	free := r.store.space.last.Load().free
	if free != unknownSpace && free < 2*c.size {
		return nil
	}
	began := time.Now()
	if err := r.store.db.Compact(ctx, c.start, c.end, false); err != nil {
		return err
	}
	rest(ctx, time.Since(began))
	return ctx.Err()
}

// chunk is a part of the key space, both ends included, and about the size of
// the tables in it.
type chunk struct {
	start, end []byte
	size       int64
}

// chunks divides the key space so that the tables of each part take about size
// bytes. Parts in which only the bottom level has tables are left out: they
// hold no deletes, and nothing hides there.
func chunks(levels [][]pebble.SSTableInfo, size int64) []chunk {
	var all, upper []pebble.SSTableInfo
	for i, tables := range levels {
		all = append(all, tables...)
		if i < len(levels)-1 {
			upper = append(upper, tables...)
		}
	}
	parts := divide(all, size)
	return slices.DeleteFunc(parts, func(c chunk) bool {
		return !slices.ContainsFunc(upper, func(t pebble.SSTableInfo) bool {
			return bytes.Compare(t.Smallest.UserKey, c.end) <= 0 && bytes.Compare(t.Largest.UserKey, c.start) >= 0
		})
	})
}

func divide(tables []pebble.SSTableInfo, size int64) []chunk {
	slices.SortFunc(tables, func(a, b pebble.SSTableInfo) int {
		return bytes.Compare(a.Smallest.UserKey, b.Smallest.UserKey)
	})
	var parts []chunk
	var largest []byte
	for _, t := range tables {
		start := t.Smallest.UserKey
		last := len(parts) - 1
		if last < 0 || parts[last].size >= size && !bytes.Equal(parts[last].start, start) {
			if last >= 0 {
				parts[last].end = start
			}
			parts = append(parts, chunk{start: start})
			last++
		}
		parts[last].size += int64(t.Size)
		if bytes.Compare(t.Largest.UserKey, largest) > 0 {
			largest = t.Largest.UserKey
		}
	}
	if len(parts) > 0 {
		// The bound of a range delete is no key of the table, and a table of
		// one row needs an end behind it.
		parts[len(parts)-1].end = append(slices.Clone(largest), 0)
	}
	return parts
}

// rotate puts the chunks from the one at the cursor on before the others.
func rotate(parts []chunk, cursor []byte) []chunk {
	i := slices.IndexFunc(parts, func(c chunk) bool { return bytes.Compare(c.end, cursor) > 0 })
	if i <= 0 {
		return parts
	}
	return slices.Concat(parts[i:], parts[:i])
}
