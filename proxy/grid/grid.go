// Package grid is the contract between the proxy and the storage behind it:
// Grid, Batch, Request, Watch and Stats. A driver implements Grid; grid/native
// stands before our own nodes.
//
// A Batch belongs to the session that made it until Run returns; a driver keeps
// nothing of it. A driver may be used by any number of sessions at once.
package grid

import (
	"context"
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

	// Elapsed is how long the command ran and Failed that its reply is an error;
	// both are set by Run.
	Elapsed time.Duration
	Failed  bool
}

// Watch is what a session that WATCHes a key keeps of it (R24).
type Watch struct {
	Cache topology.CacheID
	Key   []byte
	// Version is that of the entry, or 0 where it was absent; Token then names
	// the registration at the primary. Epoch is the unit's.
	Version uint64
	Token   uint64
	Epoch   uint32
}

// Batch is what one session sends at once: commands that follow one another in
// its pipeline.
type Batch struct {
	Requests []Request
	// Transaction says that the requests are one transaction: they are run as
	// one moment and one mutation for each unit, and answered by one array; or by
	// a null array when a watched key was touched.
	Transaction bool
	Watches     []Watch
	// Out takes the replies, in order. Run may flush it whenever everything
	// appended so far may be seen, and does so when it is Due.
	Out *resp.Writer
	// Origin names the client in the logs of the nodes.
	Origin string
}

// Grid is the storage as a proxy sees it.
type Grid interface {
	// Run runs a batch in order and appends one reply for each request (for a
	// transaction: one for all) to its Out. Errors of commands are replies. Run
	// returns an error only if the connection of Out broke, in which case the
	// session ends. When it returns, every reply appended may be seen.
	Run(ctx context.Context, b *Batch) error
	// Watch registers keys of a database and returns what EXEC compares.
	Watch(ctx context.Context, database int, keys [][]byte) ([]Watch, error)
	// SwapDatabases exchanges two database numbers everywhere.
	SwapDatabases(ctx context.Context, a, b int) error
	// Stats is at most one second old.
	Stats(ctx context.Context) (Stats, error)
	// Table is the current snapshot.
	Table() *topology.Table
	// Ready is nil when commands can be served, and says why not otherwise.
	Ready() error
}

// Stats are the figures of the whole grid that INFO and the console show. Sizes
// are in bytes, counts are since the start of each node.
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
}

// CacheStats are the figures of one cache.
type CacheStats struct {
	Name      string
	Database  int // topology.NoDatabase where SELECT does not reach it
	Entries   int64
	Deadlines int64 // entries with a TTL
	Bytes     int64 // of keys and payloads
}
