package exec

import (
	"encoding/binary"
	"math/bits"

	"github.com/tiergrid/tiergrid/node/command"
	"github.com/tiergrid/tiergrid/node/record"
)

// bitOffset reads the position of a bit; where it is none, or beyond the longest
// string, it answers the error. Bit 0 is the highest of byte 0.
func (c *Call) bitOffset(i int) (int64, bool) {
	n, ok := parseInt(c.Args[i])
	if !ok || n < 0 || n>>3 >= record.MaxPayload {
		c.Fail(command.ErrBitOffset)
		return 0, false
	}
	return n, true
}

// setBit answers SETBIT. Of the payload, only the row of that bit is touched.
func setBit(c *Call) {
	offset, ok := c.bitOffset(2)
	if !ok {
		return
	}
	bit, ok := parseInt(c.Args[3])
	if !ok || bit&^1 != 0 {
		c.Fail(command.ErrBitValue)
		return
	}
	k, at := c.key(1), offset>>3
	h, found, ok := c.head(k)
	if !ok || !c.fits(c.Cache, at+1) {
		return
	}
	data := c.View.Alloc(1)
	data[0] = c.byteAt(k, &h, at)
	mask := byte(0x80) >> (offset & 7)
	old := data[0]&mask != 0
	if bit != 0 {
		data[0] |= mask
	} else {
		data[0] &^= mask
	}
	if old == (bit != 0) && at < int64(h.Length) {
		data = nil // nothing to change but how the string is shown
	}
	c.overwrite(k, h, found, at, data)
	c.replyBit(old)
}

// byteAt is one byte of a string, 0 beyond its end.
func (c *Call) byteAt(k *record.Key, h *record.Head, at int64) byte {
	if at >= int64(h.Length) {
		return 0
	}
	return c.payload(k, h, at, at+1)[0]
}

func (c *Call) replyBit(set bool) {
	if set {
		c.Out.Int(1)
		return
	}
	c.Out.Int(0)
}

func getBit(c *Call) {
	offset, ok := c.bitOffset(2)
	if !ok {
		return
	}
	k := c.key(1)
	h, _, ok := c.head(k)
	if !ok {
		return
	}
	c.replyBit(c.byteAt(k, &h, offset>>3)&(0x80>>(offset&7)) != 0)
}

// bitUnit reads BYTE or BIT and returns how many of it a byte has.
func (c *Call) bitUnit(i int) (int64, bool) {
	switch arg := c.Args[i]; {
	case is(arg, "byte"):
		return 1, true
	case is(arg, "bit"):
		return 8, true
	}
	c.Fail(command.ErrSyntax)
	return 0, false
}

// bitCount answers BITCOUNT. As in Redis, a missing key is 0 whatever the other
// arguments are.
func bitCount(c *Call) {
	k := c.key(1)
	h, found, ok := c.head(k)
	if !ok {
		return
	}
	if !found {
		c.Out.Int(0)
		return
	}
	from, to, ok := c.bitCountRange(int64(h.Length))
	if !ok {
		return
	}
	var n int64
	c.eachBits(k, &h, from, to, false, func(_ int64, b []byte) bool {
		n += ones(b)
		return true
	})
	c.Out.Int(n)
}

// bitCountRange reads the optional range of BITCOUNT of n bytes: [from, to) in bits.
func (c *Call) bitCountRange(n int64) (from, to int64, ok bool) {
	switch len(c.Args) {
	case 2:
		return 0, n * 8, true
	case 4, 5:
	default:
		c.Fail(command.ErrSyntax)
		return 0, 0, false
	}
	first, last, ok := c.integers(2)
	if !ok {
		return 0, 0, false
	}
	unit := int64(1)
	if first < 0 && last < 0 && first > last {
		return 0, 0, true // also with a word that is no unit
	}
	if len(c.Args) == 5 {
		if unit, ok = c.bitUnit(4); !ok {
			return 0, 0, false
		}
	}
	from, to = span(first, last, n*unit)
	return from * (8 / unit), to * (8 / unit), true
}

func ones(b []byte) int64 {
	var n int
	for ; len(b) >= 8; b = b[8:] {
		n += bits.OnesCount64(binary.LittleEndian.Uint64(b))
	}
	for _, v := range b {
		n += bits.OnesCount8(v)
	}
	return int64(n)
}

// eachBits visits the bits [from, to) of a string as whole bytes, a window at a
// time, until visit returns false. Bits of the first and last byte outside the
// range are set to fill. at is the position of the first bit of b.
func (c *Call) eachBits(k *record.Key, h *record.Head, from, to int64, fill bool, visit func(at int64, b []byte) bool) {
	for start, end := from/8, (to+7)/8; start < end; {
		stop := min(end, (start/record.ChunkSize+1)*record.ChunkSize)
		b := c.payload(k, h, start, stop)
		if start*8 < from || stop*8 > to {
			b = append(c.View.Alloc(len(b))[:0], b...)
			mask(b, from-start*8, stop*8-to, fill)
		}
		if !visit(start*8, b) {
			return
		}
		start = stop
	}
}

// mask sets the first bits of b and its last ones to fill; counts below zero are
// none.
func mask(b []byte, first, last int64, fill bool) {
	var head, tail byte
	if first > 0 {
		head = ^byte(0xff >> first)
	}
	if last > 0 {
		tail = 1<<last - 1
	}
	if fill {
		b[0] |= head
		b[len(b)-1] |= tail
		return
	}
	b[0] &^= head
	b[len(b)-1] &^= tail
}

func bitPos(c *Call) {
	bit, ok := c.integer(2)
	if !ok {
		return
	}
	if bit&^1 != 0 {
		c.Fail(command.ErrBitArgument)
		return
	}
	k := c.key(1)
	h, found, ok := c.head(k)
	if !ok {
		return
	}
	if !found { // an endless row of zeros
		c.Out.Int(-bit)
		return
	}
	from, to, ok := c.bitPosRange(int64(h.Length))
	if !ok {
		return
	}
	c.Out.Int(c.findBit(k, &h, from, to, bit == 1))
}

// bitPosRange reads the optional range of BITPOS in n bytes: [from, to) in bits.
func (c *Call) bitPosRange(n int64) (from, to int64, ok bool) {
	if len(c.Args) > 6 {
		c.Fail(command.ErrSyntax)
		return 0, 0, false
	}
	first, last, unit := int64(0), int64(0), int64(1)
	if len(c.Args) > 3 {
		if first, ok = c.integer(3); !ok {
			return 0, 0, false
		}
	}
	if len(c.Args) > 5 {
		if unit, ok = c.bitUnit(5); !ok {
			return 0, 0, false
		}
	}
	last = n*unit - 1
	if len(c.Args) > 4 {
		if last, ok = c.integer(4); !ok {
			return 0, 0, false
		}
	}
	if first < 0 {
		first = max(0, first+n*unit) // also where last is less: unlike BITCOUNT
	}
	from, to = span(first, last, n*unit)
	return from * (8 / unit), to * (8 / unit), true
}

// findBit is the position of the first bit of a kind in [from, to), or -1. A
// search for a zero in a range whose end was not given finds the zeros that one
// can think behind the string.
func (c *Call) findBit(k *record.Key, h *record.Head, from, to int64, set bool) int64 {
	if from >= to {
		return -1
	}
	found := int64(-1)
	c.eachBits(k, h, from, to, !set, func(at int64, b []byte) bool {
		if i := firstBit(b, set); i >= 0 {
			found = at + i
		}
		return found < 0
	})
	if found < 0 && !set && len(c.Args) < 5 {
		return to
	}
	return found
}

// firstBit is the position of the first bit of a kind, or -1.
func firstBit(b []byte, set bool) int64 {
	skip := byte(0xff)
	if set {
		skip = 0
	}
	for i, v := range b {
		if v != skip {
			return int64(i*8 + bits.LeadingZeros8(v^skip))
		}
	}
	return -1
}
