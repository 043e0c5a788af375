package record

import (
	"encoding/hex"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tiergrid/tiergrid/membership/topology"
)

// The files under testdata/formats pin every format, as what is given and its
// bytes. The bytes are decoded as well, so that what an older version has written
// can still be read after the encoder has changed.
var goldenHashKey = [16]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}

func TestFormats(t *testing.T) {
	datadriven.Walk(t, "testdata/formats", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "row-key":
				return goldenRowKey(t, d)
			case "head":
				return goldenHead(t, d)
			case "mutation":
				return goldenMutation(t, d)
			case "positions":
				return goldenPositions(t, d)
			}
			d.Fatalf(t, "unknown directive %s", d.Cmd)
			return ""
		})
	})
}

// number reads an argument, 0 where it is missing.
func number(t *testing.T, d *datadriven.TestData, name string) int64 {
	text := "0"
	d.MaybeScanArgs(t, name, &text)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	return n
}

// grouped shows bytes as hexadecimal groups of these widths; the rest is one.
func grouped(b []byte, widths ...int) string {
	var groups []string
	for _, n := range widths {
		n = min(n, len(b))
		groups = append(groups, hex.EncodeToString(b[:n]))
		b = b[n:]
	}
	if len(b) > 0 {
		groups = append(groups, hex.EncodeToString(b))
	}
	return strings.Join(groups, " ") + "\n"
}

// golden are the bytes that a file expects.
func golden(t *testing.T, d *datadriven.TestData) []byte {
	b, err := hex.DecodeString(strings.Join(strings.Fields(d.Expected), ""))
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	return b
}

func goldenRowKey(t *testing.T, d *datadriven.TestData) string {
	name := ""
	d.MaybeScanArgs(t, "name", &name)
	cache, partition := topology.CacheID(number(t, d, "cache")), uint16(number(t, d, "partition"))
	slot, deadline := int(number(t, d, "slot")), number(t, d, "at")
	k := MakeKey(&goldenHashKey, cache, []byte(name))
	switch d.CmdArgs[0].Key {
	case "head":
		expectKey(t, d, k, ParseHead)
		return grouped(k.AppendHead(nil), 1, 4, 2, 5)
	case "payload":
		return grouped(k.AppendPayload(nil, uint32(number(t, d, "chunk"))), 1, 4, 2, 5, len(name))
	case "deadline":
		expectKey(t, d, k, ParseDeadline)
		return grouped(k.AppendDeadline(nil, deadline), 1, 4, 2, 8, 2, 5)
	case "deadline-bound":
		return grouped(AppendDeadlineBound(nil, cache, partition, deadline), 1, 4, 2, 8)
	case "partition-end":
		return grouped(AppendPartitionEnd(nil, cache, partition), 1, 4, 2)
	case "slot-bound":
		return grouped(AppendSlotBound(nil, SpaceHead, cache, slot), 1, 4, 2)
	case "hash-bound":
		return grouped(AppendHashBound(nil, cache, slot, uint64(number(t, d, "hash"))), 1, 4, 2, 5)
	case "position":
		return grouped(AppendPositionKey(nil, topology.GroupID(number(t, d, "group")), partition), 1, 4, 2)
	case "journal":
		return grouped(AppendJournalKey(nil, uint64(number(t, d, "number"))), 1, 8)
	}
	d.Fatalf(t, "unknown row %s", d.CmdArgs[0].Key)
	return ""
}

// expectKey decodes the expected row key.
func expectKey(t *testing.T, d *datadriven.TestData, want Key, parse func([]byte) (Key, bool)) {
	if got, ok := parse(golden(t, d)); d.Expected != "" && (!ok || !reflect.DeepEqual(got, want)) {
		t.Errorf("%s: the row key is read as %+v, want %+v", d.Pos, got, want)
	}
}

func goldenHead(t *testing.T, d *datadriven.TestData) string {
	h := Head{
		Flags:    Flags(number(t, d, "flags")),
		Length:   uint32(number(t, d, "length")),
		Version:  Version(uint32(number(t, d, "epoch")), uint64(number(t, d, "sequence"))),
		Deadline: number(t, d, "at"),
	}
	if d.Expected != "" {
		got, inline, err := ParseHeadRow(golden(t, d))
		if err != nil || got != h || string(inline) != d.Input {
			t.Errorf("%s: the row is read as %+v, %q, %v", d.Pos, got, inline, err)
		}
	}
	return grouped(append(AppendHead(nil, &h), d.Input...), 1, 1, 2, 4, 8, 8)
}

func goldenMutation(t *testing.T, d *datadriven.TestData) string {
	m := Mutation{
		Group:     topology.GroupID(number(t, d, "group")),
		Partition: uint16(number(t, d, "partition")),
		Version:   Version(uint32(number(t, d, "epoch")), uint64(number(t, d, "sequence"))),
		Previous:  Version(uint32(number(t, d, "epoch")), uint64(number(t, d, "previous"))),
		Now:       number(t, d, "now"),
		Ops:       goldenOps(t, d),
	}
	if d.Expected != "" {
		got, rest, err := ParseMutation(golden(t, d))
		if err != nil || len(rest) > 0 || !reflect.DeepEqual(got, m) {
			t.Errorf("%s: the mutation is read as %+v, %q, %v", d.Pos, got, rest, err)
		}
	}
	return grouped(AppendMutation(nil, &m), 4, 4, 1, 4, 2, 8, 8, 8, 4)
}

func goldenOps(t *testing.T, d *datadriven.TestData) []Op {
	kinds := map[string]OpKind{"set": OpSet, "delete": OpDelete, "delete-range": OpDeleteRange}
	var ops []Op
	for line := range strings.Lines(d.Input) {
		words := strings.Fields(line)
		op := Op{Kind: kinds[words[0]], Key: []byte(words[1])}
		if op.Kind == 0 {
			d.Fatalf(t, "unknown operation %s", words[0])
		}
		if len(words) > 2 {
			op.Value = []byte(words[2])
		}
		ops = append(ops, op)
	}
	return ops
}

func goldenPositions(t *testing.T, d *datadriven.TestData) string {
	positions := readPositions(t, d)
	if d.Expected != "" {
		var got []Position
		err := ParsePositions(golden(t, d), func(p Position) { got = append(got, p) })
		if err != nil || !reflect.DeepEqual(got, positions) {
			t.Errorf("%s: the row is read as %+v, %v", d.Pos, got, err)
		}
	}
	return grouped(AppendPositions(nil, positions...), 1, 4, 2, 8, 8, 2)
}

// readPositions reads lines "position group partition epoch sequence now", each
// followed by lines "cache id entries bytes deadlines collections".
func readPositions(t *testing.T, d *datadriven.TestData) []Position {
	var out []Position
	for line := range strings.Lines(d.Input) {
		words := strings.Fields(line)
		n := make([]int64, 6)
		for i, word := range words[1:] {
			v, err := strconv.ParseInt(word, 10, 64)
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			n[i] = v
		}
		switch words[0] {
		case "position":
			out = append(out, Position{
				Group: topology.GroupID(n[0]), Partition: uint16(n[1]),
				Version: Version(uint32(n[2]), uint64(n[3])), Now: n[4],
			})
		case "cache":
			p := &out[len(out)-1]
			p.Caches = append(p.Caches, CacheCounters{topology.CacheID(n[0]), Counters{n[1], n[2], n[3], n[4]}})
		default:
			d.Fatalf(t, "unknown line %s", line)
		}
	}
	return out
}
