package resp

import "io"

const (
	// aheadMin may always be reserved ahead of an announced argument.
	aheadMin = 64 << 10
	// aheadMax may be reserved for a connection that has sent as much before.
	aheadMax = 256 << 10

	maxEmptyReads = 100
)

// Fill reads from the source once, for TryNext. Its errors are those of Next.
func (r *Reader) Fill() error {
	if r.body != nil {
		return r.fillBody()
	}
	r.makeRoom()
	end := len(r.buf)
	if r.window > 0 {
		end = min(end, r.wr+r.window)
		r.window = 0
	}
	n, err := r.read(r.buf[r.wr:end])
	r.wr += n
	r.backlog = r.wr == len(r.buf) && r.chunk == &r.small
	return err
}

// read returns as soon as there are bytes; an error that comes with them is
// kept for the next call.
func (r *Reader) read(p []byte) (int, error) {
	if err := r.srcErr; err != nil {
		r.srcErr = nil
		return 0, r.sourceError(err)
	}
	for range maxEmptyReads {
		n, err := r.src.Read(p)
		if n > 0 {
			r.srcErr = err
			return n, nil
		}
		if err != nil {
			return 0, r.sourceError(err)
		}
	}
	return 0, ErrNoProgress
}

func (r *Reader) sourceError(err error) error {
	if err == io.EOF && (r.left > 0 || r.rd < r.wr) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// startBody moves what has arrived of a large argument into its own Buffer,
// from where on it is read without passing through the chunk.
func (r *Reader) startBody(need int) {
	ahead := max(aheadMin, min(r.proven, aheadMax), r.wr-r.rd)
	r.body = GetBuffer(min(need, ahead))
	r.body.B = append(r.body.B, r.buf[r.rd:r.wr]...)
	r.rd = r.wr
}

func (r *Reader) fillBody() error {
	need := r.bulk + 2
	if len(r.body.B) == cap(r.body.B) {
		r.growBody(need)
	}
	b := r.body.B
	n, err := r.read(b[len(b):min(cap(b), need)])
	r.body.B = b[:len(b)+n]
	return err
}

// growBody doubles the Buffer, or takes the exact class if that is enough: an
// argument costs at most the same again in copying, and reserves no more than
// has arrived.
func (r *Reader) growBody(need int) {
	old := r.body
	r.body = GetBuffer(min(need, 2*cap(old.B)))
	r.body.B = append(r.body.B, old.B...)
	old.Release()
}

// makeRoom sees to it that the chunk can take at least one more byte, and the
// rest of an argument whose length is known.
func (r *Reader) makeRoom() {
	if r.chunk == nil {
		r.takeSmall()
	}
	if r.rd == r.wr && !r.live {
		r.rd, r.wr = 0, 0
	}
	want := 1
	token := r.wr - r.rd
	if r.bulk != noBulk {
		want = r.bulk + 2 - token
	}
	switch {
	case r.backlog:
	case len(r.buf)-r.wr >= want:
		return
	case !r.live && r.rd > 0 && token+want <= len(r.buf):
		r.wr = copy(r.buf, r.buf[r.rd:r.wr])
		r.rd = 0
		return
	}
	r.newChunk(token + max(token, want))
}

func (r *Reader) takeSmall() {
	if r.small.mem == nil {
		r.small.mem = make([]byte, smallChunk)
	}
	r.setChunk(&r.small, r.small.mem)
}

// newChunk continues in a chunk of at least size bytes. The old one is held if
// arguments lie in it.
func (r *Reader) newChunk(size int) {
	old, live := r.chunk, r.live
	b := GetBuffer(max(size, largeChunk))
	n := copy(b.mem, r.buf[r.rd:r.wr])
	r.setChunk(b, b.mem)
	r.rd, r.wr, r.backlog = 0, n, false
	if live {
		r.held = append(r.held, old)
		return
	}
	old.Release()
}
