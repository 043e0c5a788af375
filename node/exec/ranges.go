package exec

import (
	"github.com/tiergrid/tiergrid/node/command"
	"github.com/tiergrid/tiergrid/node/record"
)

func strlen(c *Call) {
	if h, _, ok := c.head(c.key(1)); ok {
		c.Out.Int(int64(h.Length))
	}
}

// appendTo answers APPEND. Only the rows at the end of the payload are touched.
func appendTo(c *Call) {
	k, data := c.key(1), c.Args[2]
	h, found, ok := c.head(k)
	total := int64(h.Length) + int64(len(data))
	if !ok || !c.fits(c.Cache, total) {
		return
	}
	if found {
		c.patch(k, h, int64(h.Length), data)
	} else {
		c.put(k, record.Head{Deadline: c.Deadline()}, data)
	}
	c.Out.Int(total)
}

// patch writes data into a string that exists; from then on it is shown as raw.
func (c *Call) patch(k *record.Key, h record.Head, at int64, data []byte) {
	switch marked := h.Flags&record.FlagRaw != 0; {
	case len(data) > 0:
		h.Flags |= record.FlagRaw
		c.View.Patch(k, h, at, data)
	case !marked:
		h.Flags |= record.FlagRaw
		c.View.PutHead(k, h)
	}
}

func setRange(c *Call) {
	at, ok := c.integer(2)
	if !ok {
		return
	}
	if at < 0 {
		c.Fail(command.ErrOffset)
		return
	}
	k, data := c.key(1), c.Args[3]
	h, found, ok := c.head(k)
	if !ok {
		return
	}
	if len(data) == 0 {
		c.Out.Int(int64(h.Length))
		return
	}
	if !c.fits(c.Cache, reach(at, len(data))) {
		return
	}
	c.overwrite(k, h, found, at, data)
	c.Out.Int(max(int64(h.Length), at+int64(len(data))))
}

// overwrite writes data at an offset of a string, which is made where it is
// missing.
func (c *Call) overwrite(k *record.Key, h record.Head, found bool, at int64, data []byte) {
	if found {
		c.patch(k, h, at, data)
		return
	}
	payload := c.View.Alloc(int(at) + len(data))
	clear(payload[:at])
	copy(payload[at:], data)
	c.put(k, record.Head{Flags: record.FlagRaw, Deadline: c.Deadline()}, payload)
}

// getRange answers GETRANGE and SUBSTR. Only the rows of the range are read.
func getRange(c *Call) {
	first, last, ok := c.integers(2)
	if !ok {
		return
	}
	k := c.key(1)
	h, found, ok := c.head(k)
	if !ok {
		return
	}
	from, to := span(first, last, int64(h.Length))
	if !found || from >= to {
		c.Out.Bulk(nil)
		return
	}
	c.Out.Bulk(c.payload(k, &h, from, to))
}

// reach is the length of a string with n bytes at an offset, which may be any
// number.
func reach(at int64, n int) int64 { return min(at, record.MaxPayload) + int64(n) }
