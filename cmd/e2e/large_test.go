package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
)

const (
	largeCount = 5000
	largeBytes = largeCount * 80_000
)

func largeKey(i int) string { return fmt.Sprint("large:", i) }

// largeValue is one that the memory tier holds, or one over its limit for entries.
func largeValue(i, n int) []byte { return content(largeKey(i), n, 40_000*(1+2*(i%2))) }

// TestMoreThanMemory keeps six times more data than the memory tier holds: all of
// it is served, also after a restart, and the process stays small.
func TestMoreThanMemory(t *testing.T) {
	t.Parallel()
	const memoryMax = 64 << 20
	s := startServer(t)
	watch := startWatch(t, s)
	c := s.client()
	writeLarge(t, c, 1, largeCount)
	writeLarge(t, c, 2, largeCount/2) // the first half once more
	readLarge(t, c, 1)
	most := watch.first + watch.end()
	if allowed := int64(memoryMax/100*115 + 300e6); most > allowed {
		t.Errorf("the process took %d MB, allowed are %d", most/1e6, allowed/1e6)
	}
	t.Logf("the process took %d MB", most/1e6)
	stats := tierStats(t, c)
	if stats["memory_used"] > memoryMax || stats["memory_evicted"] == 0 || stats["memory_bypass"] == 0 || stats["ssd_used"] < largeBytes {
		t.Errorf("INFO tiers tells %v", stats)
	}
	s.stop()
	s.start()
	readLarge(t, c, 7) // a part of them
	emptyLarge(t, s, c)
}

// writeLarge writes the first values, those of version n.
func writeLarge(t *testing.T, c *redis.Client, n, count int) {
	t.Helper()
	inParallel(t, count, func(ctx context.Context, from, to int) error {
		_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i := from; i < to; i++ {
				p.Set(ctx, largeKey(i), largeValue(i, n), 0)
			}
			return nil
		})
		return err
	})
	if got, err := c.DBSize(t.Context()).Result(); err != nil || got != largeCount {
		t.Errorf("DBSIZE = %d, %v, want %d", got, err, largeCount)
	}
}

// readLarge compares every step-th value with what was written last.
func readLarge(t *testing.T, c *redis.Client, step int) {
	t.Helper()
	inParallel(t, largeCount/step, func(ctx context.Context, from, to int) error {
		for i := from * step; i < to*step; i += step {
			n := 1
			if i < largeCount/2 {
				n = 2
			}
			got, err := c.Get(ctx, largeKey(i)).Bytes()
			if err == nil && !bytes.Equal(got, largeValue(i, n)) {
				err = fmt.Errorf("%s: its %d bytes are others than written", largeKey(i), len(got))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// inParallel does work on count things, sixteen at a time by each of four.
func inParallel(t *testing.T, count int, work func(ctx context.Context, from, to int) error) {
	t.Helper()
	const at, workers = 16, 4
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for from := w * at; from < count; from += workers * at {
				if err := work(t.Context(), from, min(from+at, count)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// emptyLarge removes everything: the disk space comes back.
func emptyLarge(t *testing.T, s *server, c *redis.Client) {
	t.Helper()
	ctx := t.Context()
	before := diskUsed(t, filepath.Join(s.data, "store", "pebble"))
	if before < largeBytes {
		t.Errorf("on disk are %d MB, less than was written", before/1e6)
	}
	if err := c.FlushAll(ctx).Err(); err != nil {
		t.Fatal(err)
	}
	if got, err := c.DBSize(ctx).Result(); err != nil || got != 0 {
		t.Errorf("DBSIZE = %d, %v, after FLUSHALL", got, err)
	}
	if got, err := c.Exists(ctx, largeKey(0)).Result(); err != nil || got != 0 {
		t.Errorf("EXISTS = %d, %v, after FLUSHALL", got, err)
	}
	eventually(t, "the disk space to come back", func() bool {
		return diskUsed(t, filepath.Join(s.data, "store", "pebble")) < 150e6 && tierStats(t, c)["ssd_used"] < 150e6
	})
}

// tierStats are the numbers of INFO tiers.
func tierStats(t *testing.T, c *redis.Client) map[string]int64 {
	t.Helper()
	info, err := c.Info(t.Context(), "tiers").Result()
	if err != nil {
		t.Fatal(err)
	}
	stats := map[string]int64{}
	for line := range strings.Lines(info) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		var n int64
		if _, err := fmt.Sscan(value, &n); err == nil {
			stats[name] = n
		}
	}
	return stats
}

// diskUsed is what the files of a directory hold. Files may go while it looks.
func diskUsed(t *testing.T, dir string) int64 {
	t.Helper()
	sum := int64(0)
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}
