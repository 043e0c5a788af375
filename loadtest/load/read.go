package load

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// ErrValue is returned when a key holds something else than Fill wrote.
var ErrValue = errors.New("not the value that was written")

// Read gets keys of a filled key space in random order, reads times in all, and
// checks each value.
func Read(ctx context.Context, cfg FillConfig, reads int) error {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return err
	}
	return inParallel(ctx, cfg.Connections, func(ctx context.Context, i int) error {
		share := reads / cfg.Connections
		if i < reads%cfg.Connections {
			share++
		}
		return readShare(ctx, cfg, share, rand.New(rand.NewPCG(uint64(i), uint64(cfg.Keys))))
	})
}

// readShare does the reads of one connection, batch by batch.
func readShare(ctx context.Context, cfg FillConfig, reads int, random *rand.Rand) error {
	c, err := Dial(ctx, cfg.Addr)
	if err != nil {
		return err
	}
	defer c.Close()
	keys := make([]int, 0, cfg.batch())
	for reads > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		keys = keys[:0]
		for range min(reads, cap(keys)) {
			keys = append(keys, random.IntN(cfg.Keys))
		}
		if err := readBatch(c, cfg, keys); err != nil {
			return err
		}
		reads -= len(keys)
	}
	return nil
}

// readBatch sends its few bytes of commands at once: they fit the socket
// buffers, so that the server can always go on answering.
func readBatch(c *Conn, cfg FillConfig, keys []int) error {
	var out, want []byte
	for _, n := range keys {
		out = appendHead(out, '*', 2)
		out = appendBulk(out, []byte("GET"))
		out = appendBulk(out, AppendKey(nil, n))
	}
	if err := c.conn.SetDeadline(time.Now().Add(cfg.Stall)); err != nil {
		return err
	}
	if _, err := c.conn.Write(out); err != nil {
		return err
	}
	for _, n := range keys {
		got, err := c.reply()
		if err != nil {
			return fmt.Errorf("GET %s: %w", AppendKey(nil, n), err)
		}
		if want = AppendValue(want[:0], n, cfg.Value); got != string(want) {
			return fmt.Errorf("GET %s: %w: %d bytes in place of %d", AppendKey(nil, n), ErrValue, len(got), len(want))
		}
	}
	return nil
}
