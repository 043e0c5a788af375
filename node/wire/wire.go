// Package wire holds what passes between a proxy and a node: Batch, Request,
// Watch and Stats, as values of the in-process link and as the content of the
// frames of every other link. It computes nothing and imports leaves only, so
// that proxies and nodes share it without knowing each other.
package wire

import (
	"time"

	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/node/command"
	"github.com/tiergrid/tiergrid/node/resp"
)

// Request is one data command on its way to the grid.
type Request struct {
	Cmd  *command.Command
	Args [][]byte // Args[0] is the name of the command
	// Database is the number that the session had selected.
	Database int

	// Local, when set, is called in place of running a command: an answer that
	// the session itself gives within a transaction. It appends one reply.
	Local func(out *resp.Writer)

	// Elapsed is how long the command ran and Error the text of its reply if that
	// is an error; both are set by whoever runs the batch.
	Elapsed time.Duration
	Error   string
}

// Watch is what a session that WATCHes a key keeps of it (R24).
type Watch struct {
	Database int
	Cache    topology.CacheID
	Key      []byte
	// Version is that of the entry, or 0 where it was absent; Token then names
	// the registration at the primary. Epoch is the unit's.
	Version uint64
	Token   uint64
	Epoch   uint32
}

// Batch is what one session sends at once: commands that follow one another in
// its pipeline. It belongs to the session; nobody keeps anything of it once it
// was run.
type Batch struct {
	Requests []Request
	// Transaction says that the requests are one transaction: they are run as
	// one moment and one mutation for each unit, and answered by one array; or by
	// a null array when a watched key was touched.
	Transaction bool
	Watches     []Watch
	// Error, set by whoever runs it, is the one error that answers a transaction
	// which was not carried out.
	Error string
	// Done, set by whoever runs it, is how many of the requests were answered. It
	// is less than all only where the batch was run together with others.
	Done int
	// Table is the snapshot that the batch was routed by; the router sets it.
	Table *topology.Table
	// Out takes the replies, in order. Whoever runs the batch may flush it when
	// everything appended so far may be seen, and does so when it is Due.
	Out *resp.Writer
	// Origin names the client in the logs of the nodes.
	Origin string
}

// Stats are the figures of one node or of a whole grid. Sizes are in bytes,
// counts are since the start of each node.
type Stats struct {
	Keyspace []CacheStats

	MemoryMax, MemoryUsed            int64 // of the memory tiers
	MemoryEntries                    int64
	MemoryHits, MemoryMisses         int64
	MemoryEvicted, MemoryBypassed    int64
	DiskMax, DiskUsed, DiskAvailable int64
	// DiskFull says that writes are refused for lack of space.
	DiskFull bool

	KeyspaceHits, KeyspaceMisses int64
	ExpiredKeys                  int64
	CrossSlot                    int64 // commands whose keys lie in several slots
	WriteStalls                  int64
	LastSave                     time.Time // the last time everything was on disk
	// ClockAhead is how far the time that deadlines are held against is before
	// the wall clock, which was set back.
	ClockAhead time.Duration
}

// CacheStats are the figures of one cache.
type CacheStats struct {
	Name      string
	Database  int // topology.NoDatabase where SELECT does not reach it
	Entries   int64
	Deadlines int64 // entries with a TTL
	Bytes     int64 // of keys and payloads
}
