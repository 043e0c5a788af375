package exec

import (
	"strings"

	"github.com/tiergrid/tiergrid/node/command"
	"github.com/tiergrid/tiergrid/node/record"
)

// expireUnit tells the four commands that set a deadline apart.
func expireUnit(name string) timeUnit {
	switch name {
	case "expire":
		return seconds
	case "pexpire":
		return milliseconds
	case "expireat":
		return atSecond
	}
	return atMillisecond
}

// conditions are the options of EXPIRE.
type conditions struct{ nx, xx, gt, lt bool }

// expire answers EXPIRE, PEXPIRE, EXPIREAT and PEXPIREAT.
func expire(c *Call) {
	when, err := parseConditions(c.Args[3:])
	if err != "" {
		c.Fail(err)
		return
	}
	n, ok := c.integer(2)
	if !ok {
		return
	}
	deadline, ok := toDeadline(n, expireUnit(c.Cmd.Name), c.Now)
	if !ok {
		c.failTime()
		return
	}
	k := c.key(1)
	h, found := c.View.Head(k)
	if !found || !when.allow(h.Deadline, deadline) {
		c.Out.Int(0)
		return
	}
	c.setDeadline(k, h, deadline)
	c.Out.Int(1)
}

func parseConditions(args [][]byte) (o conditions, err command.Error) {
	for _, arg := range args {
		switch {
		case is(arg, "nx"):
			o.nx = true
		case is(arg, "xx"):
			o.xx = true
		case is(arg, "gt"):
			o.gt = true
		case is(arg, "lt"):
			o.lt = true
		default:
			return o, command.UnsupportedOption(arg)
		}
	}
	switch {
	case o.nx && (o.xx || o.gt || o.lt):
		return o, command.ErrExpireConflict
	case o.gt && o.lt:
		return o, command.ErrExpireOrder
	}
	return o, ""
}

// allow decides by the deadline there is (0: none, which counts as infinite).
func (o *conditions) allow(old, deadline int64) bool {
	switch {
	case o.nx && old != 0, o.xx && old == 0:
		return false
	case o.gt && (old == 0 || deadline <= old):
		return false
	case o.lt && old != 0 && deadline >= old:
		return false
	}
	return true
}

// setDeadline gives an entry a deadline; one that is not in the future removes it.
func (c *Call) setDeadline(k *record.Key, h record.Head, deadline int64) {
	if deadline <= c.Now {
		c.View.Delete(k)
		return
	}
	h.Deadline = deadline
	c.View.PutHead(k, h)
}

// ttl answers TTL, PTTL, EXPIRETIME and PEXPIRETIME.
func ttl(c *Call) {
	h, found := c.View.Head(c.key(1))
	switch {
	case !found:
		c.Out.Int(-2)
		return
	case h.Deadline == 0:
		c.Out.Int(-1)
		return
	}
	n := h.Deadline
	if strings.HasSuffix(c.Cmd.Name, "ttl") {
		n = max(0, n-c.Now)
	}
	if c.Cmd.Name[0] != 'p' {
		n = n/1000 + (n%1000+500)/1000 // rounded, without overflow
	}
	c.Out.Int(n)
}

func persist(c *Call) {
	k := c.key(1)
	h, found := c.View.Head(k)
	if !found || h.Deadline == 0 {
		c.Out.Int(0)
		return
	}
	h.Deadline = 0
	c.View.PutHead(k, h)
	c.Out.Int(1)
}
