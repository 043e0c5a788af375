package exec

import (
	"math"
	"strconv"

	"github.com/tiergrid/tiergrid/node/command"
	"github.com/tiergrid/tiergrid/node/record"
)

func incr(c *Call) { c.add(1) }

func decr(c *Call) { c.add(-1) }

func incrBy(c *Call) {
	if n, ok := c.integer(2); ok {
		c.add(n)
	}
}

func decrBy(c *Call) {
	n, ok := c.integer(2)
	if !ok {
		return
	}
	if n == math.MinInt64 {
		c.Fail(command.ErrDecrementOverflow)
		return
	}
	c.add(-n)
}

// longestInt is the length of the longest integer.
const longestInt = len("-9223372036854775808")

// add answers INCR and its relatives.
func (c *Call) add(n int64) {
	k := c.key(1)
	h, p, found, ok := c.load(k)
	if !ok {
		return
	}
	var old int64
	if found {
		old, ok = parseInt(p.B)
		p.Release()
	}
	switch {
	case !ok:
		c.Fail(command.ErrNotInteger)
	case (n > 0 && old > math.MaxInt64-n) || (n < 0 && old < math.MinInt64-n):
		c.Fail(command.ErrOverflow)
	default:
		payload := strconv.AppendInt(c.View.Alloc(longestInt)[:0], old+n, 10)
		c.put(k, record.Head{Deadline: c.inherit(&h, found)}, payload)
		c.Out.Int(old + n)
	}
}

func incrByFloat(c *Call) {
	k := c.key(1)
	h, p, found, ok := c.load(k)
	if !ok {
		return
	}
	old := longDouble{}
	if found {
		old, ok = parseLongDouble(p.B)
		p.Release()
	}
	step, valid := parseLongDouble(c.Args[2])
	if !ok || !valid {
		c.Fail(command.ErrNotFloat)
		return
	}
	sum, finite := old.add(step)
	if !finite {
		c.Fail(command.ErrNotFinite)
		return
	}
	text := sum.text()
	if !c.fits(c.Cache, int64(len(text))) {
		return
	}
	payload := c.View.Alloc(len(text))
	copy(payload, text)
	c.put(k, record.Head{Deadline: c.inherit(&h, found)}, payload)
	c.Out.Bulk(payload)
}
