package unit

import (
	"sync"
	"sync/atomic"

	"github.com/tiergrid/tiergrid/node/record"
)

// fsync is one batch on its way to disk. Its owner closes done once it is there,
// or once that has failed.
type fsync struct {
	done chan struct{}
	err  error // read after done
}

func (f *fsync) wait() error {
	<-f.done
	return f.err
}

// over tells whether there is nothing to wait for any more. Its owner strikes it
// off the lists after that.
func (f *fsync) over() bool {
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}

// unsyncedKeys lists the keys whose last mutation is applied but not on disk,
// with the fsync that each waits for. Keys are told apart by their hash alone: a
// collision makes a reader wait without need, and no more. Bounded by the batches
// that are under way, one for each session.
type unsyncedKeys struct {
	n  atomic.Int32 // of keys; zero lets readers pass without the lock
	mu sync.Mutex
	by map[uint64]*fsync
}

// wholeUnit stands for every key of a unit, in place of a key's hash, which is
// shorter.
const wholeUnit = ^uint64(0)

// add lists a key, and returns what it was listed for before. The caller holds
// the unit's lock, so batches come in order.
func (u *unsyncedKeys) add(hash uint64, f *fsync) (before *fsync) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.by == nil {
		u.by = make(map[uint64]*fsync)
	}
	before = u.by[hash]
	u.by[hash] = f
	u.n.Store(int32(len(u.by)))
	return before
}

// restore takes add back, for a batch that was not applied: the key is listed as
// it was before, unless that has reached the disk meanwhile. The caller holds the
// unit's lock still.
func (u *unsyncedKeys) restore(hash uint64, before *fsync) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if before != nil && !before.over() {
		u.by[hash] = before
		return
	}
	delete(u.by, hash)
	u.n.Store(int32(len(u.by)))
}

// remove strikes a key off, unless a later batch has listed it again.
func (u *unsyncedKeys) remove(hash uint64, f *fsync) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.by[hash] == f {
		delete(u.by, hash)
		u.n.Store(int32(len(u.by)))
	}
}

// of appends what a reply that looked at a key has to wait for.
func (u *unsyncedKeys) of(dst []*fsync, k *record.Key) []*fsync {
	if u.n.Load() == 0 {
		return dst
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, hash := range [...]uint64{k.Hash, wholeUnit} {
		if f := u.by[hash]; f != nil {
			dst = append(dst, f)
		}
	}
	return dst
}

// all returns everything that is under way, for replies that looked at the whole
// unit.
func (u *unsyncedKeys) all(dst []*fsync) []*fsync {
	if u.n.Load() == 0 {
		return dst
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, f := range u.by {
		dst = append(dst, f)
	}
	return dst
}
