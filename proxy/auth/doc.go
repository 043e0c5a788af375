// Package auth decides who a client is and what it may do: it turns a login into
// an Identity, keeps an Identity in step with the users as they change, and
// answers for every command whether an Identity may run it with these keys.
//
// Authenticator is the door, Identity what a session keeps of its login. An
// Identity is immutable and remembers the users.Directory it was made from, so
// that a session sees by one pointer comparison whether it is still good; Renew
// then gives the present one. Without any user the server is open: every client
// is "default" and may do everything. That only local clients get so far is the
// session's business.
//
// Everything is safe for concurrent use and starts no goroutine. Slow hashes are
// bounded by the users.Verifier. Asking Check allocates nothing for a user who may
// do everything, and nothing lasting for others.
//
// The package reads no configuration and keeps no users; refusals are the exact
// error replies of package command.
package auth
