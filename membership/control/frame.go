package control

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// The log file, all numbers little-endian:
//
//	"TGCL" | format 4 | index before the first record 8 | CRC32C of these 4
//
// and then records:
//
//	length 4 | CRC32C 4 | index 8 | entry
//
// The length counts index and entry, the checksum covers length, index and
// entry. The head is written to another file first and renamed, so it is whole.
// Records are appended, so only the last one can be torn.
const (
	logMagic   = "TGCL"
	logFormat  = 1
	logHead    = 20
	recordHead = 16
)

// appendLogHead writes the head of a log whose first record is base+1.
func appendLogHead(b []byte, base uint64) []byte {
	start := len(b)
	b = append(b, logMagic...)
	b = binary.LittleEndian.AppendUint32(b, logFormat)
	b = binary.LittleEndian.AppendUint64(b, base)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[start:], castagnoli))
}

func appendRecord(b []byte, index uint64, entry []byte) []byte {
	start := len(b)
	b = binary.LittleEndian.AppendUint32(b, uint32(8+len(entry)))
	b = append(b, 0, 0, 0, 0)
	b = binary.LittleEndian.AppendUint64(b, index)
	b = append(b, entry...)
	binary.LittleEndian.PutUint32(b[start+4:], recordSum(b[start:]))
	return b
}

func recordSum(record []byte) uint32 {
	return crc32.Update(crc32.Checksum(record[:4], castagnoli), castagnoli, record[8:])
}

// record is one record of a log file; entry aliases the file's bytes.
type record struct {
	index uint64
	entry []byte
}

// parseRecord takes the record at the start of b; ok is false where there is
// none, or only part of one.
func parseRecord(b []byte) (r record, size int, ok bool) {
	if len(b) < recordHead {
		return record{}, 0, false
	}
	length := int64(binary.LittleEndian.Uint32(b))
	if length < 8+entryOverheads || length > 8+MaxEntry || 8+length > int64(len(b)) {
		return record{}, 0, false
	}
	size = int(8 + length)
	if recordSum(b[:size]) != binary.LittleEndian.Uint32(b[4:]) {
		return record{}, 0, false
	}
	return record{binary.LittleEndian.Uint64(b[8:]), b[recordHead:size]}, size, true
}

// logContent is a log file as it was found.
type logContent struct {
	base    uint64 // the index before the first record
	records []record
	end     int // where the last whole record ends; what follows is torn
}

// parseLog reads a whole log file. An unfinished record at the end is what a
// crash leaves; anything else that does not fit is damage.
func parseLog(b []byte) (logContent, error) {
	c := logContent{end: logHead}
	if len(b) < logHead || string(b[:4]) != logMagic || crc32.Checksum(b[:16], castagnoli) != binary.LittleEndian.Uint32(b[16:]) {
		return c, fmt.Errorf("%w: the head of the log", ErrDamaged)
	}
	if f := binary.LittleEndian.Uint32(b[4:]); f != logFormat {
		return c, fmt.Errorf("%w: log format %d", ErrNewer, f)
	}
	c.base = binary.LittleEndian.Uint64(b[8:])
	for c.end < len(b) {
		next := c.base + uint64(len(c.records)) + 1
		r, size, ok := parseRecord(b[c.end:])
		if !ok && !continues(b[c.end:], next) {
			break
		}
		if !ok || r.index != next {
			return c, fmt.Errorf("%w: the log at byte %d, entry %d, and whole entries follow", ErrDamaged, c.end, next)
		}
		c.records = append(c.records, r)
		c.end += size
	}
	return c, nil
}

// continues reports whether a whole record of index next or later is found
// anywhere behind the start of b. A torn record is the last one: if another
// follows, the one at the start of b was whole once.
func continues(b []byte, next uint64) bool {
	for at := 1; at+recordHead <= len(b); at++ {
		index := binary.LittleEndian.Uint64(b[at+8:])
		if index < next || index-next > uint64(len(b)) {
			continue
		}
		if _, _, ok := parseRecord(b[at:]); ok {
			return true
		}
	}
	return false
}
