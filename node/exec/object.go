package exec

import (
	"math"

	"github.com/tiergrid/tiergrid/node/command"
	"github.com/tiergrid/tiergrid/node/record"
)

const (
	// embeddedMax is the longest string that Redis keeps within its object.
	embeddedMax = 44
	// sharedInts is how many integers, from 0 on, Redis shares among all keys.
	sharedInts = 10000
)

// object looks up the entry that OBJECT asks about; a missing one is answered.
func (c *Call) object() (k *record.Key, h record.Head, found bool) {
	k = c.key(2)
	h, found = c.View.Head(k)
	if !found {
		c.Out.Null()
	}
	return k, h, found
}

// objectEncoding answers how Redis would keep the value.
func objectEncoding(c *Call) {
	k, h, found := c.object()
	if !found {
		return
	}
	switch _, integer := c.asInt(k, &h); {
	case integer:
		c.Out.BulkString("int")
	case h.Length <= embeddedMax && h.Flags&record.FlagRaw == 0:
		c.Out.BulkString("embstr")
	default:
		c.Out.BulkString("raw")
	}
}

// asInt is the value of a string that Redis would keep as an integer.
func (c *Call) asInt(k *record.Key, h *record.Head) (int64, bool) {
	if h.Flags&record.FlagRaw != 0 || int(h.Length) > longestInt {
		return 0, false
	}
	return parseInt(c.payload(k, h, 0, int64(h.Length)))
}

// objectRefcount answers 1, or that of a shared integer.
func objectRefcount(c *Call) {
	k, h, found := c.object()
	if !found {
		return
	}
	if n, integer := c.asInt(k, &h); integer && n >= 0 && n < sharedInts {
		c.Out.Int(math.MaxInt32)
		return
	}
	c.Out.Int(1)
}

func objectFreq(c *Call) {
	if _, _, found := c.object(); found {
		c.Fail(command.ErrNoFrequency)
	}
}

func objectIdleTime(c *Call) {
	if _, _, found := c.object(); found {
		c.Fail(command.ErrNoIdleTime)
	}
}

func objectHelp(c *Call) { command.AppendHelp(c.Out, c.Cmd.Parent) }
