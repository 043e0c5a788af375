package resp

import (
	"errors"
	"io"
)

const (
	// smallChunk is the read buffer of a connection without a backlog: a
	// pipeline of 16 commands of 100 bytes fits.
	smallChunk = 3 << 10
	// largeChunk is the pooled read buffer taken once a read fills the small one.
	largeChunk = 32 << 10
	// A longer argument that is not buffered yet goes into a Buffer of its own.
	maxChunked = largeChunk / 2

	// argOverhead is what an argument costs beside its bytes.
	argOverhead = 32
	// keptHeld is the most entries that an idle Reader's lists of held memory keep.
	keptHeld = 8
)

// ErrNoProgress is returned when the source keeps returning neither bytes nor
// an error.
var ErrNoProgress = errors.New("resp: source returns no data and no error")

// Reader reads the commands of one connection. It is owned by one goroutine.
//
// Commands are parsed where they were read. When the chunk is full, the token
// being read (never a whole argument list) moves to a new chunk, and the old
// one is held for the arguments in it until Release.
type Reader struct {
	src    io.Reader
	srcErr error // came with the last bytes, due at the next read
	lim    Limits
	err    error // the protocol error that ended this stream

	// The chunk. buf[rd:wr] is read but not parsed, and rd is always the start
	// of a token: an inline line, a header, or an argument.
	chunk *Buffer
	buf   []byte
	rd    int
	wr    int
	live  bool // unreleased arguments lie in this chunk
	// scanned is how much of the token at rd is known to hold no line end, so
	// that a line that comes byte by byte is searched once.
	scanned int
	// backlog: the last read filled the small chunk, so take a large one.
	backlog bool
	// window, if set, bounds the next read: after a large argument another one
	// is likely, and what is read ahead of it has to be copied.
	window int

	// The command being read.
	left int     // arguments still to come; 0 between commands
	bulk int     // length of the argument being read, or noBulk
	body *Buffer // that argument, when it has a Buffer of its own
	size int     // bytes of the command so far, with overhead
	args arglist

	// Memory of arguments not in the chunk. The first heldDone entries belong
	// only to commands handed out, the rest also to the one being read.
	held     []*Buffer
	heldDone int
	pending  int
	// proven is the largest argument this connection has sent: that much may
	// be reserved on a mere announcement.
	proven int

	small Buffer
}

const noBulk = -1

// NewReader returns a Reader of src with the given limits.
func NewReader(src io.Reader, l Limits) *Reader {
	r := &Reader{src: src, lim: l.withDefaults(), bulk: noBulk}
	r.small.class = classOwned
	return r
}

// SetLimits changes the limits for what is parsed from now on.
func (r *Reader) SetLimits(l Limits) { r.lim = l.withDefaults() }

// Next returns the next command, reading the connection until it is complete.
// Its arguments alias pooled memory and are valid until Release; each has no
// capacity beyond its length. Empty commands are skipped as Redis does.
//
// A *ProtocolError is final. An error of the source is returned as it is
// (io.ErrUnexpectedEOF for an end within a command); after a temporary one,
// as a read deadline, Next may be called again and loses nothing.
func (r *Reader) Next() ([][]byte, error) {
	for {
		args, ok, err := r.TryNext()
		if ok || err != nil {
			return args, err
		}
		if err := r.Fill(); err != nil {
			return nil, err
		}
	}
}

// TryNext returns the next command if all of it is buffered. It never reads
// the connection.
func (r *Reader) TryNext() ([][]byte, bool, error) {
	if r.err != nil {
		return nil, false, r.err
	}
	done, err := r.parse()
	if err != nil {
		r.err = err
		return nil, false, err
	}
	if !done {
		return nil, false, nil
	}
	r.pending += r.size
	r.size = 0
	r.heldDone = len(r.held)
	return r.args.take(), true, nil
}

// Release ends the life of all arguments returned so far. Memory that no
// longer serves anything goes back to the pools.
func (r *Reader) Release() {
	r.releaseHeld(r.heldDone)
	r.args.release()
	r.pending = 0
	r.live = r.args.count() > 0
	if r.left == 0 && r.rd == r.wr {
		r.idle()
	}
}

// Close returns all memory to the pools. The Reader must not be used again.
func (r *Reader) Close() {
	if r.body != nil {
		r.body.Release()
		r.body = nil
	}
	r.err = io.ErrClosedPipe
	r.left, r.rd, r.wr = 0, 0, 0
	r.releaseHeld(len(r.held))
	r.args.take()
	r.args.release()
	r.idle()
}

// Buffered returns the bytes read but not yet parsed.
func (r *Reader) Buffered() int {
	n := r.wr - r.rd
	if r.body != nil {
		n += len(r.body.B)
	}
	return n
}

// Pending returns the bytes held for arguments not yet released, with a small
// overhead for each.
func (r *Reader) Pending() int { return r.pending }

func (r *Reader) releaseHeld(n int) {
	for _, b := range r.held[:n] {
		b.Release()
	}
	rest := copy(r.held, r.held[n:])
	clear(r.held[rest:])
	r.held = r.held[:rest]
	r.heldDone = 0
}

// idle returns to the small chunk: nothing is buffered, no argument lives.
func (r *Reader) idle() {
	r.rd, r.wr, r.scanned, r.backlog = 0, 0, 0, false
	poison(r.small.mem)
	r.args.shrink()
	if cap(r.held) > keptHeld {
		r.held = nil
	}
	if r.chunk != nil && r.chunk != &r.small {
		r.chunk.Release()
		r.setChunk(nil, nil)
	}
}

func (r *Reader) setChunk(b *Buffer, buf []byte) {
	r.chunk, r.buf = b, buf
	r.live = false
}
