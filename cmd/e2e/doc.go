// Package e2e judges the built binary from outside, as users do: real processes,
// real ports, real peers. Its tests build bin/tiergrid once and start servers in
// directories of their own on free ports of loopback.
package e2e
