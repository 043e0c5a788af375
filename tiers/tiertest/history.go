package tiertest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/tiergrid/tiergrid/tiers"
)

// testRandom compares random single-threaded histories with a map.
func testRandom(t *testing.T, b *bench) {
	rapid.Check(t, func(r *rapid.T) {
		b := &bench{t: r, s: b.s, forgets: b.forgets}
		model := map[string][]byte{}
		// The subject is shared by all histories: each begins by emptying it.
		b.apply(func(w *tiers.Batch) { w.DeleteRange([]byte("k"), []byte("l")) })
		for range rapid.IntRange(1, 30).Draw(r, "batches") {
			b.apply(func(w *tiers.Batch) { drawBatch(r, w, model) })
			key := drawKey(r)
			b.want(key, model[key])
		}
		for i := range keyCount {
			b.want(keyName(i), model[keyName(i)])
		}
	})
}

// keyCount is small so that histories meet on the same rows.
const keyCount = 24

func keyName(i int) string { return fmt.Sprintf("k%02d", i) }

func drawKey(r *rapid.T) string { return keyName(rapid.IntRange(0, keyCount-1).Draw(r, "key")) }

// drawBatch fills a batch at random and changes the model likewise.
func drawBatch(r *rapid.T, w *tiers.Batch, model map[string][]byte) {
	for range rapid.IntRange(1, 6).Draw(r, "ops") {
		key := drawKey(r)
		switch rapid.IntRange(0, 9).Draw(r, "kind") {
		case 0:
			w.Delete([]byte(key))
			delete(model, key)
		case 1:
			end := drawKey(r)
			w.DeleteRange([]byte(key), []byte(end))
			for k := range model {
				if k >= key && k < end {
					delete(model, k)
				}
			}
		default:
			value := drawValue(r)
			w.Set([]byte(key), value)
			model[key] = value
		}
	}
}

func drawValue(r *rapid.T) []byte {
	size := rapid.SampledFrom([]int{0, 1, 10, 200, 5000, 100_000}).Draw(r, "size")
	value := make([]byte, size)
	if size > 0 {
		value[0] = rapid.Byte().Draw(r, "first")
		value[size-1] = value[0]
	}
	return value
}

// ledger records what was begun and acknowledged for one row, so that a reader
// knows which values it may see: any between the last write acknowledged
// before it began and the last one begun before it ended.
type ledger struct {
	begun, acked atomic.Uint64
	removes      [ledgerSize]atomic.Bool // version → it removed the row
}

const ledgerSize = 4096

// allows reports whether seeing the version, 0 for absent, is right.
func (l *ledger) allows(version, from, to uint64, forgets bool) bool {
	if version != 0 {
		return version >= from && version <= to && !l.removes[version].Load()
	}
	if forgets || from == 0 {
		return true
	}
	for v := from; v <= to; v++ {
		if l.removes[v].Load() {
			return true
		}
	}
	return false
}

// traffic is concurrent writers, each with rows of its own, and readers of all.
type traffic struct {
	s       Subject
	forgets bool
	rows    [16]ledger
	errs    chan error
	writing sync.WaitGroup
	done    atomic.Bool
}

func rowKey(i int) []byte { return fmt.Appendf(nil, "row%02d", i) }

func testConcurrent(t *testing.T, b *bench) {
	if err := Traffic(b.s, b.forgets, 300); err != nil {
		t.Fatal(err)
	}
}

// Traffic runs writers and readers concurrently and returns the first thing a
// reader saw that it must not see.
func Traffic(s Subject, forgets bool, writes int) error {
	c := &traffic{s: s, forgets: forgets, errs: make(chan error, 8)}
	const writers, readers = 4, 3
	var reading sync.WaitGroup
	for w := range writers {
		c.writing.Add(1)
		go func() { defer c.writing.Done(); c.write(w, writers, writes) }()
	}
	for r := range readers {
		reading.Add(1)
		go func() { defer reading.Done(); c.read(uint64(r)) }()
	}
	c.writing.Wait()
	c.done.Store(true)
	reading.Wait()
	select {
	case err := <-c.errs:
		return err
	default:
		return nil
	}
}

func (c *traffic) fail(err error) {
	select {
	case c.errs <- err:
	default:
	}
}

// write changes the rows i with i % writers == w, one or all in a batch; one
// write in eight removes, by key or by range.
func (c *traffic) write(w, writers, writes int) {
	random := rand.New(rand.NewPCG(uint64(w), 1))
	for version := uint64(1); version <= uint64(min(writes, ledgerSize-1)); version++ {
		remove := random.IntN(8) == 0
		var batch tiers.Batch
		for i := w; i < len(c.rows); i += writers {
			c.addChange(&batch, i, version, remove, random)
		}
		ticket, err := c.s.Apply(&batch, false)
		if err := errors.Join(err, ticket.Wait()); err != nil {
			c.fail(err)
			return
		}
		for i := w; i < len(c.rows); i += writers {
			c.rows[i].acked.Store(version)
		}
	}
}

func (c *traffic) addChange(batch *tiers.Batch, i int, version uint64, remove bool, random *rand.Rand) {
	l := &c.rows[i]
	l.removes[version].Store(remove)
	l.begun.Store(version)
	key := rowKey(i)
	switch {
	case !remove:
		value := make([]byte, 8+random.IntN(200))
		binary.LittleEndian.PutUint64(value, version)
		batch.Set(key, value)
	case random.IntN(2) == 0:
		batch.Delete(key)
	default:
		batch.DeleteRange(key, append(key, 0))
	}
}

func (c *traffic) read(seed uint64) {
	random := rand.New(rand.NewPCG(seed, 2))
	for !c.done.Load() {
		i := random.IntN(len(c.rows))
		l := &c.rows[i]
		from := l.acked.Load()
		var version uint64
		_, err := c.s.Get(rowKey(i), func(v []byte) { version = binary.LittleEndian.Uint64(v) })
		to := l.begun.Load()
		if err == nil && !l.allows(version, from, to, c.forgets) {
			err = fmt.Errorf("row %d: saw version %d, allowed were %d to %d", i, version, from, to)
		}
		if err != nil {
			c.fail(err)
			return
		}
	}
}
