package memory

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/coocood/freecache"
)

const (
	// checkEvery is after how many sets the number of rows is looked at:
	// counting reads one word of each segment.
	checkEvery = 256
	// maxFiller bounds the size of one empty row. In small rings it is far
	// smaller: they must all be pushed about as often.
	maxFiller = 64 << 10
)

// filler keeps the number of rows within the index's bound. freecache evicts
// only when a ring has to give way, so when small rows reach the bound before
// their rings are full, the filler writes an empty row and deletes it at once:
// its space stays used until the ring comes round, the ring turns that much
// earlier, and the oldest rows go. The alternative, not to admit new rows,
// would keep the oldest rows and serve nothing that is hot now.
//
// While the rings are still empty in part, it keeps them as full as the index,
// so that both are full at the same time.
type filler struct {
	entries int64
	ring    int64
	share   int64 // of the rings, for each row the index may hold
	zeros   []byte
	sets    atomic.Uint64
	bytes   atomic.Int64  // ring bytes of all sets, until the rings are full
	serial  atomic.Uint64 // makes each filler hash to another segment
}

func (f *filler) init(s sizing) {
	f.entries, f.ring, f.share = s.entries, s.ring, s.ring/s.entries
	f.zeros = make([]byte, min(maxFiller, s.limit/8))
}

// fillerKey is longer than an install number and shorter than any key with
// one: no row has it.
const fillerKey = installSize - 1

// wrote counts one set and now and then looks at the number of rows.
func (f *filler) wrote(cache *freecache.Cache, size int) {
	if f.bytes.Load() < f.ring {
		f.bytes.Add(int64(size) + entryHeader)
	}
	if f.sets.Add(1)%checkEvery == 0 {
		f.trim(cache)
	}
}

// trim pushes the rings forward by what the rows of the index are short of
// their share, or by the share of the rows over the bound, but by no more than
// twice what can have come since the last look.
func (f *filler) trim(cache *freecache.Cache) {
	entries := cache.EntryCount()
	need := (entries - f.entries) * f.share
	if used := f.bytes.Load(); used < f.ring {
		need = entries*f.share - used
	}
	need = min(need, 2*checkEvery*f.share)
	for need > 0 {
		n := min(need, int64(len(f.zeros)))
		f.push(cache, f.zeros[:n])
		need -= n
	}
}

func (f *filler) push(cache *freecache.Cache, zeros []byte) {
	var key [8]byte
	binary.LittleEndian.PutUint64(key[:], f.serial.Add(1))
	k := key[:fillerKey]
	if cache.Set(k, zeros, 0) == nil {
		cache.Del(k)
	}
	f.bytes.Add(int64(len(zeros)))
}

// used is how much of the rings holds rows or dead space.
func (f *filler) used(s sizing) int64 { return min(f.bytes.Load(), s.ring) }
