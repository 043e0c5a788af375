package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/tiergrid/tiergrid/membership/topology"
)

func drawMutation(t *rapid.T) Mutation {
	m := Mutation{
		Group:     topology.GroupID(rapid.Uint32().Draw(t, "group")),
		Partition: rapid.Uint16().Draw(t, "partition"),
		Version:   rapid.Uint64().Draw(t, "version"),
		Previous:  rapid.Uint64().Draw(t, "previous"),
		Now:       rapid.Int64().Draw(t, "now"),
	}
	for range rapid.IntRange(0, 5).Draw(t, "ops") {
		op := Op{Kind: OpKind(rapid.IntRange(int(OpSet), int(OpDeleteRange)).Draw(t, "kind"))}
		op.Key = rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "key")
		if op.Kind != OpDelete {
			op.Value = rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "value")
		}
		m.Ops = append(m.Ops, op)
	}
	return m
}

func TestMutationsAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first, second := drawMutation(t), drawMutation(t)
		b := AppendMutation(AppendMutation(nil, &first), &second)
		for _, want := range []Mutation{first, second} {
			got, rest, err := ParseMutation(b)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("%+v is read as %+v, %v", want, got, err)
			}
			b = rest
		}
		if len(b) > 0 {
			t.Fatalf("%x is left over", b)
		}
	})
}

// Any change of one byte is noticed, and so is any missing end.
func TestDamagedMutations(t *testing.T) {
	good := AppendMutation(nil, &Mutation{Group: 7, Version: 2, Previous: 1, Ops: []Op{
		{Kind: OpSet, Key: []byte("key"), Value: []byte("value")}, {Kind: OpDelete, Key: []byte("key")},
	}})
	for i := range good {
		if _, _, err := ParseMutation(good[:i]); !errors.Is(err, ErrCorrupt) {
			t.Errorf("cut to %d bytes: %v", i, err)
		}
		bad := bytes.Clone(good)
		bad[i] ^= 0x40
		if _, _, err := ParseMutation(bad); !errors.Is(err, ErrCorrupt) {
			t.Errorf("byte %d changed: %v", i, err)
		}
	}
}

// framed puts length and checksum in front of a body.
func framed(body []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	b = binary.BigEndian.AppendUint32(b, crc32.Checksum(body, castagnoli))
	return append(b, body...)
}

// What the checksum lets through is still checked.
func TestMutationsOfBadContent(t *testing.T) {
	fixed := AppendMutation(nil, &Mutation{})[frameSize:]
	header := fixed[:len(fixed)-4]
	with := func(tail ...byte) []byte { return framed(append(bytes.Clone(header), tail...)) }
	for name, c := range map[string]struct {
		b    []byte
		want error
	}{
		"empty":               {framed(nil), ErrCorrupt},
		"other version":       {framed([]byte{mutationVersion + 1}), ErrVersion},
		"no header":           {framed([]byte{mutationVersion}), ErrCorrupt},
		"too many operations": {with(0xff, 0xff, 0xff, 0xff), ErrCorrupt},
		"operation 0":         {with(0, 0, 0, 1, 0, 0, 0), ErrCorrupt},
		"operation 4":         {with(0, 0, 0, 1, 4, 0, 0), ErrCorrupt},
		"key too long":        {with(0, 0, 0, 1, byte(OpDelete), 1), ErrCorrupt},
		"length over 64 bits": {with(0, 0, 0, 1, byte(OpDelete), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f), ErrCorrupt},
		"length of 2^63":      {with(0, 0, 0, 1, byte(OpDelete), 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01), ErrCorrupt},
		"length not shortest": {with(0, 0, 0, 1, byte(OpDelete), 0x80, 0), ErrCorrupt},
		"something behind":    {with(0, 0, 0, 0, 1), ErrCorrupt},
		"length over the max": {binary.BigEndian.AppendUint32(nil, MaxMutation+1), ErrCorrupt},
	} {
		if _, _, err := ParseMutation(c.b); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func FuzzParseMutation(f *testing.F) {
	f.Add([]byte{mutationVersion})
	f.Add(AppendMutation(nil, &Mutation{Ops: []Op{{Kind: OpSet, Key: []byte("k"), Value: []byte("v")}}})[frameSize:])
	f.Fuzz(func(t *testing.T, body []byte) {
		_, _, _ = ParseMutation(body) // only that it does not panic: the checksum stops most
		b := framed(body)
		m, rest, err := ParseMutation(b)
		if err == nil && (len(rest) > 0 || !bytes.Equal(AppendMutation(nil, &m), b)) {
			t.Errorf("%x is read as %+v", b, m)
		}
	})
}
