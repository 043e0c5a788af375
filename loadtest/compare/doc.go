// Package compare measures two servers against each other with redis-benchmark.
//
// A Suite names two contestants and groups of tests. Run starts both servers
// fresh for each group, fills the same keys into both, and then lets the runs of
// each test alternate A B A B…, so that whatever the machine does meanwhile meets
// both. A run is one redis-benchmark process; its CSV, the server's processor
// time and its memory make a Measure. What counts is the Ratio: A over B of each
// pair of neighbours, its median and spread.
//
// Run is one goroutine; nothing else may load the machine meanwhile. Everything
// is bounded: each redis-benchmark has a deadline, waits between runs have a
// limit, and the servers end with Run. A test that asks for keys which are not
// there, or gets error replies, is an error and no result. The package judges
// medians only; it does no test of significance.
package compare
