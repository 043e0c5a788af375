package exec

import (
	"github.com/tiergrid/tiergrid/node/command"
	"github.com/tiergrid/tiergrid/node/record"
)

// get answers GET: the payload goes to the reply without a copy.
func get(c *Call) {
	h, p, found, sent := c.View.Send(c.key(1), c.Out)
	if sent {
		return
	}
	if c.isString(&h, &p, found) {
		c.reply(p, found)
	}
}

// reply answers a payload, which it passes on, or null.
func (c *Call) reply(p Payload, found bool) {
	if !found {
		c.Out.Null()
		return
	}
	c.Out.BulkOwned(p.B, p.Buf)
}

func set(c *Call) {
	o, ok := parseOptions(c.Args[3:], true)
	if !ok {
		c.Fail(command.ErrSyntax)
		return
	}
	deadline := c.Deadline()
	if o.unit != noTime {
		if deadline, ok = c.timeAt(o.time, o.unit); !ok {
			return
		}
	}
	if !c.fits(c.Cache, int64(len(c.Args[2]))) {
		return
	}
	k := c.key(1)
	switch {
	case o.get:
		c.setAndGet(k, o, deadline)
	case !o.nx && !o.xx && !o.keep:
		c.put(k, record.Head{Deadline: deadline}, c.Args[2])
		c.Out.Status("OK")
	default:
		c.setIf(k, o, deadline)
	}
}

// setIf is SET where the old entry decides something, which its head tells.
func (c *Call) setIf(k *record.Key, o options, deadline int64) {
	h, found := c.View.Head(k)
	if !o.allow(found) {
		c.Out.Null()
		return
	}
	c.put(k, record.Head{Deadline: o.deadline(&h, found, deadline)}, c.Args[2])
	c.Out.Status("OK")
}

// setAndGet is SET GET: it answers the old payload whether or not it sets.
func (c *Call) setAndGet(k *record.Key, o options, deadline int64) {
	h, p, found, ok := c.load(k)
	if !ok {
		return
	}
	if o.allow(found) {
		c.put(k, record.Head{Deadline: o.deadline(&h, found, deadline)}, c.Args[2])
	}
	c.reply(p, found)
}

// allow decides NX and XX.
func (o *options) allow(found bool) bool { return !(o.nx && found) && !(o.xx && !found) }

// deadline decides KEEPTTL.
func (o *options) deadline(h *record.Head, found bool, fresh int64) int64 {
	if o.keep && found {
		return h.Deadline
	}
	return fresh
}

func setNX(c *Call) {
	if !c.fits(c.Cache, int64(len(c.Args[2]))) {
		return
	}
	k := c.key(1)
	if _, found := c.View.Head(k); found {
		c.Out.Int(0)
		return
	}
	c.put(k, record.Head{Deadline: c.Deadline()}, c.Args[2])
	c.Out.Int(1)
}

// setEX answers SETEX and PSETEX.
func setEX(c *Call) {
	unit := seconds
	if c.Cmd.Name == "psetex" {
		unit = milliseconds
	}
	deadline, ok := c.timeAt(c.Args[2], unit)
	if !ok || !c.fits(c.Cache, int64(len(c.Args[3]))) {
		return
	}
	c.put(c.key(1), record.Head{Deadline: deadline}, c.Args[3])
	c.Out.Status("OK")
}

func getSet(c *Call) {
	if !c.fits(c.Cache, int64(len(c.Args[2]))) {
		return
	}
	c.setAndGet(c.key(1), options{}, c.Deadline())
}

func getDel(c *Call) {
	k := c.key(1)
	_, p, found, ok := c.load(k)
	if !ok {
		return
	}
	if found {
		c.View.Delete(k)
	}
	c.reply(p, found)
}

func getEX(c *Call) {
	o, ok := parseOptions(c.Args[2:], false)
	if !ok {
		c.Fail(command.ErrSyntax)
		return
	}
	k := c.key(1)
	h, p, found, ok := c.load(k)
	if !ok {
		return
	}
	if found && !c.changeDeadline(k, h, o) {
		p.Release()
		return
	}
	c.reply(p, found)
}

// changeDeadline does what the options of GETEX say.
func (c *Call) changeDeadline(k *record.Key, h record.Head, o options) bool {
	switch {
	case o.unit != noTime:
		deadline, ok := c.timeAt(o.time, o.unit)
		if !ok {
			return false
		}
		c.setDeadline(k, h, deadline)
	case o.persist && h.Deadline != 0:
		h.Deadline = 0
		c.View.PutHead(k, h)
	}
	return true
}

// maxMultiReply bounds the reply of one MGET: a short command may name a long
// value many times, and its reply cannot leave before it is whole.
const maxMultiReply = 512 << 20

func mget(c *Call) {
	start, before := c.Out.Mark(), c.Out.Pending()
	c.Out.Array(len(c.Args) - 1)
	for i := 1; i < len(c.Args); i++ {
		if c.Out.Pending()-before > maxMultiReply {
			c.Out.Truncate(start)
			c.Fail(command.ErrReplyTooLarge)
			return
		}
		h, p, found := c.View.Load(c.key(i))
		if found && h.Type != record.TypeString {
			p.Release()
			found = false
		}
		c.reply(p, found)
	}
}

func mset(c *Call) {
	if c.pairs() {
		c.setPairs()
		c.Out.Status("OK")
	}
}

func msetNX(c *Call) {
	if !c.pairs() {
		return
	}
	for i := 1; i < len(c.Args); i += 2 {
		if _, found := c.View.Head(c.key(i)); found {
			c.Out.Int(0)
			return
		}
	}
	c.setPairs()
	c.Out.Int(1)
}

// pairs checks the arguments of MSET and MSETNX.
func (c *Call) pairs() bool {
	if len(c.Args)%2 == 0 {
		c.Fail(command.WrongArity(c.Cmd.Name))
		return false
	}
	for i := 2; i < len(c.Args); i += 2 {
		if !c.fits(c.Cache, int64(len(c.Args[i]))) {
			return false
		}
	}
	return true
}

func (c *Call) setPairs() {
	head := record.Head{Deadline: c.Deadline()}
	for i := 1; i < len(c.Args); i += 2 {
		c.put(c.key(i), head, c.Args[i+1])
	}
}
