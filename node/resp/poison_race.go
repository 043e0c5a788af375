//go:build race

package resp

// poison overwrites memory that nobody may use any more, so that tests with
// the race detector also show who uses an argument after its Release.
func poison(b []byte) {
	if len(b) == 0 {
		return
	}
	b[0] = 0xDB
	for n := 1; n < len(b); n *= 2 {
		copy(b[n:], b[:n])
	}
}
