// Package record says how entries look on disk and on the wire: row keys, record
// heads, mutations and positions. Everything here is a pure function of bytes.
//
// # Row keys
//
// The first byte of a row key is its space. In the spaces of entries it is
// followed by the cache, the slot, the 39-bit keyed hash of the key and the key
// itself, so that a unit, 64 consecutive slots, is one contiguous range for each
// cache and space, and a scan in disk order has a stateless cursor of 53 bits.
//
//	heads      0x10 cache(4) slot(2) hash(5) key
//	payloads   0x20 cache(4) slot(2) hash(5) key chunk(4)
//	deadlines  0x40 cache(4) partition(2) second(8) slot(2) hash(5) key
//	positions  0x50 group(4) partition(2)
//	journal    0x51 number(8)
//
// All numbers are big-endian, so byte order is numeric order.
//
// # Records
//
// A record is a head of HeadSize bytes and a payload. Below SplitSize the payload
// follows the head in the same row; from SplitSize on it stands in a payload row
// of its own (chunk 0), and above ChunkedSize in rows of ChunkSize each. So
// whatever needs only the head (EXISTS, TTL, TYPE, STRLEN, SET, DEL, expiry) never
// reads a large payload.
//
// # Versions of the formats
//
// Every format starts with its version. A reader refuses a version that it does
// not know with ErrVersion, and damaged bytes with ErrCorrupt; decoding never
// panics. The golden files under testdata pin each format.
package record
