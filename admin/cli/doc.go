// Package cli holds the commands that speak the HTTP API: User and Completion
// make commands that the binary hangs in, and FlagsFirst lets flags stand behind
// arguments anywhere in it.
//
// A command finds its server by itself: the one of --url, or the one that serves
// the admin socket of --data; where no server runs, it works on the data
// directory through Config.Offline. Errors say what to do about them and carry an
// exit code: 1 failed, 2 wrong usage, 3 refused by the state of the users, 4 no
// server, 5 login or permission.
//
// The package holds no state between commands and starts no goroutine. It does
// not print errors; the binary does.
package cli
