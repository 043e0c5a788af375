package record

import (
	"encoding/binary"

	"github.com/tiergrid/tiergrid/membership/topology"
)

// A version, also called a position, is (epoch, sequence) in one number that
// only grows and is never used twice: 24 bits of epoch, 40 of sequence.
const (
	sequenceBits = 40
	// MaxSequence is the last sequence of an epoch; a primary asks for a new
	// epoch well before it.
	MaxSequence = 1<<sequenceBits - 1
	// MaxEpoch is the last epoch of a unit.
	MaxEpoch = 1<<(64-sequenceBits) - 1
)

// Version packs an epoch and a sequence.
func Version(epoch uint32, sequence uint64) uint64 {
	return uint64(epoch)<<sequenceBits | sequence&MaxSequence
}

// Epoch is the epoch of a version.
func Epoch(version uint64) uint32 { return uint32(version >> sequenceBits) }

// Sequence is the sequence of a version.
func Sequence(version uint64) uint64 { return version & MaxSequence }

// Counters count what one cache holds in one partition, exactly.
type Counters struct {
	Entries int64
	// Bytes are those of keys and payloads.
	Bytes int64
	// Deadlines is how many of the entries have one.
	Deadlines int64
	// Collections is how many of the entries have rows of their own.
	Collections int64
}

// Add counts a change: forwards, or back with sign -1.
func (c *Counters) Add(by *Counters, sign int64) {
	c.Entries += sign * by.Entries
	c.Bytes += sign * by.Bytes
	c.Deadlines += sign * by.Deadlines
	c.Collections += sign * by.Collections
}

// CacheCounters are the counters of one cache.
type CacheCounters struct {
	Cache topology.CacheID
	Counters
}

// Position is how far a unit has come: the version of its last mutation, the
// newest time in its mutations, and the counters of the caches it holds.
type Position struct {
	Group     topology.GroupID
	Partition uint16
	Version   uint64
	Now       int64 // Unix milliseconds
	Caches    []CacheCounters
}

const positionVersion = 1

// AppendPositions appends positions in the form of a journal row, which is also
// that of a position row (of one position). Layout: version (1), then for each
// position group (4), partition (2), version (8), now (8), number of caches (2)
// and for each cache its id (4) and four counters as unsigned varints.
func AppendPositions(dst []byte, positions ...Position) []byte {
	dst = append(dst, positionVersion)
	for i := range positions {
		dst = AppendPosition(dst, &positions[i])
	}
	return dst
}

// BeginPositions appends what stands before the first position, for writers that
// append one position at a time.
func BeginPositions(dst []byte) []byte { return append(dst, positionVersion) }

// AppendPosition appends one position behind BeginPositions.
func AppendPosition(dst []byte, p *Position) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(p.Group))
	dst = binary.BigEndian.AppendUint16(dst, p.Partition)
	dst = binary.BigEndian.AppendUint64(dst, p.Version)
	dst = binary.BigEndian.AppendUint64(dst, uint64(p.Now))
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(p.Caches)))
	for i := range p.Caches {
		c := &p.Caches[i]
		dst = binary.BigEndian.AppendUint32(dst, uint32(c.Cache))
		dst = binary.AppendUvarint(dst, uint64(c.Entries))
		dst = binary.AppendUvarint(dst, uint64(c.Bytes))
		dst = binary.AppendUvarint(dst, uint64(c.Deadlines))
		dst = binary.AppendUvarint(dst, uint64(c.Collections))
	}
	return dst
}

// ParsePositions decodes a journal or position row and calls visit for each
// position in it, in order.
func ParsePositions(row []byte, visit func(Position)) error {
	if len(row) < 1 {
		return ErrCorrupt
	}
	if row[0] != positionVersion {
		return ErrVersion
	}
	d := decoder{b: row[1:]}
	for len(d.b) > 0 {
		p := d.position()
		if d.failed {
			return ErrCorrupt
		}
		visit(p)
	}
	return nil
}

func (d *decoder) position() Position {
	p := Position{
		Group:     topology.GroupID(d.uint32()),
		Partition: d.uint16(),
		Version:   d.uint64(),
		Now:       int64(d.uint64()),
	}
	n := int(d.uint16())
	for i := 0; i < n && !d.failed; i++ {
		p.Caches = append(p.Caches, CacheCounters{
			Cache: topology.CacheID(d.uint32()),
			Counters: Counters{
				Entries: d.count(), Bytes: d.count(), Deadlines: d.count(), Collections: d.count(),
			},
		})
	}
	return p
}

// decoder reads numbers off the front of b; once failed it answers zeros.
type decoder struct {
	b      []byte
	failed bool
}

// take returns the next n bytes, or nil when there are fewer.
func (d *decoder) take(n int) []byte {
	if d.failed || n < 0 || len(d.b) < n {
		d.failed = true
		return nil
	}
	out := d.b[:n:n]
	d.b = d.b[n:]
	return out
}

func (d *decoder) uint8() uint8 {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) uint16() uint16 {
	if b := d.take(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (d *decoder) uint32() uint32 {
	if b := d.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (d *decoder) uint64() uint64 {
	if b := d.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// uvarint accepts only the shortest form, so that equal values have equal bytes.
func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if d.failed || n <= 0 || (n > 1 && d.b[n-1] == 0) {
		d.failed = true
		return 0
	}
	d.b = d.b[n:]
	return v
}

// count is an unsigned varint that fits an int64.
func (d *decoder) count() int64 {
	v := d.uvarint()
	if v > 1<<63-1 {
		d.failed = true
		return 0
	}
	return int64(v)
}
