package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

const crashRounds = 20

// writer writes counters to its own keys, one after the other, and remembers the
// last value acknowledged and the last one sent for each.
type writer struct {
	client *redis.Client
	prefix string
	rnd    *rand.Rand

	acked, sent map[string]int64
	deadlines   map[string]time.Time
}

func newWriter(s *server, n int) *writer {
	return &writer{
		client: s.client(), prefix: fmt.Sprintf("w%d:", n), rnd: rand.New(rand.NewPCG(7, uint64(n))),
		acked: map[string]int64{}, sent: map[string]int64{}, deadlines: map[string]time.Time{},
	}
}

// run writes until the server is gone.
func (w *writer) run(ctx context.Context) {
	for ctx.Err() == nil {
		key := fmt.Sprint(w.prefix, w.rnd.IntN(50))
		value := w.sent[key] + 1
		w.sent[key] = value
		ttl := time.Duration(0)
		if w.rnd.IntN(2) == 0 {
			ttl = time.Hour
		}
		deadline := time.Now().Add(ttl)
		if err := w.client.Set(ctx, key, value, ttl).Err(); err != nil {
			return
		}
		w.acked[key] = value
		if ttl > 0 {
			w.deadlines[key] = deadline
		} else {
			delete(w.deadlines, key)
		}
	}
}

// check reads everything back after the restart: nothing acknowledged may be
// missing, nothing may be there that was never sent, and TTLs go on.
func (w *writer) check(t *testing.T) {
	t.Helper()
	ctx := context.Background()
	for key, sent := range w.sent {
		got, err := w.client.Get(ctx, key).Int64()
		if errors.Is(err, redis.Nil) {
			got = 0
		} else if err != nil {
			t.Fatalf("GET %s: %v", key, err)
		}
		if got < w.acked[key] || got > sent {
			t.Fatalf("%s = %d, acknowledged %d, sent %d", key, got, w.acked[key], sent)
		}
		if got == w.acked[key] {
			w.checkTTL(t, key)
		}
		w.acked[key], w.sent[key] = got, got
	}
}

func (w *writer) checkTTL(t *testing.T, key string) {
	t.Helper()
	if w.acked[key] == 0 {
		return
	}
	ttl, err := w.client.PTTL(context.Background(), key).Result()
	if err != nil {
		t.Fatal(err)
	}
	deadline, expires := w.deadlines[key]
	if !expires {
		if ttl >= 0 {
			t.Fatalf("%s has a TTL of %v and was written without one", key, ttl)
		}
		return
	}
	if off := time.Until(deadline) - ttl; off.Abs() > 10*time.Second {
		t.Fatalf("%s has a TTL of %v, which is off by %v", key, ttl, off)
	}
}

// TestKillUnderLoad kills the server again and again while clients write to a
// cache with durability always (I8, I12 for a single server).
func TestKillUnderLoad(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tiergrid.yaml")
	if err := os.WriteFile(file, []byte("templates: {default: {durability: always}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServer(t, "--config", file)
	writers := make([]*writer, 8)
	for i := range writers {
		writers[i] = newWriter(s, i)
	}
	total := int64(0)
	for round := range crashRounds {
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		for _, w := range writers {
			wg.Go(func() { w.run(ctx) })
		}
		time.Sleep(time.Duration(100+50*(round%4)) * time.Millisecond)
		s.kill()
		cancel()
		wg.Wait()
		s.start()
		for _, w := range writers {
			w.check(t)
		}
		checkCount(t, s, writers)
	}
	for _, w := range writers {
		for _, n := range w.acked {
			total += n
		}
	}
	if total == 0 {
		t.Fatal("nothing was ever acknowledged")
	}
}

// checkCount compares DBSIZE, which is counted, with what is there.
func checkCount(t *testing.T, s *server, writers []*writer) {
	t.Helper()
	want := int64(0)
	for _, w := range writers {
		for _, n := range w.acked {
			if n > 0 {
				want++
			}
		}
	}
	if got, err := s.client().DBSize(context.Background()).Result(); err != nil || got != want {
		t.Fatalf("DBSIZE = %d, %v; there are %d keys", got, err, want)
	}
}
