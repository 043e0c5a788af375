// Package api holds the values that travel over the HTTP API under /api/v1: User,
// ACL, Version, Health and Problem, and the errors that problems stand for. The
// server, the client and the commands share it, so an error that a user store
// returns in the server is matched by errors.Is in a command.
//
// The values are plain and safe to copy; nothing here does input or output,
// starts a goroutine or knows a route. Bounds on bodies and connections are the
// server's and the client's.
package api
