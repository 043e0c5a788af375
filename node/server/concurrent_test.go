package server_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/tiergrid/tiergrid/node/resp"
)

// together runs n sessions at the same time, each with random numbers of its own.
func together(t *testing.T, n int, session func(i int, random *rand.Rand)) {
	t.Helper()
	done := make(chan struct{})
	var sessions sync.WaitGroup
	for i := range n {
		sessions.Go(func() { session(i, rand.New(rand.NewPCG(1, uint64(i)))) })
	}
	go func() {
		sessions.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(timeout):
		t.Fatal("the sessions wait for each other")
	}
}

// TestCountersAreExact: pipelines that take the same keys in any order neither
// lose an increment nor wait for each other (R22).
func TestCountersAreExact(t *testing.T) {
	f := start(t, options{save: time.Millisecond})
	const sessions, keys = 8, 6
	var want [keys]atomic.Int64
	together(t, sessions, func(_ int, random *rand.Rand) {
		c := f.client()
		for range 40 {
			var commands []cmd
			for range 1 + random.IntN(12) {
				k := random.IntN(keys)
				want[k].Add(1)
				commands = append(commands, do("incr", fmt.Sprint("n", k)))
				if random.IntN(4) == 0 {
					commands = append(commands, do("mget", "n0", "n1", "n2", "n3", "n4", "n5"))
				}
			}
			c.pipeline(commands...)
		}
	})
	for k := range keys {
		if got := f.client().do("get", fmt.Sprint("n", k)); text(got) != fmt.Sprint(want[k].Load()) {
			t.Errorf("n%d is %s, want %d", k, text(got), want[k].Load())
		}
	}
	f.audit()
}

// TestKeysAreLinearizable: reads without locks, promotions and evictions, which
// happen all the time in so small a memory tier, show one history of each key (I10).
func TestKeysAreLinearizable(t *testing.T) {
	f := start(t, options{save: time.Millisecond})
	const sessions, keys = 6, 3
	var mu sync.Mutex
	var history []porcupine.Operation
	began := time.Now()
	pad := strings.Repeat("x", 2000)
	together(t, sessions, func(i int, random *rand.Rand) {
		c := f.client()
		var mine []porcupine.Operation
		for n := range 150 {
			key := fmt.Sprint("k", random.IntN(keys))
			args := []string{"get", key}
			switch random.IntN(6) {
			case 0:
				args = []string{"set", key, fmt.Sprint(i, ":", n, pad)}
			case 1:
				args = []string{"getset", key, fmt.Sprint(i, ":", n, pad)}
			case 2:
				args = []string{"del", key}
			}
			op := porcupine.Operation{ClientId: i, Input: args, Call: int64(time.Since(began))}
			op.Output = text(c.do(args...))
			op.Return = int64(time.Since(began))
			mine = append(mine, op)
			// Rows that push the others out of memory.
			c.do("set", fmt.Sprint("filler", i, n%40), pad)
		}
		mu.Lock()
		history = append(history, mine...)
		mu.Unlock()
	})
	if result := porcupine.CheckOperationsTimeout(registers, history, 10*time.Second); result != porcupine.Ok {
		t.Errorf("the history of %d operations is %s", len(history), result)
	}
}

// registers is the model of keys that are set, exchanged, deleted and read, each
// by itself.
var registers = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		by := map[string][]porcupine.Operation{}
		for _, op := range history {
			key := op.Input.([]string)[1]
			by[key] = append(by[key], op)
		}
		var parts [][]porcupine.Operation
		for _, part := range by {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() any { return "nil" },
	Step: func(state, input, output any) (bool, any) {
		args := input.([]string)
		switch args[0] {
		case "set":
			return output == "OK", args[2]
		case "getset":
			return output == state, args[2]
		case "del":
			return output == strconv.Itoa(map[bool]int{true: 0, false: 1}[state == "nil"]), "nil"
		}
		return output == state, state
	},
}

// TestTransfersKeepTheSum: a transaction is one moment for every reader (R12, I8),
// whether it reads with one command or with another transaction.
func TestTransfersKeepTheSum(t *testing.T) {
	f := start(t, options{save: time.Millisecond})
	const accounts, each = 5, 100
	names := make([]string, accounts)
	for i := range names {
		names[i] = fmt.Sprint("account", i)
		f.client().do("set", names[i], fmt.Sprint(each))
	}
	sum := func(v resp.Value) int {
		total := 0
		for i := range v.Elems {
			n, _ := strconv.Atoi(string(v.Elems[i].Bytes))
			total += n
		}
		return total
	}
	together(t, 6, func(i int, random *rand.Rand) {
		c := f.client()
		for range 120 {
			from, to, n := random.IntN(accounts), random.IntN(accounts), fmt.Sprint(random.IntN(9))
			switch i % 3 {
			case 0:
				c.exec(nil, do("decrby", names[from], n), do("incrby", names[to], n))
			case 1:
				if got := sum(c.do(append([]string{"mget"}, names...)...)); got != accounts*each {
					t.Errorf("MGET saw %d", got)
				}
			default:
				var gets []cmd
				for _, name := range names {
					gets = append(gets, do("get", name))
				}
				if got := sum(c.exec(nil, gets...)); got != accounts*each {
					t.Errorf("EXEC saw %d", got)
				}
			}
		}
	})
}

// TestLargeValuesAreNeverTorn: a value in rows of its own is read as it was
// written, whatever overwrites it meanwhile.
func TestLargeValuesAreNeverTorn(t *testing.T) {
	for _, memory := range []int64{16 << 20, 128 << 20} {
		t.Run(fmt.Sprint(memory>>20, " MiB"), func(t *testing.T) { largeValuesAreNotTorn(t, memory) })
	}
}

func largeValuesAreNotTorn(t *testing.T, memory int64) {
	f := start(t, options{memory: memory})
	lengths := []int{3000, 4096, 5000, 70_000, 1 << 20, 1<<20 + 1, 3 << 20}
	together(t, 4, func(i int, random *rand.Rand) {
		c := f.client()
		for n := range rounds(30) {
			key := fmt.Sprint("large", random.IntN(2))
			if i%2 == 0 {
				letter := string(rune('a' + (i*7+n)%26))
				c.do("set", key, strings.Repeat(letter, lengths[random.IntN(len(lengths))]))
				continue
			}
			replies := c.pipeline(do("get", key), do("strlen", key), do("getrange", key, "4000", "1100000"), do("bitcount", key))
			for _, reply := range []resp.Value{replies[0], replies[2]} {
				if b := reply.Bytes; len(b) > 0 && strings.Count(string(b), string(b[:1])) != len(b) {
					t.Errorf("%s is torn: it begins with %q and has %d bytes", key, b[:1], len(b))
				}
			}
			if n := len(replies[0].Bytes); n > 0 && !contains(lengths, n) {
				t.Errorf("%s has %d bytes, which nobody wrote", key, n)
			}
		}
	})
	f.audit()
}

func contains(list []int, n int) bool {
	for _, v := range list {
		if v == n {
			return true
		}
	}
	return false
}

// TestWatchedIncrementsAreNotLost: EXEC carries out nothing when a watched key was
// touched (R24), whether the key was there or not.
func TestWatchedIncrementsAreNotLost(t *testing.T) {
	f := start(t, options{})
	var done, drawn atomic.Int64
	together(t, 5, func(i int, _ *rand.Rand) {
		c := f.client()
		for range 60 {
			watches := c.watch("n", "lottery")
			n, _ := strconv.Atoi(text(c.do("get", "n")))
			if !c.exec(watches, do("set", "n", fmt.Sprint(n+1))).Null {
				done.Add(1)
			}
			watches = c.watch("lottery")
			if c.do("exists", "lottery").Int == 0 && !c.exec(watches, do("set", "lottery", fmt.Sprint(i))).Null {
				drawn.Add(1)
				c.do("del", "lottery")
				drawn.Add(-1)
			}
		}
	})
	if got := text(f.client().do("get", "n")); got != fmt.Sprint(done.Load()) {
		t.Errorf("%d increments were carried out, the counter says %s", done.Load(), got)
	}
	if done.Load() == 0 {
		t.Error("no increment was carried out at all")
	}
}

// TestWatchesOfAbsentKeys proves R24 for keys that are not there.
func TestWatchesOfAbsentKeys(t *testing.T) {
	for _, test := range []struct {
		name      string
		meanwhile []cmd
		untouched bool
	}{
		{"nothing", nil, true},
		{"another key", []cmd{do("set", "other", "1")}, true},
		{"deleted in vain", []cmd{do("del", "k")}, true},
		{"a database that is cleared without it", []cmd{do("flushdb")}, true},
		{"made", []cmd{do("set", "k", "1")}, false},
		{"made and deleted", []cmd{do("set", "k", "1"), do("del", "k")}, false},
		{"made by RENAME and cleared", []cmd{do("set", "other", "1"), do("rename", "other", "k"), do("flushall")}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := start(t, options{})
			watches := f.client().watch("k")
			if test.meanwhile != nil {
				f.client().pipeline(test.meanwhile...)
			}
			if reply := f.client().exec(watches, do("set", "mine", "1")); reply.Null == test.untouched {
				t.Errorf("EXEC answered %s", text(reply))
			}
		})
	}
}

// TestManyAbsentWatches: registrations are bounded (I14), and those that had to
// go make EXEC answer nil, never the opposite.
func TestManyAbsentWatches(t *testing.T) {
	f := start(t, options{})
	c := f.client()
	first := c.watch("{tag}first")
	for i := range 1100 {
		c.watch(fmt.Sprint("{tag}", i))
	}
	last := c.watch("{tag}last")
	if reply := c.exec(first); !reply.Null {
		t.Errorf("a watch beyond the bound answered %s", text(reply))
	}
	if reply := c.exec(last); reply.Null {
		t.Error("the newest watch was forgotten")
	}
}

// TestPipelinesInOppositeOrder: sessions that take units in opposite orders do not
// wait for each other.
func TestPipelinesInOppositeOrder(t *testing.T) {
	f := start(t, options{})
	together(t, 6, func(i int, random *rand.Rand) {
		c := f.client()
		for range 60 {
			var commands []cmd
			for k := range 20 {
				if i%2 == 0 {
					k = 19 - k
				}
				commands = append(commands, do("mset", fmt.Sprint("a", k), "1", fmt.Sprint("b", random.IntN(20)), "2"))
			}
			if random.IntN(10) == 0 {
				commands = append(commands, do("flushdb"))
			}
			if random.IntN(2) == 0 {
				c.exec(nil, commands...)
			} else {
				c.pipeline(commands...)
			}
		}
	})
	f.audit()
}

// TestPipelineOrderHolds: on a single server a session's pipeline takes effect in
// its order (R22): of two sessions that each write one key and then read the
// other's, at least one sees the other's write.
func TestPipelineOrderHolds(t *testing.T) {
	f := start(t, options{})
	for round := range 300 {
		var saw [2]string
		x, y := fmt.Sprint("x", round), fmt.Sprint("y", round)
		together(t, 2, func(i int, _ *rand.Rand) {
			mine, other := x, y
			if i == 1 {
				mine, other = y, x
			}
			saw[i] = text(f.client().pipeline(do("set", mine, "1"), do("get", other))[1])
		})
		if saw[0] == "nil" && saw[1] == "nil" {
			t.Fatalf("round %d: neither session has seen the other's write", round)
		}
	}
}
