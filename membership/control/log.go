package control

import "context"

// log puts entries in one order, makes them durable and hands each to the
// machine, in that order and once in the life of the process. Control knows no
// more of it than this, so consensus can take the place of the local file: its
// apply callback calls machine.apply on every member, its snapshots are the
// machine's, and propose answers when the entry is applied on this member.
type log interface {
	// propose returns when the entry is durable and applied here, with the index
	// it has or, for one that changes nothing, the index at which that was found.
	// Refused entries come back as the machine's error. An error that says
	// ErrLogFailed, or ctx's, leaves the outcome unknown.
	propose(ctx context.Context, entry []byte) (uint64, error)
	// failed is closed when the log cannot go on.
	failed() <-chan struct{}
	stats() LogStats
	close() error
}

// machine is the state that a log drives. Its methods are called one at a time.
type machine interface {
	// check tells what apply would answer now, and whether anything would change.
	check(entry []byte) (changed bool, err error)
	apply(entry []byte) error
	// index is that of the last entry applied, the snapshot's included.
	index() uint64
	snapshot() []byte
	restore(snapshot []byte) error
}

// LogStats are gauges and counters of a log.
type LogStats struct {
	Index     uint64 // of the last entry
	Entries   int    // since the last snapshot
	Bytes     int64  // of the log file
	Snapshots uint64 // written since the start
	Torn      int64  // bytes of an unfinished entry that Open dropped
}
