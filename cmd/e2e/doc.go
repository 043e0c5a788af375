// Package e2e judges the built binary from outside, as users do: real processes,
// real ports, real clients, and a real redis-server beside it where the two must
// answer alike.
//
// The tests run the binary that TIERGRID_BIN names, or build it once. Each starts
// servers in a directory of its own on free ports of loopback and ends them by
// their process id. The clients of Node.js are installed with npm ci, from the
// lock file in testdata/node, into the user's cache directory.
//
// What happens inside a package is tested there. Speed is judged by make bench.
package e2e
