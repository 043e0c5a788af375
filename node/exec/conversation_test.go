package exec

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tiergrid/tiergrid/node/resp"
)

// The conversations under testdata/conversations are blocks of commands, one a
// line with quotes as in an inline command, and of their replies, one a line with
// the last line end cut off:
//
//	run [proto=3] [here] [sorted]
//
// "here" marks what tiergrid answers in its own way, such as anything about its
// limits; the other blocks run against redis-server as well. "sorted" is for
// arrays whose order means nothing. Each file starts with an empty keyspace, and
// its clock stands at startOfTime until
//
//	wait <milliseconds>
//
// moves it; of real time nothing is waited for, so redis-server is left out.
const startOfTime = 1_700_000_000_000

// executor is a runner or a peer.
type executor interface{ do(text ...string) []byte }

func TestConversations(t *testing.T) {
	datadriven.Walk(t, "testdata/conversations", func(t *testing.T, path string) {
		r := newRunner()
		now := int64(startOfTime)
		r.now = func() int64 { return now }
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "wait":
				ms, err := strconv.ParseInt(d.CmdArgs[0].Key, 10, 64)
				if err != nil {
					d.Fatalf(t, "%v", err)
				}
				now += ms
				return ""
			case "run":
				r.out.SetProto(protoOf(t, d))
				return converse(t, d, r)
			}
			d.Fatalf(t, "unknown directive %s", d.Cmd)
			return ""
		})
	})
}

func TestConversationsOfRedis(t *testing.T) {
	datadriven.Walk(t, "testdata/conversations", func(t *testing.T, path string) {
		peers := map[int]*peer{3: newPeer(t, 3), 2: newPeer(t, 2)}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "run" || d.HasArg("here") {
				return d.Expected
			}
			p := peers[protoOf(t, d)]
			p.t = t
			return converse(t, d, p)
		})
	})
}

func protoOf(t *testing.T, d *datadriven.TestData) int {
	proto := 2
	d.MaybeScanArgs(t, "proto", &proto)
	return proto
}

func converse(t *testing.T, d *datadriven.TestData, e executor) string {
	var out strings.Builder
	for line := range strings.Lines(d.Input) {
		reply := e.do(splitLine(t, line)...)
		if d.HasArg("sorted") {
			reply = sortReply(t, reply)
		}
		text := strconv.Quote(string(bytes.TrimSuffix(reply, []byte("\r\n"))))
		fmt.Fprintln(&out, strings.ReplaceAll(text[1:len(text)-1], `\"`, `"`))
	}
	return out.String()
}

func splitLine(t *testing.T, line string) []string {
	args, err := resp.NewReader(strings.NewReader(strings.TrimSpace(line)+"\r\n"), resp.Limits{}).Next()
	if err != nil {
		t.Fatalf("line %q: %v", line, err)
	}
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = string(arg)
	}
	return out
}

// sortReply sorts the strings of an array, and of the arrays in it.
func sortReply(t testing.TB, reply []byte) []byte {
	v := decode(t, reply)
	w := resp.NewWriter(nil, 2)
	writeSorted(w, v)
	return w.Bytes()
}

func decode(t testing.TB, reply []byte) resp.Value {
	v, err := resp.ReadReply(bufio.NewReader(bytes.NewReader(reply)), resp.ReplyLimits{})
	if err != nil {
		t.Fatalf("reply %q: %v", reply, err)
	}
	return v
}

func writeSorted(w *resp.Writer, v resp.Value) {
	if v.Kind != resp.KindArray {
		w.Bulk(v.Bytes)
		return
	}
	slices.SortFunc(v.Elems, func(a, b resp.Value) int { return bytes.Compare(a.Bytes, b.Bytes) })
	w.Array(len(v.Elems))
	for _, e := range v.Elems {
		writeSorted(w, e)
	}
}
