package resp

import (
	"bytes"
	"io"
	"net"
	"time"
)

const (
	// ownedMin is the payload from which BulkOwned keeps the Buffer instead of
	// copying out of it.
	ownedMin = 4 << 10
	// segmentMin is the payload from which a copy gets a Buffer of its own.
	segmentMin = 16 << 10
	// dueBytes is the flush threshold.
	dueBytes = 256 << 10

	inlineChunk = 256
)

// Chunks of small replies grow through these sizes; beyond the last a further
// chunk is started.
var chunkSizes = [...]int{4 << 10, 16 << 10, maxChunk}

const maxChunk = 64 << 10

// Writer encodes replies and writes them out on Flush. It is owned by one
// goroutine. The write deadline of a net.Conn it writes to is the Writer's.
//
// Output is a list of segments: pieces of chunks, and large payloads in
// Buffers of their own. The list exists from the second segment on; until then
// all output is the open chunk.
type Writer struct {
	dst      io.Writer
	conn     net.Conn    // dst, if it is one
	vectored bool        // dst takes many segments in one call
	poll     Nonblocking // dst, if it is one
	proto    int8
	off      bool
	err      error // of the write that failed; nothing is written after it

	// The open chunk: cur[start:] is the last piece of output, not listed yet.
	chunk   *Buffer // holds cur, or nil while it is the inline array
	cur     []byte
	start   int
	list    *outlist
	listed  int    // bytes in list
	chunkNo int    // number of chunks started since the last flush
	flushes uint64 // tells marks that are too old
	written int64

	lastError string

	timeout  time.Duration
	deadline time.Time // as last set on conn

	inline [inlineChunk]byte
}

// NewWriter returns a Writer of the given protocol version, 2 or 3. Large
// output goes out with writev if dst itself is a *net.TCPConn, a *net.UnixConn or
// Nonblocking, so it should not be wrapped without need; other destinations get it copied
// into writes of 64 KiB. With a nil dst the Writer only collects: see Bytes and
// WriteTo.
func NewWriter(dst io.Writer, proto int) *Writer {
	w := &Writer{dst: dst, proto: int8(proto)}
	w.cur = w.inline[:0]
	w.conn, _ = dst.(net.Conn)
	w.poll, w.vectored = dst.(Nonblocking)
	switch dst.(type) {
	case *net.TCPConn, *net.UnixConn:
		w.vectored = true
	}
	return w
}

// Proto returns the protocol version, 2 or 3.
func (w *Writer) Proto() int { return int(w.proto) }

// SetProto changes the protocol version for what is encoded from now on.
func (w *Writer) SetProto(proto int) { w.proto = int8(proto) }

// SetWriteTimeout sets how long the peer may take nothing before the Writer
// gives up; zero is for ever. A peer that takes some bytes within each such
// time is served however slow it is. It may take a quarter longer to be noticed.
func (w *Writer) SetWriteTimeout(d time.Duration) {
	w.timeout = d
	w.deadline = time.Time{}
	if d == 0 && w.conn != nil {
		_ = w.conn.SetWriteDeadline(time.Time{}) // a closed connection fails at the next write
	}
}

// Discard makes the encoders append nothing while on (CLIENT REPLY OFF and
// SKIP). Owned buffers are released, errors still count for LastError.
func (w *Writer) Discard(on bool) { w.off = on }

// Err returns the write error that made the Writer useless, or nil.
func (w *Writer) Err() error { return w.err }

// LastError returns the text of the last Error since ResetError, or "".
func (w *Writer) LastError() string { return w.lastError }

// ResetError forgets LastError.
func (w *Writer) ResetError() { w.lastError = "" }

// Pending returns the bytes not yet written.
func (w *Writer) Pending() int { return w.listed + len(w.cur) - w.start }

// Written returns the bytes that the destination has taken since the start, by
// Flush, whoever called it.
func (w *Writer) Written() int64 { return w.written }

// Due reports whether enough is pending to be flushed at once.
func (w *Writer) Due() bool { return w.Pending() >= dueBytes }

// silent tells the encoders to append nothing.
func (w *Writer) silent() bool { return w.off || w.err != nil }

// room makes the open chunk take n more bytes.
func (w *Writer) room(n int) {
	if cap(w.cur)-len(w.cur) < n {
		w.grow(n)
	}
}

// grow replaces the open chunk by a larger one, or starts another when it is
// at its largest or partly listed already.
func (w *Writer) grow(n int) {
	if w.start > 0 || len(w.cur)+n > maxChunk && len(w.cur) > 0 {
		w.nextChunk(n)
		return
	}
	b := GetBuffer(chunkSize(len(w.cur) + n))
	b.B = append(b.B, w.cur...)
	w.chunk.Release()
	w.chunk, w.cur = b, b.B
}

func (w *Writer) nextChunk(n int) {
	if w.start == 0 {
		n = max(n, maxChunk) // it is filling fast
	}
	w.seal()
	w.list.held = append(w.list.held, heldBuffer{buf: w.chunk, chunk: true})
	w.chunk = GetBuffer(chunkSize(n))
	w.cur, w.start = w.chunk.B, 0
	w.chunkNo++
}

func chunkSize(n int) int {
	for _, size := range chunkSizes {
		if n <= size {
			return size
		}
	}
	return n
}

// seal lists what the open chunk holds.
func (w *Writer) seal() {
	if w.list == nil {
		w.list = takeOutlist()
	}
	if n := len(w.cur); n > w.start {
		w.list.segs = append(w.list.segs, w.cur[w.start:n:n])
		w.listed += n - w.start
		w.start = n
	}
}

// segment adds b as a segment. buf, which holds it, passes to the Writer.
func (w *Writer) segment(b []byte, buf *Buffer) {
	w.seal()
	w.list.segs = append(w.list.segs, b)
	w.list.held = append(w.list.held, heldBuffer{buf: buf})
	w.listed += len(b)
}

// copySegment adds a copy of b as a segment.
func (w *Writer) copySegment(b []byte) {
	buf := GetBuffer(len(b))
	buf.B = append(buf.B, b...)
	w.segment(buf.B, buf)
}

// Reset drops all that is pending and returns its memory to the pools.
func (w *Writer) Reset() {
	w.chunk.Release()
	if w.list != nil {
		w.list.put()
	}
	w.chunk, w.list = nil, nil
	w.cur = w.inline[:0]
	w.start, w.listed, w.chunkNo = 0, 0, 0
	w.flushes++
}

// Bytes returns a copy of what is pending. It is meant for Writers that
// collect, and for tests.
func (w *Writer) Bytes() []byte {
	if w.list == nil {
		return bytes.Clone(w.cur[w.start:])
	}
	b := make([]byte, 0, w.Pending())
	for _, s := range w.list.segs {
		b = append(b, s...)
	}
	return append(b, w.cur[w.start:]...)
}

// WriteTo writes what is pending to dst, whatever the Writer's own destination
// is, and drops it.
func (w *Writer) WriteTo(dst io.Writer) (int64, error) {
	b := w.Bytes()
	w.Reset()
	n, err := dst.Write(b)
	return int64(n), err
}

// Mark is a place in the output of a Writer.
type Mark struct {
	flushes                            uint64
	segs, held, chunkNo, listed, start int
	end                                int
}

// Mark returns the present end of the output.
func (w *Writer) Mark() Mark {
	m := Mark{flushes: w.flushes, chunkNo: w.chunkNo, listed: w.listed, start: w.start, end: len(w.cur)}
	if w.list != nil {
		m.segs, m.held = len(w.list.segs), len(w.list.held)
	}
	return m
}

// Truncate drops all that was appended after m. It returns false, and drops
// nothing, if the output was flushed in between.
func (w *Writer) Truncate(m Mark) bool {
	if m.flushes != w.flushes {
		return false
	}
	if w.list != nil {
		w.truncateList(m)
	}
	w.cur, w.start, w.listed = w.cur[:m.end], m.start, m.listed
	return true
}

// truncateList releases what the list holds since m. If the chunk that was
// open at m is among it, it is the first chunk there and becomes open again.
func (w *Writer) truncateList(m Mark) {
	reopen := w.chunkNo != m.chunkNo
	if reopen {
		w.chunk.Release()
		w.chunkNo = m.chunkNo
	}
	for _, h := range w.list.held[m.held:] {
		if h.chunk && reopen {
			reopen = false
			w.reopen(h.buf)
			continue
		}
		h.buf.Release()
	}
	clear(w.list.held[m.held:])
	clear(w.list.segs[m.segs:])
	w.list.held, w.list.segs = w.list.held[:m.held], w.list.segs[:m.segs]
}

func (w *Writer) reopen(chunk *Buffer) {
	w.chunk = chunk
	if chunk == nil {
		w.cur = w.inline[:]
		return
	}
	w.cur = chunk.mem
}
