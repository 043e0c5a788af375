package record

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"
)

func TestHeadRowsAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		payload := rapid.SliceOfN(rapid.Byte(), 0, 64).Draw(t, "payload")
		h := Head{
			Type:     Type(rapid.IntRange(0, 15).Draw(t, "type")),
			Flags:    Flags(rapid.Byte().Draw(t, "flags")),
			Length:   uint32(len(payload)),
			Version:  rapid.Uint64().Draw(t, "version"),
			Deadline: rapid.Int64().Draw(t, "deadline"),
		}
		if rapid.Bool().Draw(t, "split") {
			payload = nil
			h.Length = rapid.Uint32Range(SplitSize, MaxPayload).Draw(t, "length")
		}
		row := append(AppendHead(nil, &h), payload...)
		got, inline, err := ParseHeadRow(row)
		if err != nil || got != h || !bytes.Equal(inline, payload) {
			t.Fatalf("%+v is read as %+v, %x, %v", h, got, inline, err)
		}
		if h.Split() != (h.Chunks() > 0) {
			t.Fatalf("%d bytes are split: %v, in %d chunks", h.Length, h.Split(), h.Chunks())
		}
	})
}

func TestDamagedHeadRows(t *testing.T) {
	inline := append(AppendHead(nil, &Head{Length: 5}), "hello"...)
	split := AppendHead(nil, &Head{Length: SplitSize})
	changed := func(row []byte, at int, b byte) []byte {
		row = bytes.Clone(row)
		row[at] = b
		return row
	}
	for name, c := range map[string]struct {
		row  []byte
		want error
	}{
		"empty":            {nil, ErrCorrupt},
		"short":            {inline[:HeadSize-1], ErrCorrupt},
		"other version":    {changed(inline, 0, 2<<4), ErrVersion},
		"no version":       {changed(inline, 0, 0), ErrVersion},
		"zeros are none":   {changed(inline, 3, 1), ErrCorrupt},
		"payload cut":      {inline[:len(inline)-1], ErrCorrupt},
		"payload longer":   {append(bytes.Clone(inline), 'x'), ErrCorrupt},
		"payload missing":  {AppendHead(nil, &Head{Length: SplitSize - 1}), ErrCorrupt},
		"payload unwanted": {append(bytes.Clone(split), 'x'), ErrCorrupt},
		"too long":         {AppendHead(nil, &Head{Length: MaxPayload + 1}), ErrCorrupt},
	} {
		if _, _, err := ParseHeadRow(c.row); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestChunks(t *testing.T) {
	for _, c := range []struct {
		length, chunkLength int64
		chunks              uint32
	}{
		{0, 0, 0},
		{SplitSize - 1, SplitSize - 1, 0},
		{SplitSize, SplitSize, 1},
		{ChunkedSize, ChunkedSize, 1},
		{ChunkedSize + 1, ChunkSize, 5},
		{ChunkedSize + ChunkSize, ChunkSize, 5},
		{ChunkedSize + ChunkSize + 1, ChunkSize, 6},
		{MaxPayload, ChunkSize, 2048},
	} {
		if n, l := Chunks(c.length), ChunkLength(c.length); n != c.chunks || l != c.chunkLength {
			t.Errorf("%d bytes are %d chunks of %d, want %d of %d", c.length, n, l, c.chunks, c.chunkLength)
		}
	}
}

func TestExpired(t *testing.T) {
	for _, c := range []struct {
		deadline, now int64
		want          bool
	}{{0, 1 << 62, false}, {100, 99, false}, {100, 100, false}, {100, 101, true}, {-1, 0, true}} {
		h := Head{Deadline: c.deadline}
		if h.Expired(c.now) != c.want {
			t.Errorf("deadline %d at %d is expired: %v", c.deadline, c.now, !c.want)
		}
	}
}

func TestTypeNames(t *testing.T) {
	if TypeString.String() != "string" || Type(15).String() != "unknown" {
		t.Errorf("types are called %v and %v", TypeString, Type(15))
	}
}

func FuzzParseHeadRow(f *testing.F) {
	f.Add(append(AppendHead(nil, &Head{Length: 5, Version: 7, Deadline: 9}), "hello"...))
	f.Add(AppendHead(nil, &Head{Length: SplitSize}))
	f.Fuzz(func(t *testing.T, row []byte) {
		h, inline, err := ParseHeadRow(row)
		if err == nil && !bytes.Equal(append(AppendHead(nil, &h), inline...), row) {
			t.Errorf("%x is read as %+v, %x", row, h, inline)
		}
	})
}
