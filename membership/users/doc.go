// Package users says who a client is and what it may do.
//
// A user has a name, a slow salted hash of its password and roles. Roles are
// built in and stand for Redis ACL rules; Compile turns the rules of one or more
// roles into a Permission: a bit for each command, and key patterns. A Directory
// is an immutable snapshot of all users. A Verifier checks passwords: it bounds
// how many slow hashes run and wait at once, and remembers verified credentials
// so that the second login with them costs microseconds.
//
// Permissions, users and directories are never changed after they were made and
// may be used by any number of goroutines; a Verifier is safe for concurrent use
// and starts no goroutine. What a Permission answers does not allocate.
//
// The package keeps no file, does not create users (package control does) and
// writes no reply: it answers yes or no and leaves the texts to package command.
// Rules apply to a user as a whole: with several roles a command is allowed if
// one of them allows it and a key if one of them allows it.
package users
