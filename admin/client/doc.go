// Package client calls the HTTP API of a server, over a URL with a Basic login or
// over the admin socket of its data directory: Config, New, Client.
//
// A Client may be used from any number of goroutines; Close ends its idle
// connections. Every call takes a context and ends with it, or after
// Config.Timeout. Answers are bounded in size. An error that the server answered
// is a *api.Problem, so errors.Is finds the errors of package api in it; where
// nobody answered the error matches ErrUnreachable.
//
// The client follows no redirect, so that a login goes nowhere else, and repeats
// no request.
package client
