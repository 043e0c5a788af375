package record

import (
	"encoding/binary"

	"github.com/tiergrid/tiergrid/membership/topology"
)

// Spaces: the first byte of every row key.
const (
	SpaceHead     = 0x10
	SpacePayload  = 0x20
	SpaceDeadline = 0x40
	SpacePosition = 0x50
	SpaceJournal  = 0x51
)

// HashBits is the width of the keyed hash that orders the keys of one slot.
const HashBits = 39

// MaxRowKeyOverhead is how much longer than its key a row key of an entry is at
// most: that of the deadline index.
const MaxRowKeyOverhead = deadlineOffset + 2 + hashSize

const (
	prefixSize  = 1 + 4 + 2 // space, cache, slot
	hashSize    = 5
	keyOffset   = prefixSize + hashSize
	chunkSuffix = 4
	// deadlineOffset is where the slot stands in a row key of the deadline index.
	deadlineOffset = 1 + 4 + 2 + 8
)

// Key is one key of one cache with all that orders it on disk.
type Key struct {
	Cache topology.CacheID
	Slot  uint16
	Hash  uint64 // HashBits wide
	Name  []byte
}

// MakeKey computes slot and hash of a key. name is kept, not copied.
func MakeKey(hashKey *[16]byte, cache topology.CacheID, name []byte) Key {
	return Key{Cache: cache, Slot: topology.Slot(name), Hash: Hash(hashKey, name), Name: name}
}

// Hash is the keyed hash of a key: SipHash-2-4, of which the top HashBits are
// kept. It is keyed so that no client can choose keys that collide.
func Hash(hashKey *[16]byte, name []byte) uint64 {
	return sipHash(hashKey, name) >> (64 - HashBits)
}

// AppendHead appends the row key of a key's head.
func (k *Key) AppendHead(dst []byte) []byte { return k.appendEntry(dst, SpaceHead) }

// AppendPayload appends the row key of one chunk of a key's payload.
func (k *Key) AppendPayload(dst []byte, chunk uint32) []byte {
	return binary.BigEndian.AppendUint32(k.appendEntry(dst, SpacePayload), chunk)
}

// SetChunk makes the row key of one chunk that of another.
func SetChunk(row []byte, chunk uint32) []byte {
	binary.BigEndian.PutUint32(row[len(row)-chunkSuffix:], chunk)
	return row
}

// AppendDeadline appends the row key of a key's entry in the deadline index, for
// a deadline in Unix milliseconds. The index has a bucket a second, rounded up,
// so that everything in a bucket that has passed is due.
func (k *Key) AppendDeadline(dst []byte, deadline int64) []byte {
	dst = AppendDeadlineBound(dst, k.Cache, topology.Partition(k.Slot), deadline)
	dst = binary.BigEndian.AppendUint16(dst, k.Slot)
	dst = appendHash(dst, k.Hash)
	return append(dst, k.Name...)
}

// AppendDeadlineBound appends the first row key of the bucket of a deadline.
func AppendDeadlineBound(dst []byte, cache topology.CacheID, partition uint16, deadline int64) []byte {
	dst = append(dst, SpaceDeadline)
	dst = binary.BigEndian.AppendUint32(dst, uint32(cache))
	dst = binary.BigEndian.AppendUint16(dst, partition)
	return binary.BigEndian.AppendUint64(dst, deadlineBucket(deadline))
}

// AppendPartitionEnd appends the end of a partition's range in the deadline index.
func AppendPartitionEnd(dst []byte, cache topology.CacheID, partition uint16) []byte {
	dst = append(dst, SpaceDeadline)
	next := uint64(cache)<<16 | uint64(partition)
	return binary.BigEndian.AppendUint64(dst, (next+1)<<16)[:len(dst)+6]
}

func deadlineBucket(deadline int64) uint64 {
	if deadline <= 0 {
		return 0
	}
	return (uint64(deadline) + 999) / 1000
}

// ParseHead splits the row key of a head. The name aliases row.
func ParseHead(row []byte) (Key, bool) {
	if len(row) < keyOffset || row[0] != SpaceHead {
		return Key{}, false
	}
	return Key{
		Cache: topology.CacheID(binary.BigEndian.Uint32(row[1:])),
		Slot:  binary.BigEndian.Uint16(row[5:]),
		Hash:  readHash(row[prefixSize:]),
		Name:  row[keyOffset:],
	}, true
}

// ParseDeadline splits the row key of a deadline index row. The name aliases row.
func ParseDeadline(row []byte) (Key, bool) {
	if len(row) < deadlineOffset+2+hashSize || row[0] != SpaceDeadline {
		return Key{}, false
	}
	return Key{
		Cache: topology.CacheID(binary.BigEndian.Uint32(row[1:])),
		Slot:  binary.BigEndian.Uint16(row[deadlineOffset:]),
		Hash:  readHash(row[deadlineOffset+2:]),
		Name:  row[deadlineOffset+2+hashSize:],
	}, true
}

// AppendSlotBound appends the first row key of a slot in a space of entries.
// Slot topology.Slots is the end of the cache's last slot.
func AppendSlotBound(dst []byte, space byte, cache topology.CacheID, slot int) []byte {
	dst = append(dst, space)
	dst = binary.BigEndian.AppendUint32(dst, uint32(cache))
	return binary.BigEndian.AppendUint16(dst, uint16(slot))
}

// AppendHashBound appends the first row key of a (slot, hash) among the heads.
func AppendHashBound(dst []byte, cache topology.CacheID, slot int, hash uint64) []byte {
	return appendHash(AppendSlotBound(dst, SpaceHead, cache, slot), hash)
}

// AppendPositionKey appends the row key of a unit's position.
func AppendPositionKey(dst []byte, group topology.GroupID, partition uint16) []byte {
	dst = append(dst, SpacePosition)
	dst = binary.BigEndian.AppendUint32(dst, uint32(group))
	return binary.BigEndian.AppendUint16(dst, partition)
}

// AppendJournalKey appends the row key of a journal row.
func AppendJournalKey(dst []byte, number uint64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, SpaceJournal), number)
}

// Stripe gives all rows of one key the same number, and is what a stack of tiers
// needs to keep the rows of a key together.
func Stripe(row []byte) uint32 {
	end := keyOffset
	if len(row) > 0 && row[0] == SpaceDeadline {
		end = deadlineOffset + 2 + hashSize
	}
	if len(row) < end {
		return 0
	}
	return binary.BigEndian.Uint32(row[end-4:])
}

// Stripe is that of the key's rows.
func (k *Key) Stripe() uint32 { return uint32(k.Hash) }

// Domain numbers the (cache, partition) that a row belongs to: what one
// delete-range clears at once.
func Domain(row []byte) uint32 {
	if len(row) < prefixSize {
		return 0
	}
	cache := binary.BigEndian.Uint32(row[1:])
	number := binary.BigEndian.Uint16(row[5:])
	if row[0] != SpaceDeadline {
		number = topology.Partition(number)
	}
	return cache*topology.Partitions + uint32(number)
}

func (k *Key) appendEntry(dst []byte, space byte) []byte {
	dst = append(dst, space)
	dst = binary.BigEndian.AppendUint32(dst, uint32(k.Cache))
	dst = binary.BigEndian.AppendUint16(dst, k.Slot)
	dst = appendHash(dst, k.Hash)
	return append(dst, k.Name...)
}

func appendHash(dst []byte, h uint64) []byte {
	return append(dst, byte(h>>32), byte(h>>24), byte(h>>16), byte(h>>8), byte(h))
}

func readHash(b []byte) uint64 {
	return uint64(b[0])<<32 | uint64(binary.BigEndian.Uint32(b[1:]))
}
