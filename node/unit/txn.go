package unit

import (
	"slices"

	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/node/record"
	"github.com/tiergrid/tiergrid/node/resp"
	"github.com/tiergrid/tiergrid/tiers"
)

// What a Txn collects at most before it should be committed.
const (
	maxBatchBytes = 1 << 20
	maxBatchOps   = 4096
)

// held is a unit whose lock a Txn holds.
type held struct {
	unit    *Unit
	version uint64 // of the last mutation in this Txn, or the unit's
	touched bool   // by the current command, which has one version
	written bool   // by any command of this Txn

	// before and writtenBefore are version and written as the current command
	// found them.
	before        uint64
	writtenBefore bool

	// by is how much the counters of each cache have changed.
	by []record.CacheCounters
}

// add counts a change of one cache, forwards or, with sign -1, back.
func (h *held) add(cache topology.CacheID, by *record.Counters, sign int64) {
	for i := range h.by {
		if h.by[i].Cache == cache {
			h.by[i].Add(by, sign)
			return
		}
	}
	h.by = append(h.by, record.CacheCounters{Cache: cache})
	h.by[len(h.by)-1].Add(by, sign)
}

// delta is a change of one cache's counters in one held unit.
type delta struct {
	held  int
	cache topology.CacheID
	by    record.Counters
}

// place is what a Txn knows of a cache.
type place struct {
	cache  *topology.Cache
	units  *units
	totals *Totals
}

// Txn is what a run of commands reads and writes through; it implements
// exec.View. It belongs to one goroutine, between Begin and End.
type Txn struct {
	set    *Set
	table  *topology.Table
	places []place

	held    []held
	ops     tiers.Batch
	arena   arena
	pending pendingEntries
	durable bool // a cache with durability always was written
	journal []byte
	changed []record.CacheCounters // scratch of the journal row
	waits   []*fsync               // to wait for before any reply so far may leave
	brisk   bool                   // nothing may be waited for; see Brisk
	commits int                    // that succeeded since Begin

	command commandState
	row     rowReader
	window  *resp.Buffer // what Range returned last lies in it
}

// commandState is what belongs to the command under way.
type commandState struct {
	now      int64
	writes   bool // it holds the locks of its keys and may change them
	atomic   bool // it is part of a transaction, so the Txn must not be committed
	observed []tiers.Token
	again    bool // what it saw was not one moment, or needs a change
	err      error
	sent     bool // its reply was written already
	waiting  bool // it needs something that has to be waited for, and the Txn is brisk
	alone    bool // it changed rows in a way later reads of this Txn cannot see

	ops, size, pending int // where the lists stood when it began
	arena              arenaMark
	deltas             []delta // its changes of counters
	hits, misses       int64
}

func newTxn(s *Set) *Txn {
	t := &Txn{set: s}
	t.row.bind()
	return t
}

// Begin returns a Txn that works by a table.
func (s *Set) Begin(table *topology.Table) *Txn {
	t := s.txns.Get().(*Txn)
	t.table = table
	t.commits = 0
	return t
}

// End gives the Txn back. What was not committed is dropped.
func (t *Txn) End() {
	t.release()
	t.arena.reset()
	t.window.Release()
	t.window = nil
	clear(t.places)
	t.places = t.places[:0]
	t.waits = t.waits[:0]
	t.table = nil
	t.brisk = false
	t.set.txns.Put(t)
}

// Now is the time of the current command.
func (t *Txn) Now() int64 { return t.command.now }

// place returns what is needed of a cache. The cache must be one of the table.
func (t *Txn) place(id topology.CacheID) *place {
	for i := range t.places {
		if t.places[i].cache.ID == id {
			return &t.places[i]
		}
	}
	cache := t.table.Cache(id)
	t.places = append(t.places, place{
		cache:  cache,
		units:  (*t.set.groups.Load())[cache.Group],
		totals: t.set.Totals(id),
	})
	return &t.places[len(t.places)-1]
}

// UnitOf is the unit that owns a key.
func (t *Txn) UnitOf(k *record.Key) *Unit {
	return t.place(k.Cache).units[topology.Partition(k.Slot)]
}

// UnitsOf appends all units of a cache.
func (t *Txn) UnitsOf(dst []*Unit, cache topology.CacheID) []*Unit {
	return append(dst, t.place(cache).units[:]...)
}

// Acquire takes the locks of units, beside those the Txn holds. When one of them
// is taken it commits what it has, so that it never waits while holding.
func (t *Txn) Acquire(wanted ...*Unit) error {
	if len(t.held) > 0 && t.tryAll(wanted) {
		return nil
	}
	if len(t.held) > 0 {
		if err := t.Commit(); err != nil {
			return err
		}
	}
	slices.SortFunc(wanted, func(a, b *Unit) int {
		switch {
		case a.before(b):
			return -1
		case b.before(a):
			return 1
		}
		return 0
	})
	for i, u := range wanted {
		if i == 0 || wanted[i-1] != u {
			u.mu.Lock()
			t.hold(u)
		}
	}
	return nil
}

// Brisk makes the Txn one that waits for nothing: neither for locks nor for the
// store's disk. Commands that would have to do not take place; see Waiting.
// It takes so little time that all of its commands have the same.
func (t *Txn) Brisk() {
	t.brisk = true
	t.command.now = t.set.Now()
}

// Waiting tells that the command that was just finished by an error, or by a read
// that was not one moment, needs to be run by a Txn that is not brisk.
func (t *Txn) Waiting() bool { return t.command.waiting }

// TryAcquire takes the locks of units, beside those the Txn holds, if it can do so
// without waiting. Otherwise it commits what it has, and tries once more.
func (t *Txn) TryAcquire(wanted ...*Unit) (bool, error) {
	if t.tryAll(wanted) {
		return true, nil
	}
	if err := t.Commit(); err != nil {
		return false, err
	}
	return t.tryAll(wanted), nil
}

// tryAll takes those locks that are free, and tells whether these were all.
func (t *Txn) tryAll(wanted []*Unit) bool {
	for _, u := range wanted {
		if t.holds(u) >= 0 {
			continue
		}
		if !u.mu.TryLock() {
			return false
		}
		t.hold(u)
	}
	return true
}

// hold notes a unit whose lock was just taken. It reuses what earlier ones left.
func (t *Txn) hold(u *Unit) {
	n := len(t.held)
	if n == cap(t.held) {
		t.held = append(t.held, held{})
	}
	t.held = t.held[:n+1]
	by := t.held[n].by[:0]
	t.held[n] = held{unit: u, version: u.version, by: by}
}

// holds returns the place of a unit among those held, or -1.
func (t *Txn) holds(u *Unit) int {
	for i := len(t.held) - 1; i >= 0; i-- {
		if t.held[i].unit == u {
			return i
		}
	}
	return -1
}

// Full tells that the Txn should be committed before another command.
func (t *Txn) Full() bool { return t.ops.Size >= maxBatchBytes || t.ops.Len() >= maxBatchOps }

// Size is how many bytes of rows wait to be committed.
func (t *Txn) Size() int { return t.ops.Size }

// Holding tells whether the Txn holds locks, so that it must be committed before
// anything that may take long.
func (t *Txn) Holding() bool { return len(t.held) > 0 }

// Commits is how often the Txn was committed since Begin, by Acquire or by its
// owner: the replies before the last time may leave whatever happens later.
func (t *Txn) Commits() int { return t.commits }

// Written tells whether there are changes that are not committed.
func (t *Txn) Written() bool { return t.ops.Len() > 0 }

// StartRead begins a command that only reads and holds no locks for it.
func (t *Txn) StartRead() { t.start(false) }

// StartWrite begins a command that may change keys of the units acquired.
func (t *Txn) StartWrite() { t.start(true) }

// Transaction makes the commands that follow part of one transaction, until the
// next commit: they have one version in each unit, and one time.
func (t *Txn) Transaction() {
	t.command.atomic = true
	t.command.now = t.set.Now()
}

func (t *Txn) start(writes bool) {
	c := &t.command
	if !c.atomic && !t.brisk {
		c.now = t.set.Now()
	}
	c.writes = writes
	c.observed = c.observed[:0]
	c.again, c.err, c.alone, c.waiting, c.sent = false, nil, false, false, false
	c.hits, c.misses = 0, 0
	c.ops, c.size, c.pending = t.ops.Len(), t.ops.Size, len(t.pending.list)
	c.deltas = c.deltas[:0]
	c.arena = t.arena.mark()
}

// FinishRead ends a command begun by StartRead. It tells whether what the command
// saw was one moment; if not, its reply must be dropped and the command run
// again, at last by StartWrite with its units acquired.
func (t *Txn) FinishRead() (ok bool, err error) {
	c := &t.command
	t.arena.rewind(c.arena)
	if c.sent {
		t.countLookups()
		return true, nil
	}
	if !t.unchanged() {
		c.again = true
	}
	if c.waiting {
		return false, nil
	}
	if c.again {
		return false, nil // also after an error: it may come from a torn look
	}
	if c.err == nil {
		t.countLookups()
	}
	return true, c.err
}

// unchanged tells whether all that the command has looked at is as it was.
func (t *Txn) unchanged() bool {
	for i := range t.command.observed {
		if !t.set.stack.Unchanged(t.command.observed[i]) {
			return false
		}
	}
	return true
}

// Sent tells that the reply of the command just finished was written already, and
// with it all before.
func (t *Txn) Sent() bool { return t.command.sent }

// FinishWrite ends a command begun by StartWrite. On an error of the storage the
// command's changes are dropped, and so must be its reply; a transaction must then
// be aborted as a whole.
func (t *Txn) FinishWrite() error {
	c := &t.command
	if c.err != nil {
		if !c.atomic {
			t.undo()
		}
		return c.err
	}
	t.countLookups()
	if t.ops.Len() == c.ops {
		t.arena.rewind(c.arena)
	}
	if !c.atomic {
		t.settle()
	}
	return nil
}

// settle ends the mutation of each unit that the command touched.
func (t *Txn) settle() {
	for i := range t.held {
		t.held[i].touched = false
	}
}

func (t *Txn) countLookups() {
	if c := &t.command; c.hits|c.misses != 0 {
		t.set.hits.Add(c.hits)
		t.set.misses.Add(c.misses)
	}
}

// undo drops the changes of the current command and gives its versions back: a
// sequence exists only when its batch is applied (R12).
func (t *Txn) undo() {
	c := &t.command
	clear(t.ops.Ops[c.ops:])
	t.ops.Ops, t.ops.Size = t.ops.Ops[:c.ops], c.size
	t.pending.truncate(c.pending)
	for i := range c.deltas {
		d := &c.deltas[i]
		t.held[d.held].add(d.cache, &d.by, -1)
	}
	for i := range t.held {
		if h := &t.held[i]; h.touched {
			h.version, h.written = h.before, h.writtenBefore
		}
	}
	t.settle()
}

// Abort drops the changes of all commands since the last commit and releases the
// locks. Their replies must be dropped too.
func (t *Txn) Abort() {
	t.release()
	t.arena.reset()
}

// Fail makes the current command fail, as an error of the storage would.
func (t *Txn) Fail(err error) { t.fail(err) }

// Alone tells that the Txn must be committed before another command is run.
func (t *Txn) Alone() bool { return t.command.alone }

// edit returns the place of a key's unit among those held, with the version of
// the mutation under way there.
func (t *Txn) edit(k *record.Key) (int, uint64) {
	i := t.holds(t.UnitOf(k))
	if i < 0 || !t.command.writes {
		panic("unit: a command changes a key whose unit it does not hold")
	}
	h := &t.held[i]
	if !h.touched {
		h.before, h.writtenBefore = h.version, h.written
		h.touched, h.written = true, true
		h.version = h.unit.next(h.version)
	}
	if t.place(k.Cache).cache.Policy.Durability == topology.DurabilityAlways {
		t.durable = true
	}
	return i, h.version
}
