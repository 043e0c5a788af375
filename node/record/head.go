package record

import (
	"encoding/binary"
	"errors"
)

// Errors of the decoders.
var (
	// ErrVersion is returned for a format version that this build cannot read.
	ErrVersion = errors.New("record: unknown format version")
	// ErrCorrupt is returned for bytes that no encoder wrote.
	ErrCorrupt = errors.New("record: corrupt bytes")
)

// Type is the type of a record's value.
type Type uint8

// The types that exist so far; TYPE answers their names.
const (
	TypeString Type = iota
)

// String is what TYPE answers.
func (t Type) String() string {
	if t == TypeString {
		return "string"
	}
	return "unknown"
}

// Flags of a record.
type Flags uint8

const (
	// FlagRaw marks a string that was changed in place, which OBJECT ENCODING
	// shows as raw however short it is.
	FlagRaw Flags = 1 << iota
)

const (
	headVersion = 1
	// HeadSize is the size of an encoded head, in bytes.
	HeadSize = 24
	// SplitSize is the payload length from which the payload has rows of its own.
	SplitSize = 4 << 10
	// ChunkedSize is the payload length above which these rows are chunks.
	ChunkedSize = 1 << 20
	// ChunkSize is the length of every chunk but the last.
	ChunkSize = 256 << 10
	// MaxPayload is the longest payload a head can tell of: Redis's limit of
	// a string.
	MaxPayload = 512 << 20
)

// Head is what is known of an entry without its payload.
type Head struct {
	Type     Type
	Flags    Flags
	Length   uint32 // of the payload, in bytes
	Version  uint64 // the position of the mutation that wrote it
	Deadline int64  // Unix milliseconds, 0 for none
}

// Split tells whether the payload stands in rows of its own.
func (h *Head) Split() bool { return h.Length >= SplitSize }

// Chunks is in how many rows of its own the payload stands.
func (h *Head) Chunks() uint32 { return Chunks(int64(h.Length)) }

// Chunks is in how many rows of its own a payload of n bytes stands.
func Chunks(n int64) uint32 {
	switch {
	case n < SplitSize:
		return 0
	case n <= ChunkedSize:
		return 1
	}
	return uint32((n + ChunkSize - 1) / ChunkSize)
}

// ChunkLength is the length of every row but the last of a payload of n bytes.
func ChunkLength(n int64) int64 {
	if n <= ChunkedSize {
		return n
	}
	return ChunkSize
}

// Expired tells whether the entry is past its deadline at now (Unix
// milliseconds). As in Redis it still lives in the millisecond of the deadline.
func (h *Head) Expired(now int64) bool { return h.Deadline != 0 && now > h.Deadline }

// AppendHead appends the encoded head. Layout: version and type (a nibble each),
// flags, two zero bytes, length (4), version (8), deadline (8).
func AppendHead(dst []byte, h *Head) []byte {
	dst = append(dst, headVersion<<4|byte(h.Type), byte(h.Flags), 0, 0)
	dst = binary.BigEndian.AppendUint32(dst, h.Length)
	dst = binary.BigEndian.AppendUint64(dst, h.Version)
	return binary.BigEndian.AppendUint64(dst, uint64(h.Deadline))
}

// ParseHeadRow decodes the row of a head and returns the inline payload, which
// aliases row and is empty where the payload is split off.
func ParseHeadRow(row []byte) (Head, []byte, error) {
	if len(row) < HeadSize {
		return Head{}, nil, ErrCorrupt
	}
	if row[0]>>4 != headVersion {
		return Head{}, nil, ErrVersion
	}
	h := Head{
		Type:     Type(row[0] & 0x0f),
		Flags:    Flags(row[1]),
		Length:   binary.BigEndian.Uint32(row[4:]),
		Version:  binary.BigEndian.Uint64(row[8:]),
		Deadline: int64(binary.BigEndian.Uint64(row[16:])),
	}
	inline := row[HeadSize:]
	if row[2]|row[3] != 0 {
		return Head{}, nil, ErrCorrupt
	}
	if h.Length > MaxPayload || (!h.Split() && len(inline) != int(h.Length)) || (h.Split() && len(inline) != 0) {
		return Head{}, nil, ErrCorrupt
	}
	return h, inline, nil
}
