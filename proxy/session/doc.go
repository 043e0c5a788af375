// Package session serves RESP clients: it accepts connections, keeps one session
// for each, answers connection commands itself and hands data commands to the
// grid in batches.
//
// # Server and session
//
// Server is the door: Serve accepts from a listener, ServeConn takes a connection
// somebody else accepted. A session works through batches of commands (what has
// arrived, up to Limits.Batch and Limits.BatchBytes): it collects consecutive data
// commands into one grid.Batch, runs it when a connection command or the end of the
// batch is reached, answers connection commands in between and flushes once. So
// replies are in the order of requests. While it waits for input a session holds no
// batch and no large buffer.
//
// # Who works on a session
//
// One goroutine at a time owns everything of a session. The sockets of clients are
// watched by a poll.Poller, and whoever of its workers finds that several clients have
// sent something runs their commands together, as far as that needs no waiting
// (watched.go). A session where something has to be waited for goes on in a goroutine
// of the crew until there is nothing more to read. Connections that are no sockets, as
// those of the HTTP port, have a goroutine of their own from the beginning to the end.
//
// # What other goroutines may touch
//
// Fields of a session are grouped by owner. Other sessions (CLIENT LIST, KILL,
// MONITOR) read and set only the atomics and what is guarded by its mutex; to end
// a session they cancel its context and close its connection, and its owner does the
// rest. A client that MONITORs gets an outbox: a bounded queue
// with a goroutine that writes it, which the session starts, stops and waits for.
//
// # Bounds
//
// Connections, arguments of a batch, queued commands of a transaction, watched
// keys, the outbox, the slow log and the number of error prefixes counted all
// have limits; see Limits. A client that does not read is back-pressured, then
// closed after Limits.WriteTimeout and counted. CLIENT PAUSE parks sessions in
// goroutines until its deadline. A panic ends the session it happened in and is
// logged.
//
// # What it does not do
//
// It knows no keys and no values, routes nothing and stores nothing: all of that
// is behind grid.Grid. Who may do what is decided by proxy/auth. Pub/sub, scripts
// and blocking commands are not built.
package session
