// Package control holds the control state: the one truth about the grid's
// cluster id, members and their incarnations, templates, caches, placement
// groups with their units, and users.
//
// State is an immutable value and Apply a pure function of a state and one
// encoded entry: no clock, no random number, no input or output, no panic. Time
// and random values travel in the entry, so every copy of the log gives the
// same state, byte for byte. Control puts a log in front of it: Propose makes an
// entry durable, applies it and publishes the new State, topology.Table and
// users.Directory as one View, which any number of goroutines may read without a
// lock. On a single server the log is a local fsynced file; the interface
// between Control and its log is small so that consensus can take the file's
// place. DESIGN.md beside this file says why it is cut like this.
//
// Propose and Close may be called from any goroutine; proposals are serialised.
// The package starts no goroutine. A directory belongs to one process at a time
// (flock). Everything in the state is bounded by the constants in limits.go.
//
// The package does not decide where units should live, does not hash passwords
// and does not know what a cache holds: the proposer says in the entry whether a
// cache holds entries.
package control
