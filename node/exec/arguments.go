package exec

import (
	"math"

	"github.com/tiergrid/tiergrid/node/command"
)

// is reports whether an argument is a word, given in lower case, in any case.
func is(arg []byte, word string) bool {
	if len(arg) != len(word) {
		return false
	}
	for i := range arg {
		if lower(arg[i]) != word[i] {
			return false
		}
	}
	return true
}

func lower(b byte) byte {
	if b-'A' < 26 {
		return b | 0x20
	}
	return b
}

// parseInt reads a 64-bit integer in the one form that Redis accepts: no blanks,
// no plus, no zeros in front and no negative zero.
func parseInt(b []byte) (int64, bool) {
	digits := b
	negative := len(b) > 0 && b[0] == '-'
	if negative {
		digits = b[1:]
	}
	if len(digits) == 0 || len(digits) > 19 || (digits[0] == '0' && len(b) > 1) {
		return 0, false
	}
	var n uint64 // 19 digits always fit
	for _, d := range digits {
		if d-'0' > 9 {
			return 0, false
		}
		n = n*10 + uint64(d-'0')
	}
	if negative {
		return -int64(n), n <= 1<<63
	}
	return int64(n), n <= math.MaxInt64
}

// integer reads the integer that stands at an argument; where there is none it
// answers the error.
func (c *Call) integer(i int) (int64, bool) {
	n, ok := parseInt(c.Args[i])
	if !ok {
		c.Fail(command.ErrNotInteger)
	}
	return n, ok
}

// integers reads two integers that follow one another.
func (c *Call) integers(i int) (a, b int64, ok bool) {
	if a, ok = c.integer(i); ok {
		b, ok = c.integer(i + 1)
	}
	return a, b, ok
}

// span turns a first and last index, negative ones counted from the end, into
// the bounds [from, to) of a range within a sequence of n. An empty one has to ≤ from.
func span(first, last, n int64) (from, to int64) {
	if first < 0 && last < 0 && first > last {
		return 0, 0
	}
	if first < 0 {
		first = max(0, first+n)
	}
	if last < 0 {
		last = max(0, last+n)
	}
	return min(first, n), min(last, n-1) + 1
}
