package exec

import (
	"bufio"
	"bytes"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/node/command"
	"github.com/tiergrid/tiergrid/node/resp"
)

const testEntrySize = 8 << 20

// testTable has three numbered caches in one group, one of another group and one
// without a number.
func testTable() *topology.Table {
	policy := topology.DefaultPolicy()
	policy.MaxEntrySize = testEntrySize
	small, fading := policy, policy
	small.MaxEntrySize = 16
	fading.TTL = time.Minute
	t := &topology.Table{
		HashKey: [16]byte{1, 2, 3},
		Caches: []topology.Cache{
			{ID: 1, Name: "0", Database: 0, Group: 1, Policy: policy},
			{ID: 2, Name: "1", Database: 1, Group: 1, Policy: policy},
			{ID: 3, Name: "small", Database: 2, Group: 1, Policy: small},
			{ID: 4, Name: "fading", Database: 3, Group: 1, Policy: fading},
			{ID: 5, Name: "apart", Database: 4, Group: 2, Policy: policy},
			{ID: 6, Name: "hidden", Database: topology.NoDatabase, Group: 1, Policy: policy},
		},
		Groups: []topology.Group{{ID: 1}, {ID: 2}},
	}
	for i := range t.Numbered {
		t.Numbered[i] = -1
	}
	for i := range t.Caches {
		if n := t.Caches[i].Database; n >= 0 {
			t.Numbered[n] = i
		}
	}
	return t
}

// runner runs commands as a session and a node would.
type runner struct {
	view  *fakeView
	cache *topology.Cache
	now   func() int64
	out   *resp.Writer
	call  Call
}

func newRunner() *runner {
	table := testTable()
	return &runner{
		view:  newFakeView(table),
		cache: table.Database(0),
		now:   func() int64 { return time.Now().UnixMilli() },
		out:   resp.NewWriter(nil, 2),
	}
}

// words makes arguments of text.
func words(text ...string) [][]byte {
	out := make([][]byte, len(text))
	for i, s := range text {
		out[i] = []byte(s)
	}
	return out
}

// do runs a command and returns its reply. It panics when the function broke one
// of its promises.
func (r *runner) do(text ...string) []byte {
	args := words(text...)
	if text[0] == "select" && len(text) == 2 {
		n, _ := strconv.Atoi(text[1])
		r.cache = r.view.table.Database(n)
		return []byte("+OK\r\n")
	}
	cmd, err := command.Resolve(args)
	if err != nil {
		return []byte("-" + err.Error() + "\r\n")
	}
	before, _ := resp.BuffersInUse()
	r.run(cmd, args)
	reply := r.out.Bytes()
	r.out.Reset()
	if after, _ := resp.BuffersInUse(); after != before {
		panic(fmt.Sprintf("%q leaks %d buffers", text, after-before))
	}
	r.check(text, reply)
	return reply
}

func (r *runner) run(cmd *command.Command, args [][]byte) {
	f := Lookup(cmd)
	if f == nil {
		panic("no function for " + cmd.Name)
	}
	now := r.now()
	r.out.ResetError()
	r.view.begin(now, r.out)
	r.call = Call{Cmd: cmd, Args: args, Table: r.view.table, Cache: r.cache, Now: now, View: r.view, Out: r.out}
	f(&r.call)
	r.view.finish()
	for _, arg := range args {
		poison(arg)
	}
}

// check holds a reply against the promises: exactly one, and no change beside an
// error.
func (r *runner) check(text []string, reply []byte) {
	src := bufio.NewReader(bytes.NewReader(reply))
	v, err := resp.ReadReply(src, resp.ReplyLimits{})
	if err != nil || src.Buffered() > 0 {
		panic(fmt.Sprintf("%q has not answered one reply but %q", text, reply))
	}
	if v.Err() != nil && r.view.changes > 0 {
		panic(fmt.Sprintf("%q has changed something and failed: %q", text, reply))
	}
}

func TestEveryBuiltDataCommandHasAFunction(t *testing.T) {
	data := map[string]bool{"string": true, "bitmap": true, "generic": true, "dbsize": true, "flushdb": true, "flushall": true}
	for _, c := range command.Commands() {
		want := c.Built && (data[c.Group] || data[c.Name]) && len(c.Sub) == 0
		if got := Lookup(c) != nil; got != want {
			t.Errorf("%s: has a function: %v, want %v", c.Name, got, want)
		}
	}
}
