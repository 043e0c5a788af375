package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

const fullSize = 120_000

func fullKey(i int) string { return fmt.Sprint("full:", i) }

// isOOM says whether a write was refused for lack of space.
func isOOM(err error) bool { return isReply(err) && strings.HasPrefix(err.Error(), "OOM ") }

// filler writes values until there is no space.
type filler struct {
	large, small int // how many there are
}

// fill goes on until nothing is accepted any more, however small, and stays so for
// some seconds: when space runs short the server first gives back what it can.
func (f *filler) fill(t *testing.T, c *redis.Client) {
	t.Helper()
	for quiet := 0; quiet < 3; quiet++ {
		before := f.large + f.small
		for f.set(t, c, fullKey(f.large), fullSize) {
			f.large++
		}
		for _, size := range []int{2000, 10} {
			for f.set(t, c, fmt.Sprint("small:", f.small), size) {
				f.small++
			}
		}
		if f.large+f.small > before {
			quiet = -1
		}
		time.Sleep(time.Second)
	}
}

// set writes a value, unless it is refused for lack of space.
func (f *filler) set(t *testing.T, c *redis.Client, key string, size int) bool {
	t.Helper()
	err := c.Set(t.Context(), key, content(key, 1, size), 0).Err()
	switch {
	case isOOM(err):
		return false
	case err != nil:
		t.Fatalf("SET %s: %v", key, err)
	case f.large > 20_000:
		t.Fatal("2.4 GB were written and nothing was refused")
	}
	return true
}

// checkFull checks what a full server does and what it refuses.
func checkFull(t *testing.T, s *server, c *redis.Client, f *filler) {
	t.Helper()
	ctx := t.Context()
	if got, err := c.DBSize(ctx).Result(); err != nil || got != int64(f.large+f.small) {
		t.Errorf("DBSIZE = %d, %v, want %d", got, err, f.large+f.small)
	}
	for i := 0; i < f.large; i += 40 {
		if got, err := c.Get(ctx, fullKey(i)).Bytes(); err != nil || !bytes.Equal(got, content(fullKey(i), 1, fullSize)) {
			t.Fatalf("GET %s: %d bytes, %v", fullKey(i), len(got), err)
		}
	}
	refused := []redis.Cmder{
		c.Set(ctx, "more", "x", 0), c.Append(ctx, fullKey(0), "x"), c.Incr(ctx, "n"), c.SetBit(ctx, "b", 7, 1), c.MSet(ctx, "x", 1, "y", 2),
	}
	for _, cmd := range refused {
		if !isOOM(cmd.Err()) {
			t.Errorf("%v when full: %v", cmd.Args()[0], cmd.Err())
		}
	}
	_, err := c.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.Del(ctx, fullKey(1))
		return p.Set(ctx, "more", "x", 0).Err()
	})
	if err == nil || c.Exists(ctx, fullKey(1)).Val() != 1 {
		t.Errorf("a transaction that grows when full: %v", err)
	}
	if full := tierStats(t, c)["ssd_full"]; full != 1 {
		t.Errorf("INFO says ssd_full:%d", full)
	}
	s.get(t, "/metrics", "", "").want(t, http.StatusOK, "\ntiergrid_ssd_full 1\n")
	s.get(t, "/health/ready", "", "").want(t, http.StatusOK)
}

// deleteSome deletes keys, each with a command that must work when full.
func deleteSome(t *testing.T, c *redis.Client, from, to int) {
	t.Helper()
	ctx := t.Context()
	for i := from; i < to; i++ {
		var err error
		switch i % 3 {
		case 0:
			err = c.Del(ctx, fullKey(i)).Err()
		case 1:
			err = c.Unlink(ctx, fullKey(i)).Err()
		case 2:
			err = c.GetDel(ctx, fullKey(i)).Err()
		}
		if err != nil {
			t.Fatalf("delete %s when full: %v", fullKey(i), err)
		}
	}
	if got, err := c.Exists(ctx, fullKey(from), fullKey(to-1)).Result(); err != nil || got != 0 {
		t.Errorf("EXISTS = %d, %v, of deleted keys", got, err)
	}
}

// acceptsAgain waits until writes are accepted.
func acceptsAgain(t *testing.T, c *redis.Client) {
	t.Helper()
	eventually(t, "writes to be accepted again", func() bool {
		err := c.Set(t.Context(), "again", content("again", 1, fullSize), 0).Err()
		if err != nil && !isOOM(err) {
			t.Fatal(err)
		}
		return err == nil
	})
}

// TestFull fills the configured size: writes get an error, all else works, also
// after a restart; deletes and FLUSHALL make room again.
func TestFull(t *testing.T) {
	t.Parallel()
	const ssdMax = 400_000_000
	s := startServer(t, "--ssd-max-size", "400MB")
	c := s.client()
	var f filler
	f.fill(t, c)
	if written := f.large * fullSize; written < ssdMax/2 || written > ssdMax {
		t.Errorf("%d MB fit into 400 MB", written/1_000_000)
	}
	checkFull(t, s, c, &f)
	if used := diskUsed(t, filepath.Join(s.data, "store", "pebble")); used > ssdMax*5/4 {
		t.Errorf("%d MB are on disk", used/1_000_000)
	}
	s.stop()
	s.start()
	if got, err := c.Get(t.Context(), fullKey(0)).Bytes(); err != nil || !bytes.Equal(got, content(fullKey(0), 1, fullSize)) {
		t.Errorf("GET after a restart: %d bytes, %v", len(got), err)
	}
	deleted := f.large / 4
	deleteSome(t, c, 0, deleted)
	acceptsAgain(t, c)
	if got, err := c.DBSize(t.Context()).Result(); err != nil || got != int64(f.large+f.small-deleted+1) {
		t.Errorf("DBSIZE = %d, %v", got, err)
	}
	f.fill(t, c)
	if err := c.FlushAll(t.Context()).Err(); err != nil {
		t.Errorf("FLUSHALL when full: %v", err)
	}
	acceptsAgain(t, c)
}

// TestFileSystemFull fills a small file system, at last by other means than the
// server's: writes are refused before the disk is full, the process lives through
// it, and goes on by itself when there is space.
func TestFileSystemFull(t *testing.T) {
	if !inNamespaces(t, syscall.CLONE_NEWNS) {
		return
	}
	disk := t.TempDir()
	if err := errors.Join(
		syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""),
		syscall.Mount("none", disk, "tmpfs", 0, "size=900m"),
	); err != nil {
		t.Fatalf("mount a file system of 900 MB: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	s := newServer(t, "--ssd-max-size", "100GB")
	s.data = filepath.Join(disk, "data")
	s.start()
	c := s.client()
	var f filler
	f.fill(t, c)
	checkFull(t, s, c, &f)

	other := filepath.Join(disk, "other")
	takeAll(t, other)
	deleteSome(t, c, 0, f.large/4)
	if err := c.Set(t.Context(), "more", "x", 0).Err(); !isOOM(err) {
		t.Errorf("SET when nothing is left: %v", err)
	}
	s.alive(t)
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	acceptsAgain(t, c)
	s.stop()
	s.start()
	for i := f.large - 20; i < f.large; i++ {
		if got, err := c.Get(t.Context(), fullKey(i)).Bytes(); err != nil || !bytes.Equal(got, content(fullKey(i), 1, fullSize)) {
			t.Fatalf("GET %s after a restart: %d bytes, %v", fullKey(i), len(got), err)
		}
	}
}

// takeAll writes a file until nothing more fits.
func takeAll(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 64<<10))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}
