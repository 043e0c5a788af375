package server_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"pgregory.net/rapid"

	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/node/record"
	"github.com/tiergrid/tiergrid/node/resp"
)

// history is one random life of a server beside its model.
type history struct {
	*fixture
	r     *rapid.T
	c     *client
	fs    *vfs.MemFS
	table *topology.Table
	clock *atomic.Int64 // what the wall clock shows

	model *model
	// states are those after each command or transaction since the last opening;
	// a crash leaves one of them, and not one before kept.
	states []*model
	kept   int
	audits *stored
}

func newHistory(r *rapid.T, table *topology.Table) *history {
	h := &history{r: r, table: table, fs: vfs.NewCrashableMem(), clock: new(atomic.Int64)}
	h.clock.Store(1_000_000)
	h.model = newModel(h.clock.Load())
	h.open()
	h.audits = h.audit()
	return h
}

func (h *history) open() {
	h.fixture = open(h.r, options{table: h.table, fs: h.fs, clock: h.clock.Load, save: 2 * time.Millisecond})
	h.c = h.client()
	h.model.now = h.units.Now()
	h.states, h.kept = []*model{h.model.clone()}, 0
}

// check compares replies with the model's, in order.
func (h *history) check(c cmd, got resp.Value, want string) {
	shown := normal(c, got)
	words, any := strings.CutPrefix(want, "any ")
	if any && slices.Contains(strings.Fields(words), shown) {
		return
	}
	if shown != want {
		h.r.Fatalf("%.60q in database %d answered %.200q, want %.200q", c.args, c.database, shown, want)
	}
}

// normal writes a reply down; names that come in any order are sorted.
func normal(c cmd, v resp.Value) string {
	byText := func(a, b resp.Value) int { return strings.Compare(string(a.Bytes), string(b.Bytes)) }
	switch c.args[0] {
	case "keys":
		slices.SortFunc(v.Elems, byText)
	case "scan":
		slices.SortFunc(v.Elems[1].Elems, byText)
	}
	return text(v)
}

func (h *history) pipeline(r *rapid.T) {
	commands := make([]cmd, rapid.IntRange(1, 12).Draw(r, "commands"))
	for i := range commands {
		commands[i] = drawCommand(r)
	}
	for i, reply := range h.c.pipeline(commands...) {
		want := h.model.run(commands[i])
		h.check(commands[i], reply, want)
		h.states = append(h.states, h.model.clone())
	}
}

func (h *history) transaction(r *rapid.T) {
	commands := make([]cmd, rapid.IntRange(0, 6).Draw(r, "commands"))
	for i := range commands {
		commands[i] = drawCommand(r)
	}
	reply := h.c.exec(nil, commands...)
	if len(reply.Elems) != len(commands) {
		r.Fatalf("a transaction of %d commands answered %s", len(commands), text(reply))
	}
	for i := range commands {
		h.check(commands[i], reply.Elems[i], h.model.run(commands[i]))
	}
	h.states = append(h.states, h.model.clone())
}

// tick lets time pass, or the wall clock step back, which units do not follow.
func (h *history) tick(r *rapid.T) {
	ms := rapid.SampledFrom([]int{1, 1, 500, 1000, 3000, -2000}).Draw(r, "ms")
	h.model.now = max(h.model.now, h.clock.Add(int64(ms)))
}

func (h *history) reopen(*rapid.T) {
	h.close()
	h.open()
	h.equal(h.model)
}

// crash loses what was not synced, as a power loss does: the whole of it, or any
// blocks of it. What is left is the state after one of the commands.
func (h *history) crash(r *rapid.T) {
	cfg := vfs.CrashCloneCfg{UnsyncedDataPercent: rapid.SampledFrom([]int{0, 50, 100}).Draw(r, "unsynced data left")}
	cfg.RNG = rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "crash"), 0))
	left := h.fs.CrashClone(cfg)
	states, kept := h.states, h.kept
	h.close()
	h.fs, h.table = left, nextEpoch(h.table) // a start ends the epochs of the one before (R1)
	h.open()
	h.audits = h.audit()
	for _, state := range slices.Backward(states[kept:]) {
		if h.sameNames(h.audits, state) && h.holds(state) {
			h.model = state.clone()
			h.model.now = h.units.Now()
			h.states = []*model{h.model.clone()}
			return
		}
	}
	r.Fatalf("what the crash left is none of the %d states since the last sync: %s", len(states)-kept, h.difference(states[len(states)-1]))
}

// sync is what the background work does now and then.
func (h *history) sync(*rapid.T) {
	if err := h.stack.Sync(); err != nil {
		h.r.Fatal(err)
	}
	h.kept = len(h.states) - 1
}

// contents reads all that is visible of a database.
func (h *history) contents(database int) map[string]modelEntry {
	visible := map[string]modelEntry{}
	for _, key := range h.c.pipeline(cmd{database, []string{"keys", "*"}})[0].Elems {
		name := string(key.Bytes)
		replies := h.c.pipeline(cmd{database, []string{"get", name}}, cmd{database, []string{"pexpiretime", name}})
		visible[name] = modelEntry{replies[0].Bytes, max(0, replies[1].Int)}
	}
	return visible
}

// difference names what differs from a model.
func (h *history) difference(m *model) string {
	var b strings.Builder
	for i := range m.databases {
		got, want := h.contents(i), m.live(i, h.units.Now())
		for key, e := range want {
			if g, ok := got[key]; !ok || g.deadline != e.deadline || !bytes.Equal(g.value, e.value) {
				fmt.Fprintf(&b, "%d/%s: there=%v %d bytes until %d, want %d bytes until %d; ", i, key, ok, len(g.value), g.deadline, len(e.value), e.deadline)
			}
		}
		for key, g := range got {
			if _, ok := want[key]; !ok {
				fmt.Fprintf(&b, "%d/%s: %d bytes until %d, want none; ", i, key, len(g.value), g.deadline)
			}
		}
	}
	return b.String()
}

func (h *history) holds(m *model) bool {
	for i := range m.databases {
		if !equalEntries(h.contents(i), m.live(i, h.units.Now())) {
			return false
		}
	}
	return true
}

func (h *history) equal(m *model) {
	if !h.holds(m) {
		h.r.Fatalf("the server does not hold what the model holds: %s", h.difference(m))
	}
}

// invariant is what must hold after every step.
func (h *history) invariant(*rapid.T) {
	if h.table.Caches[0].Policy.Durability == topology.DurabilityAlways {
		h.kept = len(h.states) - 1
	}
	after := h.audit()
	h.growth(h.audits, after)
	h.audits = after
	if !h.sameNames(after, h.model) {
		h.r.Fatal("the store holds other keys than the model")
	}
}

// sameNames tells whether the rows are those of the model's entries, the ones
// past their deadline included.
func (h *history) sameNames(s *stored, m *model) bool {
	entries := 0
	for i := range m.databases {
		entries += len(m.databases[i])
	}
	for row := range s.heads {
		key, _ := record.ParseHead([]byte(row))
		if _, ok := m.databases[key.Cache-1][string(key.Name)]; !ok {
			return false
		}
	}
	return len(s.heads) == entries
}

func (h *history) live(r *rapid.T) {
	defer func() { h.close() }()
	r.Repeat(map[string]func(*rapid.T){
		"pipeline": h.pipeline, "pipeline again": h.pipeline, "transaction": h.transaction,
		"tick": h.tick, "sync": h.sync, "reopen": h.reopen, "crash": h.crash, "": h.invariant,
	})
	h.equal(h.model)
}

// TestHistories judges random histories by a model: replies, counters, versions
// and what a stop or a crash leaves (R12, R23, I8, I11). Under durability always a
// crash loses nothing that was answered (I12).
func TestHistories(t *testing.T) {
	t.Run("interval", rapid.MakeCheck(func(r *rapid.T) { newHistory(r, databases(3)).live(r) }))
	t.Run("always", rapid.MakeCheck(func(r *rapid.T) { newHistory(r, durable(databases(3))).live(r) }))
}
