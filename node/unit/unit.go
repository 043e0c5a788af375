package unit

import (
	"sync"
	"sync/atomic"

	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/node/record"
)

// Unit is one (placement group, partition) of which this node holds a copy.
type Unit struct {
	group     topology.GroupID
	partition uint16

	// epoch is that of the newest table this node has applied.
	epoch atomic.Uint32

	// mu is held by the Txn that writes to the unit, until its batch is applied.
	// While it is held nobody else orders a mutation of the unit.
	mu sync.Mutex

	// Guarded by mu.
	version  uint64 // of the last mutation that was applied
	counters []record.CacheCounters
	absent   absentWatches
	unsaved  bool // its position row is older than its last journal row

	// unsynced lists the keys whose mutations are applied but not on disk.
	unsynced unsyncedKeys
}

// before tells whether the lock of u comes before that of v.
func (u *Unit) before(v *Unit) bool {
	if u.group != v.group {
		return u.group < v.group
	}
	return u.partition < v.partition
}

// next is the version of the mutation after a given one. It starts a new epoch
// when the table has one, and never repeats (I11).
func (u *Unit) next(version uint64) uint64 {
	epoch := u.epoch.Load()
	if record.Epoch(version) < epoch {
		return record.Version(epoch, 1)
	}
	if record.Sequence(version) == record.MaxSequence {
		panic("unit: the sequences of an epoch are used up")
	}
	return version + 1
}

// counter returns the counters of a cache. The caller holds mu.
func (u *Unit) counter(cache topology.CacheID) *record.Counters {
	for i := range u.counters {
		if u.counters[i].Cache == cache {
			return &u.counters[i].Counters
		}
	}
	u.counters = append(u.counters, record.CacheCounters{Cache: cache})
	return &u.counters[len(u.counters)-1].Counters
}

// position is how far the unit has come. The caller holds mu; the counters
// alias the unit's.
func (u *Unit) position(now int64) record.Position {
	return record.Position{Group: u.group, Partition: u.partition, Version: u.version, Now: now, Caches: u.counters}
}
