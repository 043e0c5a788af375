// Package memory is the memory tier: a bounded cache of rows over a store that
// keeps them all, built on freecache's rings.
//
// # Main types
//
// [Tier] implements tiers.Tier; [Config] says how large it may be. When it is
// full it drops what was not used for longest, approximately (*remove*): the
// rows are on SSD, so nothing needs to be written.
//
// # Limits
//
// MaxSize is the whole tier: rings and index, see sizing. A row over the entry
// limit (Limit) isn't held; setting it removes the older copy and counts as a
// bypass. The index has a bound of its own, because very small rows would make
// it larger than the rows: at the bound the oldest rows go, as when the rings
// are full.
//
// # Range deletes
//
// A cache can't find the keys of a range. So each memory key begins with the
// install number of its domain, a number that DeleteRange raises: all older
// rows of the domain are out of reach at once, and drop out as they age.
// The numbers are few, so a range delete may also drop rows outside of its
// range; that costs reads from SSD, never correctness.
//
// # Concurrency
//
// Every method may be called from any goroutine. A row is read and written
// under the lock of one of 256 segments.
//
// # What it does not do
//
// Nothing expires here (deadlines are in the records), nothing is told about
// evictions, and nothing is ever the only copy of a row.
package memory

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/coocood/freecache"

	"github.com/tiergrid/tiergrid/tiers"
)

// Config says how large the tier is and how keys are grouped for range deletes.
type Config struct {
	// MaxSize bounds the whole tier in bytes: rings and index. At least
	// MinSize. Rows of n bytes want at least 1200·n: the entry limit follows
	// from it.
	MaxSize int64
	// Domain says which keys are dropped together by a range delete: all keys
	// of one domain, when the range begins and ends in it, otherwise all keys.
	// It is also called with the ends of a range, which need not be row keys.
	// Nil: one domain.
	Domain func(rowKey []byte) uint32
	// Clock is a monotonic clock for the age of rows; tests set it. Nil: the
	// time since the start, read once per tick by a goroutine of the tier.
	Clock func() time.Duration
}

// MinSize is the smallest MaxSize.
const MinSize = 4 << 20

// Validate reports unusable values.
func (c *Config) Validate() error {
	if c.MaxSize < MinSize {
		return fmt.Errorf("memory: max-size %d is below the minimum of %d bytes", c.MaxSize, int64(MinSize))
	}
	return nil
}

// Tier is the memory tier.
type Tier struct {
	cache    *freecache.Cache
	size     sizing
	installs *installs
	clock    *clock
	closed   atomic.Bool

	bypass  atomic.Int64
	removed atomic.Int64 // rows that were there and were removed
	fill    filler
}

// New returns an empty tier.
func New(c Config) (*Tier, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	size := sizeFor(c.MaxSize)
	clock := newClock(c.Clock)
	t := &Tier{
		cache:    freecache.NewCacheCustomTimer(int(size.ring), clock),
		size:     size,
		installs: newInstalls(c.Domain),
		clock:    clock,
	}
	askForHugePages(t.cache)
	t.fill.init(size)
	return t, nil
}

// Limit is the largest sum of key and value length that a row may have to be
// held. Larger ones are counted as bypass.
func (t *Tier) Limit() int { return t.size.limit }

// Get implements tiers.Tier. fn runs under the lock of the key's segment.
func (t *Tier) Get(key []byte, fn func(value []byte)) (bool, error) {
	if t.closed.Load() {
		return false, tiers.ErrClosed
	}
	if len(key) > maxKey {
		return false, nil
	}
	var space [keySpace]byte
	err := t.cache.GetFn(t.installs.key(space[:0], key), func(value []byte) error {
		fn(value)
		return nil
	})
	if err == freecache.ErrNotFound {
		return false, nil
	}
	return err == nil, err
}

// Apply implements tiers.Tier; durable means nothing here.
func (t *Tier) Apply(b *tiers.Batch, _ bool) (tiers.Ticket, error) {
	if t.closed.Load() {
		return tiers.Ticket{}, tiers.ErrClosed
	}
	for i := range b.Ops {
		op := &b.Ops[i]
		switch {
		case op.Below:
		case op.Kind == tiers.DeleteRange:
			t.installs.raise(op.Key, op.Value)
		case op.Kind == tiers.Set:
			t.set(op.Key, op.Value)
		default:
			t.remove(op.Key)
		}
	}
	return tiers.Ticket{}, nil
}

// set puts the row in, or removes the older copy if the row is too large.
func (t *Tier) set(key, value []byte) {
	if len(key) > maxKey {
		t.bypass.Add(1)
		return
	}
	var space [keySpace]byte
	k := t.installs.key(space[:0], key)
	if len(k)+len(value) > t.size.limit {
		t.drop(k)
		t.bypass.Add(1)
		return
	}
	if err := t.cache.Set(k, value, 0); err != nil {
		// Only the size can be refused, and it was checked.
		panic(fmt.Sprintf("memory: a row of %d+%d bytes was refused: %v", len(k), len(value), err))
	}
	t.fill.wrote(t.cache, len(k)+len(value))
}

func (t *Tier) remove(key []byte) {
	if len(key) > maxKey {
		return
	}
	var space [keySpace]byte
	t.drop(t.installs.key(space[:0], key))
}

func (t *Tier) drop(memoryKey []byte) {
	if t.cache.Del(memoryKey) {
		t.removed.Add(1)
	}
}

// Stats implements tiers.Tier.
func (t *Tier) Stats() tiers.Stats {
	entries := t.cache.EntryCount()
	return tiers.Stats{
		Entries:   entries,
		Bytes:     t.fill.used(t.size) + entries*t.size.indexBytes(),
		MaxBytes:  t.size.max,
		Hits:      t.cache.HitCount(),
		Misses:    t.cache.MissCount(),
		Evictions: t.evictions(entries),
		Bypass:    t.bypass.Load(),
	}
}

// evictions is what became of all rows that were put in and are neither there
// nor were removed. (freecache's own count includes rows it moved instead of
// evicting them.) A row replaced by a longer value counts too.
func (t *Tier) evictions(entries int64) int64 {
	put := int64(t.fill.sets.Load()) - t.cache.OverwriteCount()
	return max(0, put-t.removed.Load()-entries)
}

// Close implements tiers.Tier. The memory itself goes with the last reference.
func (t *Tier) Close() error {
	if t.closed.Swap(true) {
		return tiers.ErrClosed
	}
	t.clock.stop()
	return nil
}

var _ tiers.Tier = (*Tier)(nil)
