// Package process starts a server program for a measurement, waits until it
// answers, reads what it costs, and ends it.
//
// A Server has its own folder, which goes away with it, and loopback ports that
// the system chose. It is ended by its process id and waited for; should this
// program die first, the kernel ends the server. Usage reads the processor time
// and memory of a process from /proc, so the package needs Linux. A Server may be
// used by several goroutines; Stop may be called more than once.
//
// It starts exactly one process: a program that forks away from its parent cannot
// be measured here.
package process
