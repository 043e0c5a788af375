package memory

import (
	"encoding/binary"
	"sync/atomic"
)

const (
	installSize  = 4
	installCount = 4096
	// keySpace is the room on the stack for a memory key. Longer keys are
	// rare enough to be allocated.
	keySpace = 192
)

// installs are the install numbers of the domains, modulo installCount.
type installs struct {
	domain  func([]byte) uint32
	numbers [installCount]atomic.Uint32
}

func newInstalls(domain func([]byte) uint32) *installs {
	if domain == nil {
		domain = func([]byte) uint32 { return 0 }
	}
	return &installs{domain: domain}
}

// key appends the memory key of a row key.
func (in *installs) key(dst, rowKey []byte) []byte {
	number := in.numbers[in.domain(rowKey)%installCount].Load()
	dst = binary.LittleEndian.AppendUint32(dst, number)
	return append(dst, rowKey...)
}

// raise puts all rows of [start, end) out of reach, and others of their
// domains too.
func (in *installs) raise(start, end []byte) {
	if d := in.domain(start) % installCount; d == in.domain(lastBefore(end))%installCount {
		in.numbers[d].Add(1)
		return
	}
	for i := range in.numbers {
		in.numbers[i].Add(1)
	}
}

// lastBefore returns a key that stands just before the exclusive end, close
// enough for its prefix to name the last domain of the range.
func lastBefore(end []byte) []byte {
	n := len(end) - 1
	if n < 0 {
		return nil
	}
	if end[n] == 0 {
		return end[:n] // exactly the predecessor
	}
	last := append([]byte(nil), end...)
	last[n]--
	return append(last, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)
}
