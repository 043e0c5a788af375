package exec

import (
	"math"

	"github.com/tiergrid/tiergrid/node/command"
	"github.com/tiergrid/tiergrid/node/record"
	"github.com/tiergrid/tiergrid/node/resp"
)

// dump answers DUMP in Redis's form.
func dump(c *Call) {
	_, p, found, ok := c.load(c.key(1))
	if !ok {
		return
	}
	defer p.Release()
	if !found {
		c.Out.Null()
		return
	}
	buf := resp.GetBuffer(len(p.B) + dumpOverhead)
	buf.B = appendDump(buf.B, p.B)
	c.Out.BulkOwned(buf.B, buf)
}

type restoreOptions struct{ replace, absolute bool }

func restore(c *Call) {
	o, ok := c.restoreOptions()
	if !ok {
		return
	}
	k := c.key(1)
	if !o.replace && c.has(k) {
		c.Fail(command.ErrBusyKey)
		return
	}
	deadline, ok := c.restoreDeadline(o)
	if !ok {
		return
	}
	payload, ok := c.restorePayload(c.Args[3])
	if !ok {
		return
	}
	if deadline != 0 && deadline <= c.Now {
		c.View.Delete(k)
	} else {
		c.put(k, record.Head{Deadline: deadline}, payload)
	}
	c.Out.Status("OK")
}

func (c *Call) restoreOptions() (o restoreOptions, ok bool) {
	idle, freq := false, false
	for i := 4; i < len(c.Args); i++ {
		switch arg, more := c.Args[i], i+1 < len(c.Args); {
		case is(arg, "replace"):
			o.replace = true
		case is(arg, "absttl"):
			o.absolute = true
		case is(arg, "idletime") && more && !freq:
			i++
			idle, ok = true, c.bounded(i, math.MaxInt64, command.ErrInvalidIdleTime)
			if !ok {
				return o, false
			}
		case is(arg, "freq") && more && !idle:
			i++
			freq, ok = true, c.bounded(i, math.MaxUint8, command.ErrInvalidFrequency)
			if !ok {
				return o, false
			}
		default:
			c.Fail(command.ErrSyntax)
			return o, false
		}
	}
	return o, true
}

// bounded checks that an integer stands at an argument that is not negative and
// at most most. Idle times and frequencies are not kept.
func (c *Call) bounded(i int, most int64, err command.Error) bool {
	n, ok := c.integer(i)
	if ok && (n < 0 || n > most) {
		c.Fail(err)
		return false
	}
	return ok
}

// restoreDeadline reads the TTL in milliseconds; 0 is none.
func (c *Call) restoreDeadline(o restoreOptions) (int64, bool) {
	n, ok := c.integer(2)
	switch {
	case !ok:
		return 0, false
	case n < 0, !o.absolute && n > math.MaxInt64-c.Now:
		c.Fail(command.ErrInvalidTTL)
		return 0, false
	case n == 0:
		return c.Deadline(), true
	case o.absolute:
		return n, true
	}
	return c.Now + n, true
}

// restorePayload decodes a dump into memory that may be written.
func (c *Call) restorePayload(dumped []byte) ([]byte, bool) {
	body, err := checkDump(dumped)
	if err != "" {
		c.Fail(err)
		return nil, false
	}
	s, err := parseString(body)
	if err != "" {
		c.Fail(err)
		return nil, false
	}
	if !c.fits(c.Cache, s.length) {
		return nil, false
	}
	if !s.packed {
		return s.plain, true
	}
	payload := c.View.Alloc(int(s.length))
	if !unpack(payload, s.plain) {
		c.Fail(command.ErrBadData)
		return nil, false
	}
	return payload, true
}
