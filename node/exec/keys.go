package exec

import (
	"math"

	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/node/command"
	"github.com/tiergrid/tiergrid/node/record"
)

// del answers DEL and UNLINK: deleting never blocks on the size of a value, so
// they are one.
func del(c *Call) {
	n := int64(0)
	for i := 1; i < len(c.Args); i++ {
		if c.View.Delete(c.key(i)) {
			n++
		}
	}
	c.Out.Int(n)
}

// exists answers EXISTS and TOUCH; a key that is named twice counts twice.
func exists(c *Call) {
	n := int64(0)
	for i := 1; i < len(c.Args); i++ {
		if _, found := c.View.Head(c.key(i)); found {
			n++
		}
	}
	c.Out.Int(n)
}

func typeOf(c *Call) {
	h, found := c.View.Head(c.key(1))
	if !found {
		c.Out.Status("none")
		return
	}
	c.Out.Status(h.Type.String())
}

// rename answers RENAME and RENAMENX.
func rename(c *Call) {
	k, to := c.key(1), c.keyIn(c.Cache, c.Args[2])
	unless := c.Cmd.Name == "renamenx"
	if _, found := c.View.Head(k); !found {
		c.Fail(command.ErrNoSuchKey)
		return
	}
	same := string(k.Name) == string(to.Name)
	switch {
	case unless && (same || c.has(to)):
		c.Out.Int(0)
		return
	case !same:
		c.duplicate(k, to)
		c.View.Delete(k)
	}
	if unless {
		c.Out.Int(1)
		return
	}
	c.Out.Status("OK")
}

func (c *Call) has(k *record.Key) bool {
	_, found := c.View.Head(k)
	return found
}

// duplicate writes the entry of k, deadline and flags with it, under another key.
func (c *Call) duplicate(k, to *record.Key) {
	h, p, found := c.View.Load(k)
	if !found {
		return
	}
	c.View.Keep(&p)
	c.View.Put(to, h, p.B)
}

type copyOptions struct {
	replace bool
	cache   *topology.Cache
}

// copyTo answers COPY.
func copyTo(c *Call) {
	o, ok := c.copyOptions()
	if !ok {
		return
	}
	k, to := c.key(1), c.keyIn(o.cache, c.Args[2])
	if o.cache == c.Cache && string(k.Name) == string(to.Name) {
		c.Fail(command.ErrSameObject)
		return
	}
	c.transfer(k, to, o)
}

func (c *Call) copyOptions() (copyOptions, bool) {
	o := copyOptions{cache: c.Cache}
	for i := 3; i < len(c.Args); i++ {
		switch arg := c.Args[i]; {
		case is(arg, "replace"):
			o.replace = true
		case is(arg, "db") && i+1 < len(c.Args):
			i++
			cache, ok := c.database(i)
			if !ok {
				return o, false
			}
			o.cache = cache
		default:
			c.Fail(command.ErrSyntax)
			return o, false
		}
	}
	return o, true
}

// database reads the number of a database; where there is no such one it answers
// the error.
func (c *Call) database(i int) (*topology.Cache, bool) {
	n, ok := c.integer(i)
	if !ok {
		return nil, false
	}
	if n < math.MinInt32 || n > math.MaxInt32 {
		c.Fail(command.OutOfBounds(math.MinInt32, math.MaxInt32))
		return nil, false
	}
	cache := c.Table.Database(int(n))
	if cache == nil {
		c.Fail(command.ErrDatabaseRange)
		return nil, false
	}
	return cache, true
}

// transfer duplicates k under to, if it may, and answers whether it did.
func (c *Call) transfer(k, to *record.Key, o copyOptions) bool {
	if o.cache.Group != c.Cache.Group { // not one unit: it could have half an effect
		c.Fail(command.ErrCrossSlot)
		return false
	}
	h, found := c.View.Head(k)
	if !found || (!o.replace && c.has(to)) {
		c.Out.Int(0)
		return false
	}
	if !c.fits(o.cache, int64(h.Length)) {
		return false
	}
	c.duplicate(k, to)
	c.Out.Int(1)
	return true
}

func move(c *Call) {
	cache, ok := c.database(2)
	if !ok {
		return
	}
	if cache == c.Cache {
		c.Fail(command.ErrSameObject)
		return
	}
	k := c.key(1)
	if c.transfer(k, c.keyIn(cache, c.Args[1]), copyOptions{cache: cache}) {
		c.View.Delete(k)
	}
}
