package resp

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// Buffer is a byte slice from the size-classed pools. Whoever got it owns it
// until Release; after that neither B nor any slice of it may be touched.
type Buffer struct {
	// B has length 0 and at least the wanted capacity when got. The owner may
	// reslice or replace it: the pooled memory is remembered separately.
	B []byte

	mem   []byte
	class int8 // index of its pool, or one of the two below
	inUse bool
}

const (
	classNone  = -1 // too large for any pool
	classOwned = -2 // part of its owner, Release does nothing
)

// Size classes are four steps per power of two, (4+i)<<k, so that a buffer is
// at most a quarter larger than asked for.
const (
	minClassShift = 10 // 1 KiB
	maxClassShift = 29 // 512 MiB
	numClasses    = (maxClassShift-minClassShift)*4 + 1

	// Buffers up to this size sit in sync.Pools, which the collector empties;
	// larger ones in one list bounded in bytes.
	maxSyncPooled = 1 << 20
	maxRetained   = 64 << 20
)

// classOf returns the smallest class that holds n bytes, or classNone.
func classOf(n int) int {
	if n <= 1<<minClassShift {
		return 0
	}
	if n > 1<<maxClassShift {
		return classNone
	}
	shift := bits.Len(uint(n-1)) - 1 // n-1 lies in [1<<shift, 2<<shift)
	step := (n - 1 - 1<<shift) >> (shift - 2)
	return (shift-minClassShift)*4 + step + 1
}

// classSize is the inverse of classOf: the capacity of a class.
func classSize(class int) int {
	return (4 + class%4) << (minClassShift - 2 + class/4)
}

var (
	pools [numClasses]sync.Pool
	large = largePool{limit: maxRetained}

	// The gauges change together and often, so they share a cache line with
	// each other and with nothing else.
	inUse struct {
		_     [64]byte
		count atomic.Int64
		bytes atomic.Int64
		_     [64]byte
	}
)

// GetBuffer returns an empty Buffer with room for n bytes.
func GetBuffer(n int) *Buffer {
	class := classOf(n)
	b := takePooled(class)
	if b == nil {
		size := n
		if class != classNone {
			size = classSize(class)
		}
		b = &Buffer{mem: make([]byte, size), class: int8(class)}
	}
	b.B = b.mem[:0]
	b.inUse = true
	inUse.count.Add(1)
	inUse.bytes.Add(int64(len(b.mem)))
	return b
}

func takePooled(class int) *Buffer {
	switch {
	case class == classNone:
		return nil
	case classSize(class) > maxSyncPooled:
		return large.take(int8(class))
	}
	b, _ := pools[class].Get().(*Buffer)
	return b
}

// Release gives the memory back. Releasing nil does nothing; releasing twice
// is a bug of the owner and panics where it can be seen.
func (b *Buffer) Release() {
	if b == nil || b.class == classOwned {
		return
	}
	if !b.inUse {
		panic("resp: Buffer released twice")
	}
	b.inUse = false
	b.B = nil
	poison(b.mem)
	inUse.count.Add(-1)
	inUse.bytes.Add(-int64(len(b.mem)))
	switch {
	case b.class == classNone:
	case len(b.mem) > maxSyncPooled:
		large.put(b)
	default:
		pools[b.class].Put(b)
	}
}

// BuffersInUse returns how many Buffers are out and how many bytes they span.
func BuffersInUse() (count, bytes int64) {
	return inUse.count.Load(), inUse.bytes.Load()
}

// BuffersRetained returns the bytes of buffers above 1 MiB that wait for reuse.
// Smaller ones wait in pools that the garbage collector empties by itself.
func BuffersRetained() int64 { return large.retained() }

// TrimBuffers drops the waiting buffers above 1 MiB that have not been wanted
// since the previous call. Call it every few seconds, so that memory falls to
// nothing after a burst of large values.
func TrimBuffers() { large.trim() }

// largePool keeps released buffers above maxSyncPooled, newest last, up to
// limit bytes in all.
type largePool struct {
	limit int

	mu    sync.Mutex
	free  []*Buffer
	bytes int
	idle  int // buffers at the front of free that no take has reached since trim
}

func (p *largePool) take(class int8) *Buffer {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.free) - 1; i >= 0; i-- {
		if p.free[i].class == class {
			return p.removeAt(i)
		}
	}
	return nil
}

func (p *largePool) removeAt(i int) *Buffer {
	b := p.free[i]
	last := len(p.free) - 1
	copy(p.free[i:], p.free[i+1:])
	p.free[last] = nil
	p.free = p.free[:last]
	p.bytes -= len(b.mem)
	if i < p.idle {
		p.idle--
	}
	return b
}

// put keeps b and drops the oldest ones that no longer fit beside it.
func (p *largePool) put(b *Buffer) {
	if len(b.mem) > p.limit {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.free) > 0 && p.bytes+len(b.mem) > p.limit {
		p.removeAt(0)
	}
	p.free = append(p.free, b)
	p.bytes += len(b.mem)
}

func (p *largePool) trim() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for n := p.idle; n > 0; n-- {
		p.removeAt(0)
	}
	p.idle = len(p.free)
}

func (p *largePool) retained() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return int64(p.bytes)
}
