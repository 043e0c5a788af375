// Package load puts a server into the state that a measurement needs: Fill
// writes every key of a key space, OpenIdle opens many connections that stay
// silent. Conn is the small RESP2 client underneath, also good for a question in
// between (Ping, Do, Info).
//
// The keys are those of redis-benchmark -r (key:000000000042), so that what was
// filled here is found there. Values differ from key to key and do not compress,
// and ValueOf tells what a key must hold.
//
// A Conn and an Idle belong to one goroutine at a time. Fill and OpenIdle start
// goroutines of their own and wait for them. Nothing is retried: the first error
// ends a call.
package load
