package exec

import (
	"github.com/tiergrid/tiergrid/node/command"
	"github.com/tiergrid/tiergrid/node/record"
)

type lcsOptions struct {
	length, index, matchLength bool
	minMatch                   int64
}

// lcs answers LCS: the longest common subsequence of two strings.
func lcs(c *Call) {
	a, okA := c.lcsOperand(1)
	defer a.Release()
	b, okB := c.lcsOperand(2)
	defer b.Release()
	if !okA || !okB {
		c.Fail(command.ErrLCSType)
		return
	}
	o, ok := c.lcsOptions()
	if !ok {
		return
	}
	if cells := (len(a.B) + 1) * (len(b.B) + 1); cells > record.MaxPayload/4 {
		// Redis has four bytes for each cell of its table and this bound.
		c.Fail(command.ErrLCSMemory)
		return
	}
	switch {
	case o.length:
		n, _ := align(a.B, b.B, nil)
		c.Out.Int(int64(n))
	case o.index:
		c.replyMatches(a.B, b.B, o)
	default:
		n, moves := align(a.B, b.B, newMoves(a.B, b.B))
		c.Out.Bulk(subsequence(a.B, b.B, n, moves))
	}
}

// lcsOperand loads the string at an argument, empty where there is none.
func (c *Call) lcsOperand(i int) (Payload, bool) {
	h, p, found := c.View.Load(c.key(i))
	if !found {
		return Payload{}, true
	}
	return p, h.Type == record.TypeString
}

func (c *Call) lcsOptions() (lcsOptions, bool) {
	var o lcsOptions
	for i := 3; i < len(c.Args); i++ {
		switch arg := c.Args[i]; {
		case is(arg, "len"):
			o.length = true
		case is(arg, "idx"):
			o.index = true
		case is(arg, "withmatchlen"):
			o.matchLength = true
		case is(arg, "minmatchlen") && i+1 < len(c.Args):
			n, ok := c.integer(i + 1)
			if !ok {
				return o, false
			}
			o.minMatch = n
			i++
		default:
			c.Fail(command.ErrSyntax)
			return o, false
		}
	}
	if o.length && o.index {
		c.Fail(command.ErrLCSBoth)
		return o, false
	}
	return o, true
}

// moves is one bit for each pair of prefixes that end in different bytes: whether
// the way back from there shortens a (1) or b (0). It is all the way back needs,
// in a thirty-second of the memory of the table of lengths.
type moves struct {
	bits  []uint64
	width int
}

func newMoves(a, b []byte) *moves {
	return &moves{bits: make([]uint64, (len(a)*len(b)+63)/64), width: len(b)}
}

func (m *moves) set(i, j int) {
	at := i*m.width + j
	m.bits[at/64] |= 1 << (at % 64)
}

func (m *moves) shortenA(i, j int) bool {
	at := i*m.width + j
	return m.bits[at/64]&(1<<(at%64)) != 0
}

// align returns the length of the longest common subsequence. It holds one row of
// the table of lengths and notes the moves, unless m is nil.
func align(a, b []byte, m *moves) (int, *moves) {
	row := make([]uint32, len(b)+1)
	for i := range a {
		var diagonal uint32 // the length above and to the left
		for j := range b {
			above := row[j+1]
			switch {
			case a[i] == b[j]:
				row[j+1] = diagonal + 1
			case above > row[j]:
				if m != nil {
					m.set(i, j)
				}
			default:
				row[j+1] = row[j]
			}
			diagonal = above
		}
	}
	return int(row[len(b)]), m
}

// walkBack visits the matching pairs of bytes from the last to the first.
func walkBack(a, b []byte, m *moves, match func(i, j int)) {
	for i, j := len(a)-1, len(b)-1; i >= 0 && j >= 0; {
		switch {
		case a[i] == b[j]:
			match(i, j)
			i--
			j--
		case m.shortenA(i, j):
			i--
		default:
			j--
		}
	}
}

func subsequence(a, b []byte, n int, m *moves) []byte {
	out := make([]byte, n)
	walkBack(a, b, m, func(i, _ int) {
		n--
		out[n] = a[i]
	})
	return out
}

// A match is a run of n equal bytes that start at a and b.
type match struct{ a, b, n int }

// matchesOf returns the runs of at least least bytes, the last one first.
func matchesOf(a, b []byte, m *moves, least int64) []match {
	var out []match
	var run match
	end := func() {
		if run.n > 0 && int64(run.n) >= least {
			out = append(out, run)
		}
	}
	walkBack(a, b, m, func(i, j int) {
		if run.n > 0 && run.a == i+1 && run.b == j+1 {
			run = match{i, j, run.n + 1}
			return
		}
		end()
		run = match{i, j, 1}
	})
	end()
	return out
}

// replyMatches answers LCS IDX.
func (c *Call) replyMatches(a, b []byte, o lcsOptions) {
	n, m := align(a, b, newMoves(a, b))
	matches := matchesOf(a, b, m, o.minMatch)
	c.Out.Map(2)
	c.Out.BulkString("matches")
	c.Out.Array(len(matches))
	for _, m := range matches {
		if o.matchLength {
			c.Out.Array(3)
		} else {
			c.Out.Array(2)
		}
		c.replySpan(m.a, m.n)
		c.replySpan(m.b, m.n)
		if o.matchLength {
			c.Out.Int(int64(m.n))
		}
	}
	c.Out.BulkString("len")
	c.Out.Int(int64(n))
}

func (c *Call) replySpan(start, n int) {
	c.Out.Array(2)
	c.Out.Int(int64(start))
	c.Out.Int(int64(start + n - 1))
}
