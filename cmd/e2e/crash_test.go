package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

const crashRounds = 20

// TestKillUnderLoad kills the server again and again while clients write to a
// cache with durability always: every acknowledged write is there, with its TTL,
// and no transaction by half (I8, and what durability always promises).
func TestKillUnderLoad(t *testing.T) {
	t.Parallel()
	s := startConfigured(t, "templates: {default: {durability: always}}\n")
	client := s.client()
	writers := writersOf(client)
	for round := range crashRounds {
		l := startLoad(t, writers)
		time.Sleep(time.Duration(60+40*(round%5)) * time.Millisecond)
		l.leaving.Store(true)
		s.kill()
		l.end()
		s.start()
		checkAll(t, client, writers)
	}
}

// TestKillLosesNewestOnly kills the server while clients write to caches that are
// synced from time to time: what is lost is the end of what each client wrote, and
// not older than the interval (with room for a busy machine).
func TestKillLosesNewestOnly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		durability string
		newerThan  time.Duration
	}{
		{"interval", 2 * time.Second},
		{"none", time.Hour},
	} {
		t.Run(c.durability, func(t *testing.T) {
			t.Parallel()
			s := startConfigured(t, "templates: {default: {durability: "+c.durability+"}}\n")
			client := s.client()
			for round := range 3 {
				killOrdered(t, s, client, round, c.newerThan)
			}
		})
	}
}

// killOrdered lets writers write in a known order, kills the server and looks how
// far they have come.
func killOrdered(t *testing.T, s *server, client *redis.Client, round int, newerThan time.Duration) {
	t.Helper()
	writers := make([]*orderedWriter, 4)
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	for i := range writers {
		writers[i] = &orderedWriter{client: client, name: fmt.Sprintf("round%d:writer%d", round, i)}
		wg.Go(func() { writers[i].run(ctx) })
	}
	time.Sleep(700 * time.Millisecond)
	killed := time.Now()
	s.kill()
	cancel()
	wg.Wait()
	s.start()
	for _, w := range writers {
		w.check(t, killed.Add(-newerThan))
	}
}

// orderedWriter writes values 1, 2, 3… to its keys in turn.
type orderedWriter struct {
	client *redis.Client
	name   string
	acked  []time.Time // when write i+1 was acknowledged
}

const (
	orderedKeys = 50
	orderedSize = 3000
)

func (w *orderedWriter) key(n int) string { return fmt.Sprintf("%s:%d", w.name, n%orderedKeys) }

func (w *orderedWriter) run(ctx context.Context) {
	for n := 1; ctx.Err() == nil; n++ {
		value := fmt.Appendf(content(w.key(n), n, orderedSize), " %d", n)
		if w.client.Set(ctx, w.key(n), value, 0).Err() != nil {
			return
		}
		w.acked = append(w.acked, time.Now())
	}
}

// check looks for the newest write that is there: all before it must be, and
// everything acknowledged by safe.
func (w *orderedWriter) check(t *testing.T, safe time.Time) {
	t.Helper()
	have, newest := map[string]int{}, 0
	for i := range orderedKeys {
		n := w.read(t, i)
		have[w.key(i)] = n
		newest = max(newest, n)
	}
	if newest > len(w.acked)+1 {
		t.Fatalf("%s: write %d is there and was never sent", w.name, newest)
	}
	for n := max(1, newest-orderedKeys+1); n <= newest; n++ {
		if have[w.key(n)] != n {
			t.Fatalf("%s: write %d is there, but %s holds write %d and not %d", w.name, newest, w.key(n), have[w.key(n)], n)
		}
	}
	if newest < len(w.acked) && w.acked[newest].Before(safe) {
		t.Fatalf("%s: of %d writes the last %d are lost, the first of them %v too old", w.name, len(w.acked), len(w.acked)-newest, safe.Sub(w.acked[newest]))
	}
	if len(w.acked) == 0 {
		t.Fatalf("%s wrote nothing", w.name)
	}
}

// read returns which write a key holds, 0 for none.
func (w *orderedWriter) read(t *testing.T, i int) int {
	t.Helper()
	value, err := w.client.Get(t.Context(), w.key(i)).Bytes()
	if errors.Is(err, redis.Nil) {
		return 0
	}
	if err != nil {
		t.Fatalf("read %s: %v", w.key(i), err)
	}
	n := 0
	if len(value) <= orderedSize {
		t.Fatalf("%s holds %d bytes", w.key(i), len(value))
	}
	if _, err := fmt.Sscan(string(value[orderedSize:]), &n); err != nil {
		t.Fatalf("%s ends in %q", w.key(i), value[orderedSize:])
	}
	if !bytes.Equal(value[:orderedSize], content(w.key(i), n, orderedSize)) {
		t.Fatalf("%s: the bytes of write %d are others", w.key(i), n)
	}
	return n
}

// TestStopUnderLoad stops the server in order while clients write: whatever the
// durability, every acknowledged write is there afterwards. Clients that idle,
// watch, or have sent half a command don't hold up the stop.
func TestStopUnderLoad(t *testing.T) {
	t.Parallel()
	for _, durability := range []string{"interval", "none", "always"} {
		t.Run(durability, func(t *testing.T) {
			t.Parallel()
			s := startConfigured(t, "templates: {default: {durability: "+durability+"}}\n")
			client := s.client()
			writers := writersOf(client)
			l := startLoad(t, writers)
			dial(t, s.resp).ask("MONITOR")
			dial(t, s.resp).ask("PING")
			dial(t, s.resp).send("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$100\r\nhalf a value")
			dial(t, s.http)
			time.Sleep(300 * time.Millisecond)
			l.leaving.Store(true)
			s.stop()
			l.end()
			mark := filepath.Join(s.data, "clean")
			if _, err := os.Stat(mark); err != nil {
				t.Errorf("no mark of a clean stop: %v", err)
			}
			s.start()
			if _, err := os.Stat(mark); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the mark of a clean stop is there while the server runs: %v", err)
			}
			checkAll(t, client, writers)
		})
	}
}

// TestExpiryOverRestart lets TTLs end while the server stands: what has ended is
// gone from the first moment on, and is not counted for long.
func TestExpiryOverRestart(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	ctx, c := t.Context(), s.client()
	if _, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i := range 1000 {
			p.Set(ctx, fmt.Sprint("short:", i), "v", 500*time.Millisecond)
		}
		p.Set(ctx, "long", "v", time.Hour)
		p.Set(ctx, "kept", "v", 0)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	s.stop()
	time.Sleep(600 * time.Millisecond)
	s.start()
	if got, err := c.Exists(ctx, "short:1", "short:999", "long", "kept").Result(); err != nil || got != 2 {
		t.Errorf("EXISTS = %d, %v, want 2", got, err)
	}
	if ttl, err := c.TTL(ctx, "long").Result(); err != nil || ttl < 59*time.Minute || ttl > time.Hour {
		t.Errorf("TTL = %v, %v, want nearly an hour", ttl, err)
	}
	eventually(t, "what has ended not to be counted", func() bool { return c.DBSize(ctx).Val() == 2 })
	if keys, err := c.Keys(ctx, "*").Result(); err != nil || len(keys) != 2 {
		t.Errorf("KEYS = %q, %v", keys, err)
	}
}
