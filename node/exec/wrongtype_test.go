package exec

import (
	"strings"
	"testing"

	"github.com/tiergrid/tiergrid/node/record"
)

// What commands answer for a key "w" that holds something other than a string;
// redis-server has a list there. "s" is a string.
var otherTypeCommands = []string{
	"get w", "getdel w", "getex w", "getex w ex 100", "getex w ex 0", "getset w x", "set w x get", "set w x nx get",
	"set w x nx", "setnx w x", "strlen w", "append w x", "setrange w 0 x", "setrange w -1 x", "getrange w 0 1", "getrange w x 1",
	"incr w", "incrby w x", "decrby w 1", "incrbyfloat w 1", "incrbyfloat w x",
	"mget s w", "msetnx w 1 x 2", "lcs s w", "lcs w s len idx", "lcs w w foo",
	"setbit w 0 1", "setbit w 0 2", "setbit w -1 1", "getbit w 0", "bitcount w", "bitcount w 0", "bitpos w 1", "bitpos w 2", "bitpos w 1 x",
	"bitop and d s w", "bitop not d w", "bitop foo d w", "bitop not d s w",
	"exists w", "touch w", "ttl w", "expire w 100", "pttl x", "persist w", "restore w 0 x", "copy s w", "renamenx s w",
	"rename w v", "exists w v", "append v x", "renamenx v w", "move w 0",
	"getdel w", "exists w", "set w x", "get w",
}

func TestEntriesOfOtherTypes(t *testing.T) {
	p, r := newPeer(t, 2), newRunner()
	k := record.MakeKey(&r.view.table.HashKey, r.cache.ID, []byte("w"))
	for _, size := range []int{1, record.SplitSize} {
		r.view.begin(0, r.out)
		r.view.Put(&k, record.Head{Type: 1}, make([]byte, size))
		r.view.finish()
		p.do("del", "w", "v")
		p.do("rpush", "w", "a")
		for _, line := range otherTypeCommands {
			words := strings.Fields(line)
			for _, e := range []executor{r, p} {
				e.do("set", "s", "text")
			}
			ours, theirs := r.do(words...), p.do(words...)
			if string(ours) != string(theirs) {
				t.Errorf("%s: %q, redis-server: %q", line, ours, theirs)
			}
		}
	}
}
