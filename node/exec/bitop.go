package exec

import (
	"encoding/binary"

	"github.com/tiergrid/tiergrid/node/command"
	"github.com/tiergrid/tiergrid/node/record"
)

// operation folds a word of a source into a word of the result.
type operation func(result, source uint64) uint64

func bitOperation(name []byte) operation {
	switch {
	case is(name, "and"):
		return func(a, b uint64) uint64 { return a & b }
	case is(name, "or"):
		return func(a, b uint64) uint64 { return a | b }
	case is(name, "xor"):
		return func(a, b uint64) uint64 { return a ^ b }
	case is(name, "not"):
		return func(_, b uint64) uint64 { return ^b }
	}
	return nil
}

// bitOp answers BITOP. Beside the result it holds one window of one source.
func bitOp(c *Call) {
	op := bitOperation(c.Args[1])
	if op == nil {
		c.Fail(command.ErrSyntax)
		return
	}
	if is(c.Args[1], "not") && len(c.Args) != 4 {
		c.Fail(command.ErrBitOpNot)
		return
	}
	n, ok := c.longest(3)
	if !ok || !c.fits(c.Cache, n) {
		return
	}
	if n == 0 {
		c.View.Delete(c.key(2))
		c.Out.Int(0)
		return
	}
	result := c.View.Alloc(int(n))
	clear(result)
	for i := 3; i < len(c.Args); i++ {
		c.fold(result, i, c.foldOf(op, i))
	}
	c.put(c.key(2), record.Head{Flags: record.FlagRaw, Deadline: c.Deadline()}, result)
	c.Out.Int(n)
}

// longest is the length of the longest string among the arguments from i on.
func (c *Call) longest(i int) (n int64, ok bool) {
	for ; i < len(c.Args); i++ {
		h, _, ok := c.head(c.key(i))
		if !ok {
			return 0, false
		}
		n = max(n, int64(h.Length))
	}
	return n, true
}

// foldOf is the operation for the source at an argument: the first one starts the
// result, which NOT makes of it at once.
func (c *Call) foldOf(op operation, i int) operation {
	if i == 3 && !is(c.Args[1], "not") {
		return func(_, b uint64) uint64 { return b }
	}
	return op
}

// fold folds the string at an argument, with zeros behind its end, into result.
func (c *Call) fold(result []byte, i int, op operation) {
	k := c.key(i)
	h, found := c.View.Head(k)
	n := int64(0)
	if found {
		n = int64(h.Length)
	}
	c.eachBits(k, &h, 0, n*8, false, func(at int64, b []byte) bool {
		foldBytes(result[at/8:], b, op)
		return true
	})
	foldZeros(result[n:], op)
}

func foldBytes(result, source []byte, op operation) {
	for ; len(source) >= 8; result, source = result[8:], source[8:] {
		binary.LittleEndian.PutUint64(result, op(binary.LittleEndian.Uint64(result), binary.LittleEndian.Uint64(source)))
	}
	for i, b := range source {
		result[i] = byte(op(uint64(result[i]), uint64(b)))
	}
}

func foldZeros(result []byte, op operation) {
	if op(1, 0) == 1 {
		return // zeros change nothing
	}
	clear(result)
}
