package unit

import "github.com/tiergrid/tiergrid/node/resp"

// arena is memory that lives until a Txn has committed: row keys, small records,
// payloads that commands build. It grows by whole chunks, so what it gave out
// never moves.
type arena struct {
	chunk []byte // the newest chunk; its length is what is used of it
	// kept are older chunks, and buffers of their own for what is larger than
	// a chunk.
	kept []*resp.Buffer
	last *resp.Buffer // the buffer that chunk lies in
}

const arenaChunk = 8 << 10

// alloc returns n bytes, not zeroed, with no capacity behind them.
func (a *arena) alloc(n int) []byte {
	if n > arenaChunk/2 {
		buf := resp.GetBuffer(n)
		a.kept = append(a.kept, buf)
		return buf.B[:n:n]
	}
	if cap(a.chunk)-len(a.chunk) < n {
		a.grow()
	}
	used := len(a.chunk)
	a.chunk = a.chunk[:used+n]
	return a.chunk[used : used+n : used+n]
}

// space returns an empty slice with room for n bytes, for append.
func (a *arena) space(n int) []byte { return a.alloc(n)[:0] }

// copy returns a copy of b.
func (a *arena) copy(b []byte) []byte {
	dst := a.alloc(len(b))
	copy(dst, b)
	return dst
}

// keep makes a buffer live as long as the rest.
func (a *arena) keep(buf *resp.Buffer) {
	if buf != nil {
		a.kept = append(a.kept, buf)
	}
}

func (a *arena) grow() {
	if a.last != nil {
		a.kept = append(a.kept, a.last)
	}
	a.last = resp.GetBuffer(arenaChunk)
	a.chunk = a.last.B[:0]
}

// arenaMark is a point to rewind to.
type arenaMark struct {
	kept int
	last *resp.Buffer
	used int
}

func (a *arena) mark() arenaMark { return arenaMark{len(a.kept), a.last, len(a.chunk)} }

// rewind takes back everything given out since the mark was made, so that a run
// of many commands which only read holds no more memory than one of them.
func (a *arena) rewind(m arenaMark) {
	for i := m.kept; i < len(a.kept); i++ {
		if a.kept[i] != m.last {
			a.kept[i].Release()
		}
		a.kept[i] = nil
	}
	a.kept = a.kept[:m.kept]
	if a.last != m.last && m.last != nil {
		a.last.Release()
		a.last = m.last
	}
	if a.last != nil {
		a.chunk = a.last.B[:m.used]
	}
}

// reset gives back everything but one chunk.
func (a *arena) reset() {
	for i, buf := range a.kept {
		buf.Release()
		a.kept[i] = nil
	}
	a.kept = a.kept[:0]
	a.chunk = a.chunk[:0]
}
