// Package resp reads commands and writes replies in RESP2 and RESP3.
//
// Reader turns the bytes of one connection into commands. It delimits them in
// its read buffer and never copies an argument that fits there; a large
// argument is read straight into a pooled Buffer. Arguments alias that memory
// and live until Release. Writer encodes replies into pooled chunks, keeps
// large payloads as segments of their own and sends everything with one write
// per Flush. ReadReply is the other direction, for clients and tests.
//
// Concurrency: a Reader and a Writer belong to one goroutine each. Buffers may
// be got and released anywhere; the pools and their gauges are shared by the
// whole process.
//
// Limits: every length is compared with its limit before it takes part in any
// arithmetic, and an announced length reserves at most 64 KiB ahead of the
// bytes that have arrived (256 KiB on a connection that has already sent a
// value of that size). Violations are reported as *ProtocolError with Redis's
// text; the stream cannot be resumed after one. What a client makes us hold is
// bounded by Limits for one command and by the caller's batch size for many;
// Pending tells how much that is.
//
// An idle Reader keeps about 3 KiB, an idle Writer its few hundred bytes.
//
// The package knows no commands, opens and closes no connections, starts no
// goroutines, and does not decide when to flush.
package resp
