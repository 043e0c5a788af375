package tiers

import "errors"

// Errors of all tiers. Implementations wrap them with the place and the values.
var (
	// ErrClosed is returned by every call after Close has begun.
	ErrClosed = errors.New("the tier is closed")
	// ErrFull is returned by Store.Room when growth is refused, by max-size or
	// because the file system is nearly full. Reads and deletes still work.
	ErrFull = errors.New("the store is full")
	// ErrFailed is returned by a store that met an error it cannot continue
	// from (a failed write or fsync). Only a new process may go on.
	ErrFailed = errors.New("the store has failed")
	// ErrLocked is returned by the opening of a store that another process,
	// or another store of this process, has open.
	ErrLocked = errors.New("the data directory is in use")
	// ErrForeign is returned by the opening of a directory that holds
	// something else than a store of ours.
	ErrForeign = errors.New("the directory holds foreign files")
	// ErrDamaged is returned by the opening of a store that cannot be read.
	ErrDamaged = errors.New("the store is damaged")
	// ErrFormat is returned by the opening of a store written by a newer
	// version of the program.
	ErrFormat = errors.New("the store has an unknown format")
)

// Tier stores rows by key. A tier that is not a Store may forget any row at any
// time, and says so only by not finding it; it never returns an older value
// than the last one applied to it.
type Tier interface {
	// Get calls fn once with a view of the row's value if the tier holds it,
	// and reports whether it did. The view is valid only during the call and
	// must not be changed; fn must only copy, decode, or write it somewhere without
	// waiting: it may run under a lock of the tier, so it must not block or call
	// back into any tier.
	Get(key []byte, fn func(value []byte)) (found bool, err error)

	// Apply makes the changes of b, in order, and visible. It keeps nothing of
	// the caller's memory. If durable, the returned ticket's Wait returns when
	// the batch will survive a power loss. After an error nothing was applied,
	// or the tier has failed for good.
	Apply(b *Batch, durable bool) (Ticket, error)

	// Stats returns the tier's figures. It may take a lock for some
	// microseconds: call it some times a second, not per request.
	Stats() Stats

	// Close waits for calls under way and releases everything.
	Close() error
}

// Store is a complete, ordered, durable tier: the bottom of every stack.
type Store interface {
	Tier

	// NewIter returns an iterator over the rows in [lower, upper) as they are
	// now. Empty bounds are open. The bounds are copied.
	NewIter(lower, upper []byte) (Iter, error)

	// Sync returns when everything applied before the call will survive a
	// power loss.
	Sync() error

	// Room returns nil if the store can take n more bytes of growth, otherwise
	// an ErrFull that says why. It does no I/O. Writers call it before they
	// order a change that grows; deletes are never asked.
	Room(n int) error

	// Stalled reports whether Apply would have to wait now, because flush or
	// compaction is behind.
	Stalled() bool
}

// Iter walks over rows in key order. It begins before the first row. It must
// live shortly (milliseconds): while open it pins memory and disk space that
// newer writes have replaced, and Close of its store waits for it.
type Iter interface {
	// First moves to the first row and reports whether there is one.
	First() bool
	// Seek moves to the first row at or after key.
	Seek(key []byte) bool
	// Next moves to the next row. Before any First or Seek it is First.
	Next() bool
	// Valid reports whether the iterator stands on a row.
	Valid() bool
	// Key is the current row's key, valid until the next move.
	Key() []byte
	// Value reads the current row's value, valid until the next move. Values
	// are fetched only here, so a walk over keys alone is cheap.
	Value() ([]byte, error)
	// Error is the error that ended the walk, if one did.
	Error() error
	// Close releases the iterator, which must not be used afterwards, and
	// returns Error.
	Close() error
}

// Stats are the figures of one tier. Fields that mean nothing to a tier are
// zero. Counters start at the opening.
type Stats struct {
	Entries   int64 // rows held (memory)
	Bytes     int64 // bytes in use, everything included
	MaxBytes  int64 // configured max-size
	Hits      int64 // reads that found the row
	Misses    int64 // reads that did not
	Evictions int64 // rows dropped for space (memory)
	Bypass    int64 // rows too large for this tier: `memory_bypass`

	FreeBytes   int64 // free space of the file system (ssd)
	Full        bool  // growth is being refused (ssd)
	Refusals    int64 // calls of Room that returned ErrFull (ssd)
	Stalls      int64 // times writes had to wait for flush or compaction (ssd)
	SlowOps     int64 // disk operations far slower than usual (ssd)
	Errors      int64 // background errors (ssd)
	Corruptions int64 // damaged blocks met by reads (ssd)
	FileBytes   int64 // tables and value files (ssd)
	LogBytes    int64 // write-ahead log (ssd)
	HeapBytes   int64 // memory held outside the Go heap's view: memtables and block cache (ssd)
	Debt        int64 // bytes that compactions still have to move (ssd)
}

// Waiter is what a tier puts into a Ticket.
type Waiter interface {
	// Wait returns when the batch is durable. It is called at most once.
	Wait() error
}

// Ticket stands for the durability of one applied batch. The zero value has
// nothing to wait for.
type Ticket struct{ w Waiter }

// NewTicket returns a ticket that waits for w.
func NewTicket(w Waiter) Ticket { return Ticket{w} }

// Pending reports whether Wait may block.
func (t Ticket) Pending() bool { return t.w != nil }

// Wait returns when the batch is durable. It must be called exactly once, and
// for one copy of the ticket only, from any goroutine: the waiter behind it
// goes back to a pool.
func (t Ticket) Wait() error {
	if t.w == nil {
		return nil
	}
	return t.w.Wait()
}
