package ssd

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/tiergrid/tiergrid/tiers"
)

// fillUp writes values until growth is refused, also after compactions have
// done what they can, and returns their number.
func fillUp(t *testing.T, s *Store, size int) int {
	t.Helper()
	value := make([]byte, size)
	random := rand.NewChaCha8([32]byte{})
	n := 0
	for refused := time.Now(); time.Since(refused) < 300*time.Millisecond; time.Sleep(time.Millisecond) {
		for ; s.Room(size) == nil; n++ {
			// Not in key order, as keys are hashed.
			_, _ = random.Read(value) // else tables would shrink to nothing
			mustApply(t, s, false, func(b *tiers.Batch) { b.Set(rowKey(n), value) })
			refused = time.Now()
		}
	}
	return n
}

func rowKey(i int) []byte { return fmt.Appendf(nil, "k%08x", uint32(i)*2654435761) }

// TestDeletesBringRoom: a full store accepts writes again after a tenth of its
// rows was deleted, however the rows are spread and whether their values stand
// in value files or in tables (R19).
func TestDeletesBringRoom(t *testing.T) {
	for size, max := range map[int]int64{16_000: 48 << 20, 400: 12 << 20} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			c := small(vfs.NewMem())
			c.MaxSize, c.Poll = max, 2*time.Millisecond
			s := open(t, c)
			defer s.Close()
			n := fillUp(t, s, size)
			for i := range n / 10 {
				mustApply(t, s, false, func(b *tiers.Batch) { b.Delete(rowKey(i * 10)) })
			}
			// A twentieth of the size, half of what was deleted, at least.
			eventually(t, "room after deletes", func() bool { return s.Room(n/20*size/2) == nil })
			if got, found := read(t, s, string(rowKey(n-n%10-1))); !found || len(got) != size {
				t.Errorf("a row that was not deleted: found %v, %d bytes", found, len(got))
			}
		})
	}
}
