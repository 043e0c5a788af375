// Package loadtest is the command "loadtest": it judges servers from outside, by
// what their clients see and what the machine pays.
//
// Command returns the command with its subcommands. bench runs the suite that
// this project is judged by, compare sets any two servers against each other, and
// fill and idle put a running server into a state to look at. The work is done in
// the packages below: compare alternates redis-benchmark between two servers,
// footprint measures memory, process starts and ends servers, load fills and
// connects, report writes tables, suites holds the requirements as data.
//
// It needs Linux, and redis-benchmark and redis-server of Debian's redis-tools and
// redis-server. Servers listen on loopback, keep their data in a folder that is
// removed, and end with the command, also at an interrupt. The machine must have
// nothing else to do, or the numbers mean nothing.
package loadtest
