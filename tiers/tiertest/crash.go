package tiertest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/tiergrid/tiergrid/tiers"
)

// Disk is a simulated disk with a store on it.
type Disk interface {
	// Open opens the store.
	Open(t testing.TB) tiers.Store
	// Crash returns a copy of the disk as a power loss now would leave it:
	// what was synced, and of the rest what the seed chooses.
	Crash(seed uint64) Disk
}

// RunCrash judges what survives power losses: every durable batch, every batch
// before a Sync, and of the rest a prefix, each batch as a whole (R12, I8, I12).
func RunCrash(t *testing.T, newDisk func() Disk) {
	for seed := range uint64(25) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			c := &crash{t: t, disk: newDisk(), random: rand.New(rand.NewPCG(seed, 3))}
			for range 3 {
				c.live()
			}
		})
	}
}

// counterKey holds the number of the last batch, written with each.
const counterKey = "counter"

// crash is one history of lives that end in power losses.
type crash struct {
	t      testing.TB
	disk   Disk
	random *rand.Rand
	states []map[string][]byte // states[n] is the model after batch n
}

// live opens the store, compares it with the history, writes, and crashes.
func (c *crash) live() {
	s := c.disk.Open(c.t)
	if c.states == nil {
		c.states = []map[string][]byte{{}}
	}
	floor := len(c.states) - 1
	for range c.random.IntN(120) {
		if c.step(s) {
			floor = len(c.states) - 1
		}
	}
	next := c.disk.Crash(c.random.Uint64())
	if err := s.Close(); err != nil {
		c.t.Fatal(err)
	}
	c.disk = next
	c.recover(floor)
}

// step applies one batch and reports whether all so far is durable.
func (c *crash) step(s tiers.Store) bool {
	n := len(c.states)
	model := map[string][]byte{}
	for key, value := range c.states[n-1] {
		model[key] = value
	}
	durable := c.random.IntN(10) == 0
	var b tiers.Batch
	c.fill(&b, model, n)
	c.states = append(c.states, model)
	ticket, err := s.Apply(&b, durable)
	if err := errors.Join(err, ticket.Wait()); err != nil {
		c.t.Fatal(err)
	}
	if !durable && c.random.IntN(15) == 0 {
		if err := s.Sync(); err != nil {
			c.t.Fatal(err)
		}
		return true
	}
	return durable
}

func (c *crash) fill(b *tiers.Batch, model map[string][]byte, n int) {
	put := func(key string, value []byte) {
		b.Set([]byte(key), value)
		model[key] = value
	}
	put(counterKey, strconv.AppendInt(nil, int64(n), 10))
	for range c.random.IntN(4) {
		key := keyName(c.random.IntN(keyCount))
		switch c.random.IntN(6) {
		case 0:
			b.Delete([]byte(key))
			delete(model, key)
		case 1:
			b.DeleteRange([]byte(key), []byte(key+"\x00"))
			delete(model, key)
		default:
			size := []int{0, 20, 3000, 50_000}[c.random.IntN(4)]
			put(key, []byte(fmt.Sprintf("%d/%*d", n, size, n)))
		}
	}
}

// recover opens the store after a crash and checks that it stands at one state
// of the history, not before floor; the history goes on from there.
func (c *crash) recover(floor int) {
	s := c.disk.Open(c.t)
	defer func() {
		if err := s.Close(); err != nil {
			c.t.Fatal(err)
		}
	}()
	last := 0
	counter, err := get(s, []byte(counterKey))
	if err == nil && counter != nil {
		last, err = strconv.Atoi(string(counter))
	}
	if err != nil {
		c.t.Fatal(err)
	}
	if last < floor || last >= len(c.states) {
		c.t.Fatalf("the store stands at batch %d, durable was %d of %d", last, floor, len(c.states)-1)
	}
	if err := sameRows(s, c.states[last]); err != nil {
		c.t.Fatalf("after batch %d: %v", last, err)
	}
	c.states = c.states[:last+1]
}
