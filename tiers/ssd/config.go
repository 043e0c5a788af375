package ssd

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sys/unix"
)

// ExitCode is the exit code of a process whose store failed.
const ExitCode = 71

// Config says where a store stands and what it may use. Zero fields get the
// defaults named.
type Config struct {
	// Dir is the store's directory. It is created if its parent exists or can
	// be made; it must be empty or hold a store of ours.
	Dir string
	// MaxSize is what the store may take on disk, dead space that compactions
	// have not reclaimed yet and logs included: up to a half more than the live
	// data, about a twentieth once it is full. The ballast comes on top. Zero:
	// no limit but the file system's.
	MaxSize int64

	// MemTable is the size of one memtable, default 32 MiB. Larger means fewer,
	// larger value files and less rewriting of small rows; up to MemTables of
	// them stand in memory, and about one more in the log's buffers when
	// writers outrun the disk. Measured with 120 kB values as fast as the disk
	// takes them: 4 of 32 MiB make a process of at most 235 MB, 2 of 64 MiB
	// one of 310 MB, with speeds that differ less than the runs do.
	MemTable int64
	// MemTables is how many memtables may wait for their flush before writers
	// have to, default 4.
	MemTables int
	// BlockCache holds index, filter and small-value blocks, default 32 MiB beside
	// two memtables. More memtables take from it, fewer leave it more. Large values
	// and hot rows belong to the memory tier and the page cache.
	BlockCache int64
	// OpenFiles bounds the table and value files kept open, default a quarter
	// of the process's limit, at most 16,384.
	OpenFiles int
	// Compactions is how many compactions run at the same time at most,
	// default 2: more would take the CPU from requests.
	Compactions int
	// Reserve is the free space of the file system below which growth is
	// refused, default (MemTables + 3) · MemTable: everything accepted can
	// then be flushed.
	Reserve int64
	// Ballast is the size of the file that is given up when the disk is full
	// in spite of the reserve, default 2 · MemTable. It comes back when the
	// reserve is free again, which it may then reduce by its own size until
	// more is free. Negative: none.
	Ballast int64
	// Poll is how often the space is looked at, default 250 ms.
	Poll time.Duration
	// SlowDisk is how long one disk operation may take before an event tells,
	// default 1 s.
	SlowDisk time.Duration

	// Logger gets the store's and Pebble's messages. Nil: slog.Default.
	Logger *slog.Logger
	// OnEvent is told what happens inside. Nil: nobody. See the package
	// comment for what it may not do.
	OnEvent func(Event)
	// OnFatal is called once when the store cannot continue, and must end the
	// process. If it returns, as in tests, the store refuses every call.
	// Nil: exit with ExitCode.
	OnFatal func(error)

	// FS replaces the file system in tests, see InMemory.
	FS vfs.FS

	// rewriteAge is how old a value file must be to be rewritten: what was
	// just written is often overwritten soon. A full store can't wait long.
	rewriteAge time.Duration
}

// slack is how much better than its limit a figure must be before growth is
// accepted again.
func (c *Config) slack() int64 { return c.MemTable / 8 }

// cacheSize is what Pebble calls the size of its cache: it takes the memtables out of
// it, and a cache no larger than these would hold no block at all. Two of them are
// there nearly always, the others only while flushes are behind.
func (c *Config) cacheSize() int64 { return c.BlockCache + 2*c.MemTable }

// InMemory returns an empty file system in memory, for tests that need a store
// and no disk. A store closed on it can be opened on it again.
func InMemory() vfs.FS { return vfs.NewMem() }

func (c *Config) setDefaults() {
	def(&c.MemTable, 32<<20)
	def(&c.MemTables, 4)
	def(&c.BlockCache, 32<<20)
	def(&c.OpenFiles, openFiles())
	def(&c.Compactions, 2)
	def(&c.Reserve, int64(c.MemTables+3)*c.MemTable)
	def(&c.Ballast, 2*c.MemTable)
	def(&c.Poll, 250*time.Millisecond)
	def(&c.SlowDisk, time.Second)
	def(&c.rewriteAge, 5*time.Second)
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.OnEvent == nil {
		c.OnEvent = func(Event) {}
	}
	if c.OnFatal == nil {
		c.OnFatal = exit
	}
}

func def[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Validate reports unusable values. Zero fields are usable.
func (c *Config) Validate() error {
	switch {
	case c.Dir == "":
		return errors.New("ssd: no directory is given")
	case c.MaxSize < 0 || c.MemTable < 0 || c.BlockCache < 0 || c.Reserve < 0:
		return errors.New("ssd: sizes must not be negative")
	case c.MemTable != 0 && (c.MemTable < 1<<20 || c.MemTable > 2<<30):
		return fmt.Errorf("ssd: a memtable of %d bytes is outside of 1 MiB to 2 GiB", c.MemTable)
	case c.MemTables != 0 && c.MemTables < 2:
		return fmt.Errorf("ssd: %d memtables would stop writers at every flush, use 2 or more", c.MemTables)
	}
	return nil
}

// openFiles leaves most of the process's file descriptors to clients.
func openFiles() int {
	const most, least = 16384, 256
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return least
	}
	return int(max(least, min(most, limit.Cur/4)))
}

// exit ends the process. The reason was logged.
func exit(error) { osExit(ExitCode) }
