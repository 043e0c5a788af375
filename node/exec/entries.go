package exec

import (
	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/node/command"
	"github.com/tiergrid/tiergrid/node/record"
)

// key is the key that stands at an argument, good until the next call of key.
func (c *Call) key(i int) *record.Key {
	c.keys[0] = c.Key(i)
	return &c.keys[0]
}

// keyIn is a second key beside that of key, good until the next call of keyIn.
func (c *Call) keyIn(cache *topology.Cache, name []byte) *record.Key {
	c.keys[1] = c.KeyIn(cache, name)
	return &c.keys[1]
}

// head looks up a string without its payload. ok is false where the entry has
// another type, which is then answered.
func (c *Call) head(k *record.Key) (h record.Head, found, ok bool) {
	h, found = c.View.Head(k)
	switch {
	case !found:
		return record.Head{}, false, true
	case h.Type != record.TypeString:
		c.Fail(command.ErrWrongType)
		return h, true, false
	}
	return h, true, true
}

// load looks up a string with its payload, which the caller releases or passes
// on. ok is as for head.
func (c *Call) load(k *record.Key) (h record.Head, p Payload, found, ok bool) {
	h, p, found = c.View.Load(k)
	ok = c.isString(&h, &p, found)
	return h, p, found, ok
}

// isString releases the payload of an entry of another type and answers the error.
func (c *Call) isString(h *record.Head, p *Payload, found bool) bool {
	if !found || h.Type == record.TypeString {
		return true
	}
	p.Release()
	*p = Payload{}
	c.Fail(command.ErrWrongType)
	return false
}

// payload returns the bytes [from, to) of the payload of an entry with head h.
func (c *Call) payload(k *record.Key, h *record.Head, from, to int64) []byte {
	c.read = *h
	return c.View.Range(k, &c.read, from, to)
}

// fits checks the length of a payload before it is built; where it is over the
// limit of the cache it answers the error.
func (c *Call) fits(cache *topology.Cache, n int64) bool {
	if n > min(cache.Policy.MaxEntrySize, record.MaxPayload) {
		c.Fail(command.ErrStringTooLong)
		return false
	}
	return true
}

// put writes an entry whole. One whose deadline has already passed is removed
// instead, for nobody would ever see it.
func (c *Call) put(k *record.Key, h record.Head, payload []byte) {
	if h.Expired(c.Now) {
		c.View.Delete(k)
		return
	}
	c.View.Put(k, h, payload)
}

// inherit is the deadline of an entry that is changed: its own, or what the cache
// gives to a new one.
func (c *Call) inherit(h *record.Head, found bool) int64 {
	if found {
		return h.Deadline
	}
	return c.Deadline()
}
