package unit

import "github.com/tiergrid/tiergrid/node/record"

// Commit applies the changes of all commands since the last one as one batch,
// releases the locks, and returns when every reply so far may leave. After an
// error none of the changes was applied, or the store has failed for good: every
// reply since the last commit must be replaced by an error.
func (t *Txn) Commit() error {
	defer t.arena.reset()
	if t.ops.Len() == 0 {
		t.release()
		return t.wait()
	}
	t.appendJournalRow()
	if !t.durable {
		err := t.apply()
		t.release()
		if err != nil {
			return err
		}
		return t.wait()
	}
	return t.commitDurable()
}

// commitDurable lists the keys before they can be seen, and strikes them off when
// they are on disk.
func (t *Txn) commitDurable() error {
	f := &fsync{done: make(chan struct{})}
	keys := t.pending.keys(t)
	for i := range keys {
		keys[i].before = keys[i].unit.unsynced.add(keys[i].hash, f)
	}
	ticket, err := t.set.stack.Apply(&t.ops, true)
	if err == nil {
		t.publish()
	} else {
		for i := len(keys) - 1; i >= 0; i-- {
			keys[i].unit.unsynced.restore(keys[i].hash, keys[i].before)
		}
	}
	t.release()
	if err == nil {
		err = ticket.Wait()
	}
	f.err = err
	close(f.done)
	for i := range keys {
		keys[i].unit.unsynced.remove(keys[i].hash, f)
	}
	if err != nil {
		return err
	}
	return t.wait()
}

func (t *Txn) apply() error {
	if _, err := t.set.stack.Apply(&t.ops, false); err != nil {
		return err
	}
	t.publish()
	if !t.set.unsynced.Load() {
		t.set.unsynced.Store(true)
	}
	return nil
}

// publish makes the units say what the batch has made true. The locks are held.
func (t *Txn) publish() {
	var sum held
	sum.by = t.changed[:0]
	for i := range t.held {
		h := &t.held[i]
		if !h.written {
			continue
		}
		h.unit.version = h.version
		h.unit.unsaved = true
		for j := range h.by {
			c := &h.by[j]
			h.unit.counter(c.Cache).Add(&c.Counters, 1)
			sum.add(c.Cache, &c.Counters, 1)
		}
	}
	// Once for each cache, so that DBSIZE never sees half of a RENAME.
	for i := range sum.by {
		t.place(sum.by[i].Cache).totals.add(&sum.by[i].Counters)
	}
	t.changed = sum.by
}

// release lets go of all locks and of everything that was to be applied.
func (t *Txn) release() {
	for i := range t.held {
		t.held[i].unit.mu.Unlock()
		t.held[i].unit = nil
	}
	t.held = t.held[:0]
	t.ops.Reset()
	t.pending.truncate(0)
	t.durable = false
	t.command.atomic = false
}

// wait returns when all that the replies so far have shown is on disk. It is the
// last thing a commit does.
func (t *Txn) wait() error {
	for i, f := range t.waits {
		t.waits[i] = nil
		if err := f.wait(); err != nil {
			t.waits = t.waits[:0]
			return err
		}
	}
	t.waits = t.waits[:0]
	t.commits++
	return nil
}

// appendJournalRow adds the row that stores the positions of the units written,
// with the counters of the caches that changed there.
func (t *Txn) appendJournalRow() {
	t.journal = record.BeginPositions(t.journal[:0])
	for i := range t.held {
		h := &t.held[i]
		if !h.written {
			continue
		}
		t.changed = t.changed[:0]
		for j := range h.by {
			c := record.CacheCounters{Cache: h.by[j].Cache, Counters: *h.unit.counter(h.by[j].Cache)}
			c.Add(&h.by[j].Counters, 1)
			t.changed = append(t.changed, c)
		}
		t.journal = record.AppendPosition(t.journal, &record.Position{
			Group: h.unit.group, Partition: h.unit.partition, Version: h.version, Now: t.command.now,
			Caches: t.changed,
		})
	}
	key := record.AppendJournalKey(t.arena.space(9), t.set.journal.last.Add(1))
	t.ops.SetBelow(key, t.journal)
}
