package control

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"testing"

	"pgregory.net/rapid"
)

func TestEntriesAreWrittenAsEver(t *testing.T) {
	seen := map[kind]bool{}
	for _, entry := range samples() {
		k := entry.kind()
		if seen[k] {
			continue
		}
		seen[k] = true
		old := golden(t, forms[k].name, encoded(t, entry, moment(1)))
		o, err := decodeEntry(old)
		if err != nil {
			t.Errorf("%s: %v", forms[k].name, err)
			continue
		}
		if again := encoded(t, o.entry, o.at); !bytes.Equal(again, old) {
			t.Errorf("%s: decoded and encoded again:\n%x\nwant\n%x", forms[k].name, again, old)
		}
	}
	for k, form := range forms {
		if !seen[k] {
			t.Errorf("there is no sample of %s", form.name)
		}
	}
}

func TestDamagedEntriesAreRefused(t *testing.T) {
	for _, entry := range samples() {
		whole := encoded(t, entry, moment(1))
		for i := range whole {
			for _, b := range [][]byte{whole[:i], flipped(whole, i)} {
				if next, err := (&State{}).Apply(b); next != nil || !errors.Is(err, ErrBadEntry) && !errors.Is(err, ErrNewer) {
					t.Fatalf("%T cut or damaged at byte %d: %v", entry, i, err)
				}
			}
		}
	}
}

func flipped(b []byte, i int) []byte {
	b = bytes.Clone(b)
	b[i] ^= 0x10
	return b
}

func TestUnknownEntries(t *testing.T) {
	s := applied(t, bootstrap)
	for _, test := range []struct {
		name    string
		k       kind
		version uint8
		flags   uint8
		err     error
	}{
		{"unknown kind", 999, 1, 0, ErrNewer},
		{"unknown kind to be passed over", 999, 1, flagSkippable, nil},
		{"newer version", kindRemoveUser, 2, 0, ErrNewer},
		{"newer version to be passed over", kindRemoveUser, 2, flagSkippable, nil},
		{"version 0", kindRemoveUser, 0, 0, ErrNewer},
		{"unknown flag", kindRemoveUser, 1, 0x80, ErrNewer},
		{"known kind marked skippable", kindRemoveUser, 1, flagSkippable, ErrNotFound},
		{"malformed body", kindSwapDatabases, 1, 0, ErrBadEntry},
	} {
		b, err := sealEntry(test.k, test.version, test.flags, moment(1), []byte("\x04name"))
		if err != nil {
			t.Fatal(err)
		}
		next, err := s.Apply(b)
		if !errors.Is(err, test.err) {
			t.Errorf("%s: %v", test.name, err)
		}
		stops := errors.Is(err, ErrNewer) || errors.Is(err, ErrBadEntry)
		if (next == nil) != stops || next != nil && next.Index != s.Index+1 {
			t.Errorf("%s: the next state is %v", test.name, next)
		}
	}
}

func TestOversizeEntriesAreRefused(t *testing.T) {
	if _, err := sealEntry(kindRemoveUser, 1, 0, moment(0), make([]byte, MaxEntry)); !errors.Is(err, ErrInvalid) {
		t.Errorf("err = %v", err)
	}
	if _, err := decodeEntry(make([]byte, MaxEntry+1)); !errors.Is(err, ErrBadEntry) {
		t.Errorf("err = %v", err)
	}
}

// Any entry is the same after it was written and read.
func TestEntryRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, err := encodeEntry(anyEntry(t), moment(rapid.IntRange(0, 1e6).Draw(t, "at")))
		if err != nil {
			t.Fatal(err)
		}
		o, err := decodeEntry(b)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := encodeEntry(o.entry, o.at); err != nil || !bytes.Equal(again, b) {
			t.Fatalf("%x became %x, %v", b, again, err)
		}
	})
}

// seal writes an entry around whatever the fuzzer makes up, so that it reaches
// the decoders behind the checksum.
func seal(k uint16, version, flags uint8, body []byte) []byte {
	b := []byte{entryFormat, flags}
	b = binary.LittleEndian.AppendUint16(b, k)
	b = append(b, version)
	b = binary.LittleEndian.AppendUint64(b, 1_700_000_000_000)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(body)))
	b = append(b, body...)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

func FuzzApply(f *testing.F) {
	for _, entry := range samples() {
		b := encoded(f, entry, moment(0))
		f.Add(uint16(entry.kind()), uint8(1), uint8(0), b[entryHead:len(b)-entryTail])
	}
	base := applied(f, samples()[:9]...)
	f.Fuzz(func(t *testing.T, k uint16, version, flags uint8, body []byte) {
		b := seal(k, version, flags, body)
		o, err := decodeEntry(b)
		if err == nil && o.entry != nil && flags == 0 {
			if again, err := encodeEntry(o.entry, o.at); err != nil || !bytes.Equal(again, b) {
				t.Fatalf("%x was taken for %x, %v", b, again, err)
			}
		}
		next, err := base.Apply(b)
		if next == nil {
			if err == nil {
				t.Fatal("neither a state nor an error")
			}
			return
		}
		if err := next.check(); err != nil {
			t.Fatal(err)
		}
		if _, err := Restore(next.Snapshot()); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzDecodeEntry(f *testing.F) {
	for _, entry := range samples() {
		f.Add(encoded(f, entry, moment(0)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		next, err := (&State{}).Apply(b)
		if next == nil && err == nil || next != nil && next.Index != 1 {
			t.Fatalf("state %v, error %v", next, err)
		}
	})
}
