package ssd

import (
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// separation says which values leave the tables for value files. The depth
// counts all value files that one table refers to; a table of handles refers
// to nearly all of them, so a small depth would make every compaction copy
// every value.
func (s *Store) separation() pebble.ValueSeparationPolicy {
	return pebble.ValueSeparationPolicy{
		Enabled:               true,
		MinimumSize:           4096,
		MaxBlobReferenceDepth: 4096,
		RewriteMinimumAge:     s.config.rewriteAge,
		TargetGarbageRatio:    s.space.garbageRatio(),
	}
}

// fileSizes ends where a table could no longer be rewritten in the reserve.
var fileSizes = [...]int64{2 << 20, 4 << 20, 8 << 20, 16 << 20, 32 << 20, 32 << 20, 32 << 20}

// profile compresses tables and leaves large values alone: those that would
// shrink are usually compressed by the client.
var profile = func() *sstable.CompressionProfile {
	p := *sstable.SnappyCompression
	p.Name = "TablesOnly"
	p.ValueBlocks = sstable.NoCompression.ValueBlocks
	return &p
}()

func (s *Store) options(c *Config, fs vfs.FS) *pebble.Options {
	o := &pebble.Options{
		FS:                          fs,
		FormatMajorVersion:          pebble.FormatNewest,
		CacheSize:                   c.cacheSize(),
		MemTableSize:                uint64(c.MemTable),
		MemTableStopWritesThreshold: c.MemTables,
		L0CompactionThreshold:       2,
		// Reads suffer from a deep L0, but stopping writers hurts more.
		L0StopWritesThreshold:      1000,
		LBaseMaxBytes:              64 << 20,
		TargetFileSizes:            fileSizes,
		MaxOpenFiles:               c.OpenFiles,
		CompactionConcurrencyRange: func() (int, int) { return 1, c.Compactions },
		BytesPerSync:               512 << 10,
		WALBytesPerSync:            512 << 10,
		// A range delete frees nothing before it is flushed.
		FlushDelayDeleteRange: 10 * time.Second,
		Logger:                &logger{s},
		EventListener:         s.listener(),
	}
	o.Experimental.ValueSeparationPolicy = s.separation
	for i := range o.Levels {
		o.Levels[i] = pebble.LevelOptions{
			BlockSize:    8 << 10,
			FilterPolicy: bloom.FilterPolicy(10),
			Compression:  func() *sstable.CompressionProfile { return profile },
		}
	}
	return o
}
