package control

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"time"
)

// Entry is one change of the control state: Bootstrap, Register, CreateUser and
// so on. Entries are plain values.
type Entry interface {
	kind() kind
	// validate checks what does not depend on the state, on the proposer's side
	// only: what it knows (roles, hash forms) may differ between versions.
	validate() error
	encode(e *encoder)
	// apply changes s, a private shallow copy whose slices it replaces and never
	// writes into. Its rules are part of the entry's version: members of
	// different builds must come to the same state.
	apply(s *State, at time.Time) error
}

// kind numbers the entries. A number is never reused.
type kind uint16

const (
	kindBootstrap      kind = 1
	kindRegister       kind = 2
	kindCreateUser     kind = 10
	kindSetPassword    kind = 11
	kindSetRoles       kind = 12
	kindRemoveUser     kind = 13
	kindCreateTemplate kind = 20
	kindAlterTemplate  kind = 21
	kindRemoveTemplate kind = 22
	kindCreateCache    kind = 30
	kindAlterCache     kind = 31
	kindRemoveCache    kind = 32
	kindSwapDatabases  kind = 33
)

// form is how a kind is written: the newest version this build speaks, and the
// decoder of that version's body.
type form struct {
	name    string
	version uint8
	decode  func(d *decoder) Entry
}

var forms = map[kind]form{
	kindBootstrap:      {"bootstrap", 1, decodeBootstrap},
	kindRegister:       {"register", 1, decodeRegister},
	kindCreateUser:     {"create-user", 1, decodeCreateUser},
	kindSetPassword:    {"set-password", 1, decodeSetPassword},
	kindSetRoles:       {"set-roles", 1, decodeSetRoles},
	kindRemoveUser:     {"remove-user", 1, decodeRemoveUser},
	kindCreateTemplate: {"create-template", 1, decodeCreateTemplate},
	kindAlterTemplate:  {"alter-template", 1, decodeAlterTemplate},
	kindRemoveTemplate: {"remove-template", 1, decodeRemoveTemplate},
	kindCreateCache:    {"create-cache", 1, decodeCreateCache},
	kindAlterCache:     {"alter-cache", 1, decodeAlterCache},
	kindRemoveCache:    {"remove-cache", 1, decodeRemoveCache},
	kindSwapDatabases:  {"swap-databases", 1, decodeSwapDatabases},
}

// An encoded entry, all numbers little-endian:
//
//	format 1 | flags 1 | kind 2 | version of the kind 1 | time in ms 8 | body length 4 | body | CRC32C 4
//
// The checksum covers everything before it.
const (
	entryFormat    = 1
	entryHead      = 17
	entryTail      = 4
	flagSkippable  = 1 // a build that does not know the kind or version passes over it
	knownFlags     = flagSkippable
	entryOverheads = entryHead + entryTail
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encodeEntry returns the bytes that the log keeps.
func encodeEntry(entry Entry, at time.Time) ([]byte, error) {
	form, known := forms[entry.kind()]
	if !known {
		return nil, fmt.Errorf("%w: kind %d", ErrBadEntry, entry.kind())
	}
	var body encoder
	entry.encode(&body)
	return sealEntry(entry.kind(), form.version, 0, at, body.b)
}

// sealEntry puts the head and the checksum around a body.
func sealEntry(k kind, version, flags uint8, at time.Time, body []byte) ([]byte, error) {
	if len(body)+entryOverheads > MaxEntry {
		return nil, fmt.Errorf("%w: the entry has %d bytes, at most %d are allowed", ErrInvalid, len(body)+entryOverheads, MaxEntry)
	}
	b := make([]byte, 0, len(body)+entryOverheads)
	b = append(b, entryFormat, flags)
	b = binary.LittleEndian.AppendUint16(b, uint16(k))
	b = append(b, version)
	b = binary.LittleEndian.AppendUint64(b, uint64(max(0, at.UnixMilli())))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(body)))
	b = append(b, body...)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli)), nil
}

// opened is a decoded entry; entry is nil when it is to be passed over.
type opened struct {
	entry Entry
	at    time.Time
}

// decodeEntry is the inverse of encodeEntry. It never panics. ErrNewer says that
// this build is too old for the entry.
func decodeEntry(b []byte) (opened, error) {
	if len(b) < entryOverheads || len(b) > MaxEntry {
		return opened{}, fmt.Errorf("%w: %d bytes", ErrBadEntry, len(b))
	}
	if b[0] != entryFormat {
		return opened{}, fmt.Errorf("%w: entry format %d", ErrNewer, b[0])
	}
	body, sum := b[entryHead:len(b)-entryTail], binary.LittleEndian.Uint32(b[len(b)-entryTail:])
	if int64(binary.LittleEndian.Uint32(b[13:])) != int64(len(body)) {
		return opened{}, fmt.Errorf("%w: length", ErrBadEntry)
	}
	if crc32.Checksum(b[:len(b)-entryTail], castagnoli) != sum {
		return opened{}, fmt.Errorf("%w: checksum", ErrBadEntry)
	}
	at := timeOf(int64(binary.LittleEndian.Uint64(b[5:])))
	entry, err := decodeBody(kind(binary.LittleEndian.Uint16(b[2:])), b[4], b[1], body)
	return opened{entry, at}, err
}

// decodeBody returns nil without an error for what may be passed over.
func decodeBody(k kind, version, flags uint8, body []byte) (Entry, error) {
	form, known := forms[k]
	if !known || version == 0 || version > form.version || flags&^knownFlags != 0 {
		if flags&flagSkippable != 0 {
			return nil, nil
		}
		return nil, fmt.Errorf("%w: entry kind %d version %d", ErrNewer, k, version)
	}
	d := decoder{b: body}
	entry := form.decode(&d)
	if err := d.end(); err != nil {
		return nil, fmt.Errorf("%s: %w", form.name, err)
	}
	return entry, nil
}
