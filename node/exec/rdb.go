package exec

import (
	"encoding/binary"
	"hash/crc64"
	"math"
	"strconv"

	"github.com/tiergrid/tiergrid/node/command"
)

// A dump is Redis's form of one value: a byte for the type, the value as in an
// RDB file, the version of that format (2, little-endian) and a CRC-64 of all
// that (8, little-endian).
//
// A string is a length and its bytes. A length has its form in the two highest
// bits: 6 bits, 14 bits, or 32 or 64 behind a byte of its own; the fourth form
// says that a number or a compressed string follows instead.
const (
	rdbString = 0
	// dumpVersion is what we write: that of Redis 7.0.
	dumpVersion = 10
	// newestDump is what we read: that of Redis 7.2. Strings are the same in all.
	newestDump = 11
	footerSize = 2 + 8
	// dumpOverhead is the most a dump is longer than its string.
	dumpOverhead = 1 + 9 + footerSize

	length6, length14, lengthLong, encoded = 0, 1, 2, 3 // the two highest bits

	length32, length64 = 0x80, 0x81

	encodedInt8, encodedInt16, encodedInt32, encodedLZF = 0, 1, 2, 3
	// longestEncoded is the length of the longest number that is encoded as one.
	longestEncoded = len("-2147483648")
)

// jones is the polynomial of Redis's CRC-64, reflected.
var jones = crc64.MakeTable(0x95ac9329ac4bc9b5)

// dumpSum is the CRC-64 without the inversions of hash/crc64.
func dumpSum(b []byte) uint64 { return ^crc64.Update(math.MaxUint64, jones, b) }

// appendDump appends the dump of a string.
func appendDump(dst, payload []byte) []byte {
	start := len(dst)
	dst = append(dst, rdbString)
	if n, ok := encodable(payload); ok {
		dst = appendNumber(dst, n)
	} else {
		dst = append(appendLength(dst, uint64(len(payload))), payload...)
	}
	dst = binary.LittleEndian.AppendUint16(dst, dumpVersion)
	return binary.LittleEndian.AppendUint64(dst, dumpSum(dst[start:]))
}

// encodable is the number that a string is written as, if it is one.
func encodable(payload []byte) (int32, bool) {
	if len(payload) > longestEncoded {
		return 0, false
	}
	n, ok := parseInt(payload)
	return int32(n), ok && n >= math.MinInt32 && n <= math.MaxInt32
}

func appendNumber(dst []byte, n int32) []byte {
	switch {
	case n >= math.MinInt8 && n <= math.MaxInt8:
		return append(dst, encoded<<6|encodedInt8, byte(n))
	case n >= math.MinInt16 && n <= math.MaxInt16:
		return binary.LittleEndian.AppendUint16(append(dst, encoded<<6|encodedInt16), uint16(n))
	}
	return binary.LittleEndian.AppendUint32(append(dst, encoded<<6|encodedInt32), uint32(n))
}

func appendLength(dst []byte, n uint64) []byte {
	switch {
	case n < 1<<6:
		return append(dst, length6<<6|byte(n))
	case n < 1<<14:
		return append(dst, length14<<6|byte(n>>8), byte(n))
	case n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(dst, length32), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(dst, length64), n)
}

// checkDump checks version and checksum and returns what stands before them.
func checkDump(dumped []byte) ([]byte, command.Error) {
	n := len(dumped) - footerSize
	if n < 0 ||
		binary.LittleEndian.Uint16(dumped[n:]) > newestDump ||
		binary.LittleEndian.Uint64(dumped[n+2:]) != dumpSum(dumped[:n+2]) {
		return nil, command.ErrBadPayload
	}
	return dumped[:n], ""
}

// dumpedString is a string within a dump.
type dumpedString struct {
	plain  []byte // the bytes, or the compressed ones
	length int64  // in plain form
	packed bool
}

// parseString decodes the body of a dump. What follows the string is ignored, as
// Redis does.
func parseString(body []byte) (dumpedString, command.Error) {
	if len(body) == 0 || body[0] != rdbString {
		return dumpedString{}, command.ErrBadData
	}
	d := dumpReader{b: body[1:]}
	s := d.string()
	if d.failed {
		return dumpedString{}, command.ErrBadData
	}
	return s, ""
}

// dumpReader reads off the front of b; once failed it answers zeros.
type dumpReader struct {
	b      []byte
	failed bool
}

func (d *dumpReader) take(n uint64) []byte {
	if d.failed || n > uint64(len(d.b)) {
		d.failed = true
		return nil
	}
	out := d.b[:n:n]
	d.b = d.b[n:]
	return out
}

// length reads a length, or the code of what follows instead of one.
func (d *dumpReader) length() (n uint64, code bool) {
	first := d.take(1)
	if first == nil {
		return 0, false
	}
	low := uint64(first[0] & 0x3f)
	switch form := first[0] >> 6; {
	case form == length6:
		return low, false
	case form == length14:
		return low<<8 | d.bigEndian(1), false
	case form == encoded:
		return low, true
	case first[0] == length32:
		return d.bigEndian(4), false
	case first[0] == length64:
		return d.bigEndian(8), false
	}
	d.failed = true
	return 0, false
}

// plainLength reads a length where no code may stand.
func (d *dumpReader) plainLength() uint64 {
	n, code := d.length()
	if code {
		d.failed = true
	}
	return n
}

func (d *dumpReader) bigEndian(size uint64) (n uint64) {
	for _, b := range d.take(size) {
		n = n<<8 | uint64(b)
	}
	return n
}

func (d *dumpReader) string() dumpedString {
	n, code := d.length()
	if !code {
		plain := d.take(n)
		return dumpedString{plain: plain, length: int64(len(plain))}
	}
	switch n {
	case encodedInt8:
		return d.number(1)
	case encodedInt16:
		return d.number(2)
	case encodedInt32:
		return d.number(4)
	case encodedLZF:
		return d.compressed()
	}
	d.failed = true
	return dumpedString{}
}

// number reads a signed little-endian number and returns its digits.
func (d *dumpReader) number(size uint64) dumpedString {
	var n int32
	for i, b := range d.take(size) {
		n |= int32(b) << (8 * i)
	}
	unused := 32 - 8*size
	plain := strconv.AppendInt(nil, int64(n<<unused>>unused), 10)
	return dumpedString{plain: plain, length: int64(len(plain))}
}

// compressed reads a string in LZF form. A length that the bytes cannot have is
// refused here, before anything is reserved for it.
func (d *dumpReader) compressed() dumpedString {
	packed, plain := d.plainLength(), d.plainLength()
	b := d.take(packed)
	if d.failed || plain == 0 || plain > uint64(len(b))*maxExpansion {
		d.failed = true
		return dumpedString{}
	}
	return dumpedString{plain: b, length: int64(plain), packed: true}
}
