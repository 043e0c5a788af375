package exec

import (
	"math"
	"strconv"

	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/node/command"
	"github.com/tiergrid/tiergrid/node/record"
	"github.com/tiergrid/tiergrid/node/resp"
)

const (
	// maxNames bounds the reply of KEYS, in bytes.
	maxNames = 64 << 20
	// maxPage bounds the reply of SCAN, in bytes, whatever COUNT says.
	maxPage = 1 << 20
	// defaultCount is COUNT of a SCAN without one.
	defaultCount = 10
	// cursorBits is the width of a cursor: slot and hash.
	cursorBits = 14 + record.HashBits
)

// names collects the names of a walk, for their number stands in front of them.
type names struct {
	filter filter
	w      *resp.Writer
	n      int
}

func (c *Call) newNames(f filter) *names {
	return &names{filter: f, w: resp.NewWriter(nil, c.Out.Proto())}
}

// take adds a name that passes the filter.
func (l *names) take(name []byte, h *record.Head) {
	if l.filter.allows(name, h) {
		l.w.Bulk(name)
		l.n++
	}
}

// reply answers the names as an array.
func (l *names) reply(out *resp.Writer) {
	out.Array(l.n)
	out.Raw(l.w.Bytes())
	l.w.Reset()
}

// filter is MATCH and TYPE; its zero value allows all.
type filter struct {
	pattern []byte
	matches bool // whether pattern counts
	kind    []byte
	typed   bool // whether kind counts
}

func (f *filter) setPattern(pattern []byte) {
	f.pattern = pattern
	f.matches = string(pattern) != "*" // which also allows the empty name
}

func (f *filter) allows(name []byte, h *record.Head) bool {
	return (!f.typed || is(f.kind, h.Type.String())) && (!f.matches || command.Match(f.pattern, name, false))
}

func keys(c *Call) {
	var f filter
	f.setPattern(c.Args[1])
	l := c.newNames(f)
	full := false
	c.View.Walk(c.Cache.ID, 0, func(name []byte, h *record.Head) bool {
		l.take(name, h)
		full = full || l.w.Pending() > maxNames
		return !full
	})
	if full {
		l.w.Reset()
		c.Fail(command.ErrTooManyNames)
		return
	}
	l.reply(c.Out)
}

func scan(c *Call) {
	cursor, ok := parseCursor(c.Args[1])
	if !ok {
		c.Fail(command.ErrInvalidCursor)
		return
	}
	f, count, ok := c.scanOptions()
	if !ok {
		return
	}
	l := c.newNames(f)
	next := uint64(0)
	if cursor>>cursorBits == 0 {
		next = c.View.Walk(c.Cache.ID, cursor, func(name []byte, h *record.Head) bool {
			l.take(name, h)
			count--
			return count > 0 && l.w.Pending() < maxPage
		})
	}
	c.Out.Array(2)
	c.Out.BulkString(strconv.FormatUint(next, 10))
	l.reply(c.Out)
}

func (c *Call) scanOptions() (f filter, count int64, ok bool) {
	count = defaultCount
	for i := 2; i < len(c.Args); i += 2 {
		if i+1 == len(c.Args) {
			c.Fail(command.ErrSyntax)
			return f, 0, false
		}
		switch arg, value := c.Args[i], c.Args[i+1]; {
		case is(arg, "count"):
			if count, ok = c.integer(i + 1); !ok {
				return f, 0, false
			}
			if count < 1 {
				c.Fail(command.ErrSyntax)
				return f, 0, false
			}
		case is(arg, "match"):
			f.setPattern(value)
		case is(arg, "type"):
			f.kind, f.typed = value, true
		default:
			c.Fail(command.ErrSyntax)
			return f, 0, false
		}
	}
	return f, count, true
}

// parseCursor reads what C's strtoul reads: the empty string is 0, a sign may
// stand in front, and a negative number counts down from 2^64.
func parseCursor(b []byte) (uint64, bool) {
	if len(b) == 0 {
		return 0, true
	}
	negative := b[0] == '-'
	if negative || b[0] == '+' {
		b = b[1:]
	}
	if len(b) == 0 {
		return 0, false
	}
	var n uint64
	for _, d := range b {
		digit := uint64(d - '0')
		if digit > 9 || n > (math.MaxUint64-digit)/10 {
			return 0, false
		}
		n = n*10 + digit
	}
	if negative {
		n = -n
	}
	return n, true
}

func randomKey(c *Call) {
	name, found := c.View.Random(c.Cache.ID)
	if !found {
		c.Out.Null()
		return
	}
	c.Out.Bulk(name)
}

func dbSize(c *Call) { c.Out.Int(c.View.Entries(c.Cache.ID)) }

func flushDB(c *Call) {
	if c.flushOption() {
		c.View.Clear(c.Cache.ID)
		c.Out.Status("OK")
	}
}

// flushAll clears every cache that has a database number.
func flushAll(c *Call) {
	if !c.flushOption() {
		return
	}
	for i := range c.Table.Caches {
		if cache := &c.Table.Caches[i]; cache.Database != topology.NoDatabase {
			c.View.Clear(cache.ID)
		}
	}
	c.Out.Status("OK")
}

// flushOption checks SYNC and ASYNC, which are the same here: clearing a cache
// does not visit its entries.
func (c *Call) flushOption() bool {
	if len(c.Args) == 1 || len(c.Args) == 2 && (is(c.Args[1], "sync") || is(c.Args[1], "async")) {
		return true
	}
	c.Fail(command.ErrSyntax)
	return false
}
