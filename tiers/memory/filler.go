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
	// maxFillers bounds the fillers of one look.
	maxFillers = 8
	// maxFiller bounds the size of one.
	maxFiller = 64 << 10
)

// filler keeps the number of rows within the index's bound. freecache evicts
// only when a ring has to give way, so when small rows reach the bound before
// their rings are full, the filler writes an empty row and deletes it at once:
// its space stays used until the ring comes round, the ring turns that much
// earlier, and the oldest rows go. The alternative, not to admit new rows,
// would keep the oldest rows and serve nothing that is hot now.
type filler struct {
	entries int64
	ring    int64
	zeros   []byte
	sets    atomic.Uint64
	bytes   atomic.Int64  // ring bytes of all sets, until the rings are full
	serial  atomic.Uint64 // makes each filler hash to another segment
}

func (f *filler) init(s sizing) {
	f.entries, f.ring = s.entries, s.ring
	f.zeros = make([]byte, min(maxFiller, s.limit-fillerKey))
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

// trim pushes the rings forward by what the rows over the bound take.
func (f *filler) trim(cache *freecache.Cache) {
	entries := cache.EntryCount()
	over := entries - f.entries
	if over <= 0 {
		return
	}
	need := over * (f.ring / entries)
	for range maxFillers {
		n := min(need, int64(len(f.zeros)))
		if n <= 0 {
			return
		}
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
