// Package unit is where writes are ordered. A Unit is one (placement group,
// partition): its epoch, sequence, time and counters. A Set is all units that a
// node holds over one stack of tiers. A Txn is what a run of commands reads and
// writes through; it implements exec.View.
//
// # How a run of commands works
//
// Commands that only read run without any lock. The Txn notes, for each key it
// looked at, the state of the key's stripe in the stack; if at the end of the
// command none of them has changed, the command saw one moment of the keyspace.
// Otherwise it is run again, at last under the locks of its units.
//
// A command that writes first acquires the locks of the units of all its keys.
// Its changes get the next sequence of each unit and collect in the Txn, so that
// the commands of a pipeline reach the tiers as one batch. Commit applies that
// batch together with one journal row, which says how far each unit has come and
// what it holds, and then releases the locks. Position and effect are therefore
// stored atomically (I8), and a batch costs one row however many units it touched.
//
// # Locks
//
// A Txn blocks on the lock of a unit only while it holds none; several are taken
// in the order of (group, partition). While it holds some it only tries further
// ones, and commits what it has when one is taken. So no two Txns wait for each
// other. A lock is held over the application of the batch, never over an fsync or
// a write to a client.
//
// # Durability
//
// In a cache with durability always, a mutation is visible to the Txns of other
// sessions before it is on disk. Until then each key it touched is listed as
// uncommitted, and whoever looked at such a key, present or absent, waits for its
// fsync before the reply leaves (R13, I7).
//
// # Limits
//
// A unit keeps at most maxAbsentWatches registrations of absent watched keys;
// beyond, the oldest are forgotten, which makes their EXEC answer nil. A batch is
// committed when it holds more than maxBatchBytes or maxBatchOps.
//
// The package does not decide who is primary and does not replicate.
package unit
