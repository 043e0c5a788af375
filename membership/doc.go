// Package membership joins a process to its grid and hands out the immutable
// snapshots everybody routes and authenticates by: topology.Table and
// users.Directory.
//
// Membership assembles: package control keeps the truth, package users the
// people, package topology the values. Open makes the grid's identity at the
// very first start, registers this process as a new incarnation of its member
// (R1) before anything else happens, and Configure brings the templates and
// caches of a configuration into the control state.
//
// A Membership may be used from any goroutine. It starts none. It is a grid of
// one member: finding other members and agreeing with them is not its part yet.
package membership
