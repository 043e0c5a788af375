// Package poll serves many connections with few goroutines.
//
// A Poller watches the sockets of its connections and has a handful of workers.
// One of them leads: it asks the system which sockets have something to read, and
// hands the connections that do to Config.Serve, all at once. Serve works through
// them, so what many clients sent at the same moment can be done together; that,
// and that nobody is woken for a connection, is what the package is for.
//
// # Who owns a connection
//
// A connection that has something to read is owned until it is released: by the
// worker that found it, or by the goroutine that the worker left it to. Only the
// owner reads from it and calls Release. A connection without an owner costs no
// goroutine.
//
//	idle ──something to read, Claim──▶ owned ──Release──▶ idle
//
// # Waiting
//
// TryRead and TryWrite never wait; they are for workers. Read and Write, with the
// deadlines of a net.Conn, are for goroutines. Serve should do nothing that may
// wait, and leave such work to a goroutine. Where it can't know, the leadership
// goes to another worker: at once by Turn.Delegate, or by itself when a turn takes
// longer than patience. Others then serve what a late turn had not come to. At most
// Config.Workers turns can be stuck at the same time before nobody looks after the
// sockets, so long waits have to be the exception.
//
// # Limits
//
// A turn brings at most turnConns connections. Sockets are watched edge-triggered,
// so nothing is said twice: who stops reading before ErrWouldBlock just releases,
// and the connection comes again. Linux only.
package poll
