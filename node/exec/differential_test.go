package exec

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/tiergrid/tiergrid/node/command"
)

// TestSameAsRedis runs random commands here and in redis-server and compares
// every reply and, now and then, all entries. A failing seed may be added to the
// list. testdata/differences.txt lists what may differ, with reasons.
func TestSameAsRedis(t *testing.T) {
	for _, proto := range []int{2, 3} {
		for _, seed := range seeds(t) {
			t.Run(fmt.Sprintf("proto=%d/seed=%d", proto, seed), func(t *testing.T) {
				c := newComparison(t, proto)
				g := newGenerator(seed)
				for i := range 12000 {
					c.step(g.command())
					if i%1500 == 1499 {
						c.compareEntries()
					}
					if t.Failed() {
						c.explain()
						return
					}
				}
			})
		}
	}
}

// seeds are a few that were chosen, or the ones in EXEC_SEEDS, as "1 2 3".
func seeds(t *testing.T) []uint64 {
	var out []uint64
	for _, word := range strings.Fields(os.Getenv("EXEC_SEEDS")) {
		n, err := strconv.ParseUint(word, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, n)
	}
	if out == nil {
		return []uint64{1, 2}
	}
	return out
}

type comparison struct {
	t       *testing.T
	here    *runner
	there   *peer
	known   []difference
	history []string
}

type difference struct{ command, ours, theirs []byte }

func newComparison(t *testing.T, proto int) *comparison {
	c := &comparison{t: t, here: newRunner(), there: newPeer(t, proto), known: differences(t)}
	c.here.out.SetProto(proto)
	return c
}

func differences(t testing.TB) []difference {
	text, err := os.ReadFile("testdata/differences.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out []difference
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(strings.TrimSpace(line), " | ")
		if len(fields) != 4 {
			t.Fatalf("a difference needs four fields: %q", line)
		}
		for i, f := range fields { // backslashes are those of quoted replies
			fields[i] = strings.ReplaceAll(f, `\`, `\\`)
		}
		out = append(out, difference{[]byte(fields[0]), []byte(fields[1]), []byte(fields[2])})
	}
	return out
}

// step runs one command on both sides.
func (c *comparison) step(args []string) {
	c.t.Helper()
	c.history = append(c.history, fmt.Sprintf("%.200q", args))
	switch name := strings.ToLower(args[0]); {
	case len(args) == 2 && name == "dump":
		c.compareDumps(args[1])
	case name == "randomkey":
		c.compareRandomKey()
	case name == "select" && len(args) == 2:
		c.here.do(args...)
		c.there.do(args...)
	case name == "dbsize":
		// Redis counts what has expired until somebody looks at it.
		c.there.do("keys", "*")
		for _, key := range c.keysHere() {
			c.there.do("exists", key)
		}
		c.there.do("exists", "k1", "k2", "k3", "k4", "k5", "k6", "{k}7", "a\xffb\r\n", "")
		c.compare(args)
	default:
		c.compare(args)
	}
}

func (c *comparison) compare(args []string) {
	c.t.Helper()
	ours, theirs := c.here.do(args...), c.there.do(args...)
	if !c.equal(args, ours, theirs) && !c.mayDiffer(args, ours, theirs) {
		c.t.Errorf("%.200q: %.300q, redis-server: %.300q", args, ours, theirs)
	}
}

func (c *comparison) equal(args []string, ours, theirs []byte) bool {
	if bytes.Equal(ours, theirs) {
		return true
	}
	switch strings.ToLower(args[0]) {
	case "ttl", "expiretime":
		return closeTo(ours, theirs, 1)
	case "pttl", "pexpiretime":
		return closeTo(ours, theirs, 1000)
	case "keys", "scan":
		return bytes.Equal(sortReply(c.t, ours), sortReply(c.t, theirs))
	}
	return false
}

// closeTo compares two positive integers.
func closeTo(a, b []byte, tolerance int64) bool {
	n, err1 := strconv.ParseInt(strings.Trim(string(a), ":\r\n"), 10, 64)
	m, err2 := strconv.ParseInt(strings.Trim(string(b), ":\r\n"), 10, 64)
	return err1 == nil && err2 == nil && n > 0 && m > 0 && n-m <= tolerance && m-n <= tolerance
}

func (c *comparison) mayDiffer(args []string, ours, theirs []byte) bool {
	quoted := func(reply []byte) []byte {
		text := strconv.Quote(strings.TrimSuffix(string(reply), "\r\n"))
		return []byte(text[1 : len(text)-1])
	}
	for _, d := range c.known {
		if command.Match(d.command, []byte(strings.ToLower(strings.Join(args, " "))), false) &&
			command.Match(d.ours, quoted(ours), false) && command.Match(d.theirs, quoted(theirs), false) {
			return true
		}
	}
	return false
}

// compareDumps has each side restore the dump of the other: a long string may be
// compressed there, never here.
func (c *comparison) compareDumps(key string) {
	c.t.Helper()
	ours, theirs := decode(c.t, c.here.do("dump", key)), decode(c.t, c.there.do("dump", key))
	if ours.Null || theirs.Null {
		if ours.Null != theirs.Null {
			c.t.Errorf("dump %q: %q, redis-server: %q", key, ours.Bytes, theirs.Bytes)
		}
		return
	}
	if len(ours.Bytes) <= 32 && !bytes.Equal(ours.Bytes, theirs.Bytes) {
		c.t.Errorf("dump %q: %q, redis-server: %q", key, ours.Bytes, theirs.Bytes)
	}
	c.compare([]string{"restore", "restored", "0", string(theirs.Bytes)})
	c.compare([]string{"getdel", "restored"})
	c.compare([]string{"restore", "restored", "0", string(ours.Bytes), "replace"})
	c.compare([]string{"getdel", "restored"})
}

func (c *comparison) compareRandomKey() {
	c.t.Helper()
	ours, theirs := decode(c.t, c.here.do("randomkey")), decode(c.t, c.there.do("randomkey"))
	if ours.Null || theirs.Null {
		if ours.Null != theirs.Null {
			c.t.Errorf("randomkey: %q, redis-server: %q", ours.Bytes, theirs.Bytes)
		}
		return
	}
	c.compare([]string{"exists", string(ours.Bytes), string(theirs.Bytes)})
}

func (c *comparison) keysHere() []string {
	var out []string
	for _, e := range decode(c.t, c.here.do("keys", "*")).Elems {
		out = append(out, string(e.Bytes))
	}
	return out
}

// compareEntries compares the whole of both databases.
func (c *comparison) compareEntries() {
	c.t.Helper()
	for _, db := range []string{"1", "0"} {
		c.step([]string{"select", db})
		c.step([]string{"keys", "*"})
		for _, key := range c.keysHere() {
			c.step([]string{"get", key})
			c.step([]string{"pttl", key})
			c.step([]string{"object", "encoding", key})
		}
	}
}

// explain prints the last commands.
func (c *comparison) explain() {
	from := max(0, len(c.history)-40)
	c.t.Logf("the last commands:\n%s", strings.Join(c.history[from:], "\n"))
}
