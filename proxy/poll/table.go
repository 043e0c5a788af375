package poll

import "sync/atomic"

// table finds connections by file descriptor. A descriptor is used again soon after
// it was closed, so each use has a generation, which events carry: one that was on
// its way when its connection ended is told apart.
type table struct {
	pages      [maxConns / pageConns]atomic.Pointer[page]
	generation atomic.Uint32
}

type page [pageConns]atomic.Pointer[Conn]

const (
	pageConns = 1 << 10
	// maxConns is the most that the system lets a process open by default
	// (fs.nr_open).
	maxConns = 1 << 20
)

// slot returns the place of a descriptor, or nil where it is too large.
func (t *table) slot(fd int) *atomic.Pointer[Conn] {
	if fd < 0 || fd >= maxConns {
		return nil
	}
	entry := &t.pages[fd/pageConns]
	p := entry.Load()
	if p == nil {
		entry.CompareAndSwap(nil, new(page))
		p = entry.Load()
	}
	return &p[fd%pageConns]
}

func (t *table) add(c *Conn) {
	c.generation = t.generation.Add(1)
	if slot := t.slot(c.fd); slot != nil {
		slot.Store(c)
	}
}

// remove must come before the descriptor is closed.
func (t *table) remove(c *Conn) {
	if slot := t.slot(c.fd); slot != nil {
		slot.CompareAndSwap(c, nil)
	}
}

// find returns the connection that an event is of, or nil if that has ended.
func (t *table) find(fd int, generation uint32) *Conn {
	slot := t.slot(fd)
	if slot == nil {
		return nil
	}
	if c := slot.Load(); c != nil && c.generation == generation {
		return c
	}
	return nil
}
