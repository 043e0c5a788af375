package memory

import "math"

// freecache's shape, as its version in go.mod has it.
const (
	segments    = 256 // each with a ring and an index
	slots       = 256 // of a segment's index, all with the same capacity
	pointer     = 16  // bytes of one index entry
	entryHeader = 24  // bytes before each row in the ring
	// smallIndex is what the index may take although it is over an eighth:
	// the spread over slots makes small indexes inefficient.
	smallIndex = 16 << 20
	// freecacheKey is the longest key it takes.
	freecacheKey = 65535
)

// maxKey is the longest row key that can be held.
const maxKey = freecacheKey - installSize

// sizing divides max-size into rings and index.
//
// The index of a segment is 256 slots of equal capacity, a power of two that
// doubles when one slot is full. A capacity of c costs 256·256·16·c bytes =
// c MiB over all segments. Rows fall into slots at random, so the fullest slot
// stands well above the average: with an average of a, a + 5·√a is passed so
// rarely that only some segments double beyond c (in a tier of 32 MiB full of
// 10 B rows that makes a fifth more than max-size, with 100 B rows a tenth). Hence the bound on rows:
// 65,536·a, where a + 5·√a = c, and c is the largest power of two that keeps
// the index within an eighth of max-size, or a quarter while that is little.
type sizing struct {
	max     int64
	ring    int64 // bytes of all rings
	index   int64 // bytes of the full index
	entries int64 // rows the index may hold
	limit   int   // bytes of key and value of one row
}

func sizeFor(max int64) sizing {
	const perCapacity = segments * slots * pointer
	share := max / 8
	if share < smallIndex {
		share = min(smallIndex, max/4)
	}
	capacity := int64(1)
	for capacity*2*perCapacity <= share {
		capacity *= 2
	}
	s := sizing{max: max, index: capacity * perCapacity}
	s.ring = max - s.index
	s.entries = int64(average(float64(capacity)) * segments * slots)
	s.limit = int(s.ring/segments)/4 - entryHeader
	return s
}

// average solves a + 5·√a = c.
func average(c float64) float64 {
	root := (math.Sqrt(25+4*c) - 5) / 2
	return root * root
}

// indexBytes is what one row takes of the index when it is full.
func (s sizing) indexBytes() int64 { return max(1, s.index/max(1, s.entries)) }
