package resp

import "sync"

// arglist stores the argument slices of the commands of one batch: the
// commands already handed out lie in v[:open], the one being parsed in
// v[open:]. A command's arguments are always contiguous; when the slab is
// full, the open command moves to a larger one and the old slab stays with the
// commands in it until release.
type arglist struct {
	v     [][]byte
	open  int
	slab  *argSlab   // owner of v, nil while v lies in first
	old   []*argSlab // full slabs that handed-out commands still use
	first [inlineArgs][]byte
}

// A connection that sends one short command at a time needs no slab.
const inlineArgs = 6

type argSlab struct {
	v     [][]byte
	class int8
}

// batchSlab is where slabs stop growing for the sake of a batch alone.
const batchSlab = 512

// Slabs grow by a factor of eight; beyond the last class they are not pooled.
var argSlabSizes = [...]int{64, 512, 4096, 32768}

var argSlabs [len(argSlabSizes)]sync.Pool

func getArgSlab(n int) *argSlab {
	for class, size := range argSlabSizes {
		if n > size {
			continue
		}
		if s, ok := argSlabs[class].Get().(*argSlab); ok {
			return s
		}
		return &argSlab{v: make([][]byte, size), class: int8(class)}
	}
	return &argSlab{v: make([][]byte, n), class: classNone}
}

// put returns the slab, whose slices must not keep their memory alive.
func (s *argSlab) put(used int) {
	if s == nil || s.class == classNone {
		return
	}
	clear(s.v[:used])
	argSlabs[s.class].Put(s)
}

func (a *arglist) add(arg []byte) {
	if len(a.v) == cap(a.v) {
		a.grow()
	}
	a.v = append(a.v, arg)
}

func (a *arglist) grow() {
	if a.v == nil {
		a.v = a.first[:0]
		return
	}
	current := a.v[a.open:]
	s := getArgSlab(max(2*len(current), min(8*cap(a.v), batchSlab)))
	v := append(s.v[:0], current...)
	if a.slab != nil {
		a.old = append(a.old, a.slab)
	}
	a.slab, a.v, a.open = s, v, 0
}

// count is the number of arguments of the command being parsed.
func (a *arglist) count() int { return len(a.v) - a.open }

// take closes the command being parsed and returns its arguments.
func (a *arglist) take() [][]byte {
	n := len(a.v)
	args := a.v[a.open:n:n]
	a.open = n
	return args
}

// release forgets the commands handed out and keeps the open one.
func (a *arglist) release() {
	for i, s := range a.old {
		s.put(len(s.v))
		a.old[i] = nil
	}
	a.old = a.old[:0]
	n := copy(a.v, a.v[a.open:])
	clear(a.v[n:])
	a.v, a.open = a.v[:n], 0
}

// shrink gives the slab back; nothing may be stored.
func (a *arglist) shrink() {
	if a.slab != nil {
		a.slab.put(0)
		a.slab = nil
	}
	if cap(a.old) > keptHeld {
		a.old = nil
	}
	clear(a.first[:])
	a.v = a.first[:0]
}

// drop forgets the command being parsed.
func (a *arglist) drop() {
	clear(a.v[a.open:])
	a.v = a.v[:a.open]
}
