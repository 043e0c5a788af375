package topology

import "bytes"

// The keyspace is cut into Slots, as Redis Cluster cuts it, and Slots into
// Partitions of SlotsPerPartition consecutive slots each.
const (
	Slots             = 16384
	SlotsPerPartition = 64
	Partitions        = Slots / SlotsPerPartition
)

// Slot returns the slot of a key: CRC16 (XMODEM) of the key, or of its hash tag
// when it has one, modulo Slots. Source: the Redis Cluster specification, "Key
// distribution model" and "Hash tags".
func Slot(key []byte) uint16 {
	return crc16(hashTag(key)) & (Slots - 1)
}

// Partition returns the partition that a slot belongs to.
func Partition(slot uint16) uint16 { return slot / SlotsPerPartition }

// hashTag returns what is between the first '{' and the first '}' after it, or
// the whole key where that is empty or missing.
func hashTag(key []byte) []byte {
	open := bytes.IndexByte(key, '{')
	if open < 0 {
		return key
	}
	end := bytes.IndexByte(key[open+1:], '}')
	if end <= 0 {
		return key
	}
	return key[open+1 : open+1+end]
}

// crc16Tables has the CRC16-XMODEM remainder (polynomial 0x1021) of every byte in
// [0], and of every byte with one, two and three zero bytes behind it in the others.
var crc16Tables = func() (t [4][256]uint16) {
	for i := range t[0] {
		crc := uint16(i) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
		t[0][i] = crc
	}
	for zeros := 1; zeros < len(t); zeros++ {
		for i := range t[zeros] {
			crc := t[zeros-1][i]
			t[zeros][i] = crc<<8 ^ t[0][crc>>8]
		}
	}
	return t
}()

// crc16 takes four bytes at a time, so that the lookups do not wait for each other.
func crc16(b []byte) uint16 {
	var crc uint16
	t := &crc16Tables
	for ; len(b) >= 4; b = b[4:] {
		crc = t[3][byte(crc>>8)^b[0]] ^ t[2][byte(crc)^b[1]] ^ t[1][b[2]] ^ t[0][b[3]]
	}
	for _, c := range b {
		crc = crc<<8 ^ t[0][byte(crc>>8)^c]
	}
	return crc
}
