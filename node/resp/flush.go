package resp

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

const (
	// maxVector bounds the segments of one writev: the runtime keeps an array
	// of that size with the connection.
	maxVector = 64
	// gatherChunk is the most that one write to a destination without writev
	// takes, so that each has its own deadline.
	gatherChunk = 64 << 10
	// keptList is the longest list that goes back to the pool.
	keptList = 1024
)

// outlist is the output of a Writer that has more than one segment.
type outlist struct {
	segs [][]byte
	held []heldBuffer
	vec  net.Buffers // the segments being written
}

// heldBuffer is released after the flush: an owned payload, or a full chunk
// (with a nil buf if it is the Writer's inline array).
type heldBuffer struct {
	buf   *Buffer
	chunk bool
}

var outlists = sync.Pool{New: func() any { return new(outlist) }}

func takeOutlist() *outlist { return outlists.Get().(*outlist) }

func (l *outlist) put() {
	for _, h := range l.held {
		h.buf.Release()
	}
	l.vec = nil
	if cap(l.segs) > keptList {
		return
	}
	clear(l.segs)
	clear(l.held)
	l.segs, l.held = l.segs[:0], l.held[:0]
	outlists.Put(l)
}

// Flush writes everything with one write or writev where it can, and returns
// the memory to the pools, also if writing fails. After a failure the Writer
// drops all output and returns the same error for ever. Without a destination
// Flush does nothing.
func (w *Writer) Flush() error {
	if w.dst == nil || w.chunk == nil && w.list == nil && len(w.cur) == 0 {
		return w.err
	}
	if w.err == nil && w.Pending() > 0 { // memory without output is left by Truncate
		w.err = w.writePending()
	}
	w.Reset()
	return w.err
}

func (w *Writer) writePending() error {
	if w.list == nil {
		return w.writeAll(w.cur[w.start:])
	}
	w.seal()
	if w.vectored {
		return w.writeVectors()
	}
	return w.writeGathered(w.list.segs)
}

func (w *Writer) writeVectors() error {
	l := w.list
	for segs := l.segs; len(segs) > 0; {
		n := min(len(segs), maxVector)
		l.vec = segs[:n]
		segs = segs[n:]
		for len(l.vec) > 0 {
			w.arm()
			n, err := w.writeVector()
			if err := w.judge(int(n), err); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeVector writes from the front of the list's vec.
func (w *Writer) writeVector() (int64, error) {
	if w.poll == nil {
		return w.list.vec.WriteTo(w.dst)
	}
	n, err := w.poll.WriteBuffers(w.list.vec)
	w.list.vec = after(w.list.vec, int(n))
	return n, err
}

// after drops n bytes from the front of segs, which it changes.
func after(segs [][]byte, n int) [][]byte {
	for len(segs) > 0 && n >= len(segs[0]) {
		n -= len(segs[0])
		segs = segs[1:]
	}
	if n > 0 {
		segs[0] = segs[0][n:]
	}
	return segs
}

// Nonblocking is a destination that can also be written to without waiting.
type Nonblocking interface {
	// TryWrite and TryWriteBuffers write what the destination takes now, which may
	// be nothing; WriteBuffers writes everything.
	TryWrite(p []byte) (int, error)
	TryWriteBuffers(pieces [][]byte) (int, error)
	WriteBuffers(pieces [][]byte) (int64, error)
}

// TryFlush writes what a Nonblocking destination takes now, and reports whether
// that was everything. The rest stays, for Flush. Errors are as Flush's.
func (w *Writer) TryFlush() (all bool, err error) {
	for w.err == nil && w.Pending() > 0 {
		n, err := w.tryWrite()
		w.written += int64(n)
		if err != nil {
			w.err = err
			break
		}
		if n == 0 {
			return false, nil
		}
		w.drop(n)
	}
	w.Reset()
	return true, w.err
}

func (w *Writer) tryWrite() (int, error) {
	if w.list == nil {
		return w.poll.TryWrite(w.cur[w.start:])
	}
	w.seal()
	return w.poll.TryWriteBuffers(w.list.segs)
}

// drop removes n bytes that were written from the front of the output. Marks made
// before hold no longer.
func (w *Writer) drop(n int) {
	w.flushes++
	if w.list == nil {
		w.start += n
		return
	}
	rest := after(w.list.segs, n)
	kept := copy(w.list.segs, rest)
	clear(w.list.segs[kept:])
	w.list.segs = w.list.segs[:kept]
	w.listed -= n
}

// writeGathered copies small segments together, as a TLS connection makes a
// record and a system call of every write.
func (w *Writer) writeGathered(segs [][]byte) error {
	scratch := GetBuffer(gatherChunk)
	defer scratch.Release()
	b := scratch.B
	for _, s := range segs {
		for len(s) > 0 {
			n := min(len(s), gatherChunk-len(b))
			b = append(b, s[:n]...)
			s = s[n:]
			if len(b) < gatherChunk {
				break
			}
			if err := w.writeAll(b); err != nil {
				return err
			}
			b = b[:0]
		}
	}
	return w.writeAll(b)
}

func (w *Writer) writeAll(b []byte) error {
	for len(b) > 0 {
		round := b
		if !w.vectored {
			round = b[:min(len(b), gatherChunk)]
		}
		w.arm()
		n, err := w.dst.Write(round)
		if err := w.judge(n, err); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// arm sets the write deadline. Setting it costs more than looking at the
// clock, so it is set ahead and again only when less than timeout is left.
func (w *Writer) arm() {
	if w.timeout <= 0 || w.conn == nil {
		return
	}
	now := time.Now()
	if w.deadline.Sub(now) >= w.timeout {
		return
	}
	w.deadline = now.Add(w.timeout + w.timeout/4)
	_ = w.conn.SetWriteDeadline(w.deadline) // fails only on a closed connection, and so does the write
}

// judge counts and decides about a write that took n bytes: nil means go on.
func (w *Writer) judge(n int, err error) error {
	w.written += int64(n)
	switch {
	case err == nil && n > 0:
		return nil
	case err == nil:
		return io.ErrShortWrite
	case n > 0 && w.timeout > 0 && errors.Is(err, os.ErrDeadlineExceeded):
		w.deadline = time.Time{} // there was progress: another round
		return nil
	}
	return err
}
