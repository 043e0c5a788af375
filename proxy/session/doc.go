// Package session serves RESP clients: it accepts connections, keeps one session
// for each, answers connection commands itself and hands data commands to the
// grid in batches.
//
// # Server and session
//
// Server is the door: Serve accepts from a listener, ServeConn takes a connection
// somebody else accepted. A session is one goroutine that owns everything of its
// client. It reads a batch of commands (what has arrived, up to Limits.Batch and
// Limits.BatchBytes), collects consecutive data commands into one grid.Batch,
// runs it when a connection command or the end of the batch is reached, answers
// connection commands in between and flushes once. So replies are in the order
// of requests, and the normal path has no hand-over between goroutines. While it
// waits for input a session holds no batch and no large buffer.
//
// # What other goroutines may touch
//
// Fields of a session are grouped by owner. Other sessions (CLIENT LIST, KILL,
// MONITOR) read and set only the atomics and what is guarded by its mutex; to end
// a session they cancel its context and close its connection, and its own
// goroutine does the rest. A client that MONITORs gets an outbox: a bounded queue
// with a goroutine that writes it, which the session starts, stops and waits for.
//
// # Bounds
//
// Connections, arguments of a batch, queued commands of a transaction, watched
// keys, the outbox, the slow log and the number of error prefixes counted all
// have limits; see Limits. A client that does not read is back-pressured, then
// closed after Limits.WriteTimeout and counted. CLIENT PAUSE parks sessions in
// their own goroutine until its deadline. A panic ends the session it happened
// in and is logged.
//
// # What it does not do
//
// It knows no keys and no values, routes nothing and stores nothing: all of that
// is behind grid.Grid. Who may do what is decided by proxy/auth. Pub/sub, scripts
// and blocking commands are not built.
package session
