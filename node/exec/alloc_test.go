package exec

import (
	"bytes"
	"testing"

	"github.com/tiergrid/tiergrid/node/command"
	"github.com/tiergrid/tiergrid/node/record"
	"github.com/tiergrid/tiergrid/node/resp"
)

// stillView holds one entry and takes writes without keeping them.
type stillView struct {
	View
	head    record.Head
	payload []byte
	space   [64]byte
	writes  int
}

func (v *stillView) Head(*record.Key) (record.Head, bool) { return v.head, true }
func (v *stillView) Load(*record.Key) (record.Head, Payload, bool) {
	return v.head, Payload{B: v.payload}, true
}
func (v *stillView) Send(k *record.Key, _ *resp.Writer) (record.Head, Payload, bool, bool) {
	h, p, found := v.Load(k)
	return h, p, found, false
}
func (v *stillView) Range(_ *record.Key, _ *record.Head, from, to int64) []byte {
	return v.payload[from:to]
}
func (v *stillView) Alloc(n int) []byte                            { return v.space[:n:n] }
func (v *stillView) Put(*record.Key, record.Head, []byte)          { v.writes++ }
func (v *stillView) PutHead(*record.Key, record.Head)              { v.writes++ }
func (v *stillView) Patch(*record.Key, record.Head, int64, []byte) { v.writes++ }
func (v *stillView) Delete(*record.Key) bool                       { v.writes++; return true }

// The frequent commands allocate nothing.
func TestAllocations(t *testing.T) {
	value := string(bytes.Repeat([]byte("x"), 100))
	for _, c := range []struct {
		payload string
		writes  int
		words   []string
	}{
		{value, 0, []string{"get", "key"}},
		{value, 1, []string{"set", "key", value}},
		{value, 1, []string{"set", "key", value, "EX", "100", "XX"}},
		{value, 1, []string{"getset", "key", value}},
		{value, 0, []string{"mget", "a", "b", "c"}},
		{value, 2, []string{"mset", "a", value, "b", value}},
		{value, 0, []string{"exists", "key"}},
		{value, 0, []string{"ttl", "key"}},
		{value, 1, []string{"expire", "key", "100"}},
		{value, 1, []string{"del", "key"}},
		{value, 1, []string{"append", "key", "x"}},
		{value, 0, []string{"getrange", "key", "0", "-1"}},
		{value, 0, []string{"getbit", "key", "7"}},
		{value, 1, []string{"setbit", "key", "7", "1"}},
		{"41", 1, []string{"incr", "key"}},
	} {
		args := words(c.words...)
		cmd, err := command.Resolve(args)
		if err != nil {
			t.Fatal(err)
		}
		view := &stillView{head: record.Head{Length: uint32(len(c.payload))}, payload: []byte(c.payload)}
		table := testTable()
		call := &Call{Table: table, Cache: table.Database(0), Now: startOfTime, View: view, Out: resp.NewWriter(nil, 2)}
		mark := call.Out.Mark()
		run := func() {
			call.Cmd, call.Args = cmd, args
			Lookup(cmd)(call)
			call.Out.Truncate(mark)
		}
		run()
		if view.writes != c.writes || call.Out.LastError() != "" {
			t.Errorf("%q: %d writes, error %q", c.words, view.writes, call.Out.LastError())
		}
		if n := testing.AllocsPerRun(100, run); n > 0 {
			t.Errorf("%q: %v allocations", c.words, n)
		}
	}
}
