package record

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/tiergrid/tiergrid/membership/topology"
)

// OpKind is what a mutation's operation does.
type OpKind uint8

const (
	OpSet OpKind = iota + 1
	OpDelete
	OpDeleteRange
)

// Op is one operation on rows: set Key to Value, delete Key, or delete all rows
// of [Key, Value).
type Op struct {
	Kind  OpKind
	Key   []byte
	Value []byte
}

// Mutation is the effect of one command, transaction or script on one unit, as
// it is sent to backups: never a batch image of the storage engine.
type Mutation struct {
	Group     topology.GroupID
	Partition uint16
	// Version is the mutation's own position, Previous that of the one before
	// it; a copy applies it only on top of that one.
	Version  uint64
	Previous uint64
	// Now is the unit's time at which it was made, in Unix milliseconds.
	Now int64
	Ops []Op
}

const (
	mutationVersion = 1
	// MaxMutation bounds an encoded mutation, in bytes: an entry of the
	// largest size and its rows' keys.
	MaxMutation = MaxPayload + 64<<20
	frameSize   = 4 + 4 // length, CRC32C
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// AppendMutation appends the encoded mutation. Layout: length of what follows
// the CRC (4), CRC32C of it (4), then version (1), group (4), partition (2),
// position (8), previous position (8), now (8), number of ops (4) and for each op
// its kind (1) and two byte strings with lengths as unsigned varints (an op
// without a value has one).
func AppendMutation(dst []byte, m *Mutation) []byte {
	start := len(dst)
	dst = append(dst, make([]byte, frameSize)...)
	dst = append(dst, mutationVersion)
	dst = binary.BigEndian.AppendUint32(dst, uint32(m.Group))
	dst = binary.BigEndian.AppendUint16(dst, m.Partition)
	dst = binary.BigEndian.AppendUint64(dst, m.Version)
	dst = binary.BigEndian.AppendUint64(dst, m.Previous)
	dst = binary.BigEndian.AppendUint64(dst, uint64(m.Now))
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(m.Ops)))
	for i := range m.Ops {
		dst = appendOp(dst, &m.Ops[i])
	}
	body := dst[start+frameSize:]
	binary.BigEndian.PutUint32(dst[start:], uint32(len(body)))
	binary.BigEndian.PutUint32(dst[start+4:], crc32.Checksum(body, castagnoli))
	return dst
}

func appendOp(dst []byte, op *Op) []byte {
	dst = append(dst, byte(op.Kind))
	dst = appendBytes(dst, op.Key)
	if op.Kind != OpDelete {
		dst = appendBytes(dst, op.Value)
	}
	return dst
}

func appendBytes(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

// ParseMutation decodes one mutation off the front of b and returns what is
// behind it. Keys and values alias b.
func ParseMutation(b []byte) (Mutation, []byte, error) {
	d := decoder{b: b}
	n, sum := d.uint32(), d.uint32()
	if d.failed || n > MaxMutation {
		return Mutation{}, nil, ErrCorrupt
	}
	body := d.take(int(n))
	if d.failed || crc32.Checksum(body, castagnoli) != sum {
		return Mutation{}, nil, ErrCorrupt
	}
	m, err := parseMutationBody(body)
	return m, d.b, err
}

func parseMutationBody(body []byte) (Mutation, error) {
	d := decoder{b: body}
	if v := d.uint8(); v != mutationVersion {
		if d.failed {
			return Mutation{}, ErrCorrupt
		}
		return Mutation{}, ErrVersion
	}
	m := Mutation{
		Group:     topology.GroupID(d.uint32()),
		Partition: d.uint16(),
		Version:   d.uint64(),
		Previous:  d.uint64(),
		Now:       int64(d.uint64()),
	}
	for range d.uint32() {
		op := d.op()
		if d.failed {
			return Mutation{}, ErrCorrupt
		}
		m.Ops = append(m.Ops, op)
	}
	if d.failed || len(d.b) > 0 {
		return Mutation{}, ErrCorrupt
	}
	return m, nil
}

func (d *decoder) op() Op {
	op := Op{Kind: OpKind(d.uint8())}
	if op.Kind < OpSet || op.Kind > OpDeleteRange {
		d.failed = true
	}
	op.Key = d.bytes()
	if op.Kind != OpDelete {
		op.Value = d.bytes()
	}
	return op
}

func (d *decoder) bytes() []byte {
	n := d.uvarint()
	if n > uint64(len(d.b)) {
		d.failed = true
		return nil
	}
	return d.take(int(n))
}
