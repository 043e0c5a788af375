// Package tiers stores rows in layers: a memory tier that holds copies of hot
// rows over a bottom tier that keeps everything in key order.
//
// # Main types
//
// A [Batch] is a list of row changes. A [Tier] stores rows by key; a [Store]
// is a tier that also keeps them ordered, durable and complete, so every
// [Stack] ends in one. The Stack is what the rest of the program uses: it
// writes through (store first, then memory), promotes what it had to read
// below, and lets a reader of several rows know that it saw one moment.
//
// # Rules that hold
//
//  1. Memory never holds what the store has not accepted (the store is always
//     written first), so dropping anything from memory costs nothing.
//  2. Memory never holds a row that was overwritten since it was read: a
//     promotion happens only if no write to the row's stripe began between the
//     read below and the promotion, and it keeps writers of that stripe out
//     while it copies.
//  3. Of two overlapping writes to one stripe neither leaves a copy in memory,
//     because the order in which the store took them is not known above it.
//  4. A batch is applied to the store as a whole or not at all; readers of
//     memory may see it row by row, which is what [Stack.Observe] is for.
//
// # Concurrency
//
// Every method of Tier, Store and Stack may be called from any goroutine, but
// not after Close has begun, when they return [ErrClosed]. A Batch, an Iter
// and a Ticket belong to one goroutine at a time. Whoever needs two batches
// over the same rows to be applied in a certain order calls Apply for them one
// after the other: the stack keeps memory and store equal in any case, it
// doesn't choose an order.
//
// # What it does not do
//
// It knows rows, not records: nothing here expires, replicates, counts entries
// or understands the bytes of a key beyond what Config's functions say.
package tiers
