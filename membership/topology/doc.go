// Package topology holds the values that everyone routes by: slots and
// partitions, members, caches, placement groups, units and the immutable Table
// that puts them together.
//
// A Table is a snapshot of the control state at one index. It is never changed
// after it was published, so it may be read by any number of goroutines without
// a lock; a newer state is a new Table. The package computes and compares; it
// reads no file, opens no connection and keeps no state.
package topology
