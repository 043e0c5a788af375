package exec

import (
	"math"

	"github.com/tiergrid/tiergrid/node/command"
)

// timeUnit is how an argument tells a deadline.
type timeUnit uint8

const (
	noTime timeUnit = iota
	seconds
	milliseconds
	atSecond
	atMillisecond
)

// timeWords are the options that are followed by a time.
var timeWords = [...]string{seconds: "ex", milliseconds: "px", atSecond: "exat", atMillisecond: "pxat"}

// options are those of SET and GETEX.
type options struct {
	nx, xx, get   bool // SET
	keep, persist bool // SET; GETEX
	unit          timeUnit
	time          []byte
}

// parseOptions reads the options of SET, or of GETEX where setting is false. It
// reports false when they are unknown or contradict each other.
func parseOptions(args [][]byte, setting bool) (options, bool) {
	var o options
	for i := 0; i < len(args); i++ {
		if o.flag(args[i], setting) {
			continue
		}
		if i+1 == len(args) || !o.timed(args[i]) {
			return o, false
		}
		i++
		o.time = args[i]
	}
	return o, true
}

// flag takes an option that stands alone, if it is one and may stand here.
func (o *options) flag(arg []byte, setting bool) bool {
	switch {
	case setting && is(arg, "nx") && !o.xx:
		o.nx = true
	case setting && is(arg, "xx") && !o.nx:
		o.xx = true
	case setting && is(arg, "get"):
		o.get = true
	case setting && is(arg, "keepttl") && o.unit == noTime:
		o.keep = true
	case !setting && is(arg, "persist") && o.unit == noTime:
		o.persist = true
	default:
		return false
	}
	return true
}

// timed takes an option that is followed by a time; the same one may be repeated.
func (o *options) timed(arg []byte) bool {
	if o.keep || o.persist {
		return false
	}
	for unit := seconds; unit <= atMillisecond; unit++ {
		if is(arg, timeWords[unit]) {
			if o.unit != noTime && o.unit != unit {
				return false
			}
			o.unit = unit
			return true
		}
	}
	return false
}

// timeAt reads a time that must be positive and turns it into a deadline; where
// it cannot be one it answers the error.
func (c *Call) timeAt(arg []byte, unit timeUnit) (int64, bool) {
	n, ok := parseInt(arg)
	if !ok {
		c.Fail(command.ErrNotInteger)
		return 0, false
	}
	if n <= 0 {
		c.failTime()
		return 0, false
	}
	deadline, ok := toDeadline(n, unit, c.Now)
	if !ok {
		c.failTime()
	}
	return deadline, ok
}

func (c *Call) failTime() { c.Fail(command.InvalidExpireTime(c.Cmd.Name)) }

// toDeadline reports false where the deadline is beyond 64 bits.
func toDeadline(n int64, unit timeUnit, now int64) (int64, bool) {
	if unit == seconds || unit == atSecond {
		if n > math.MaxInt64/1000 || n < math.MinInt64/1000 {
			return 0, false
		}
		n *= 1000
	}
	if unit == seconds || unit == milliseconds {
		if n > math.MaxInt64-now {
			return 0, false
		}
		n += now
	}
	return n, true
}
