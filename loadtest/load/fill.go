package load

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// FillConfig says what Fill writes and Read expects.
type FillConfig struct {
	Addr  string
	Keys  int // keys 0 to Keys-1
	Value int // bytes of each value
	// Connections is how many work at once, 0: 4.
	Connections int
	// Stall is how long one batch may take, 0: 60 s.
	Stall time.Duration
}

const (
	defaultConnections = 4
	defaultStall       = time.Minute
	batchBytes         = 256 << 10 // of one batch of a connection, or one value
	keyPrefix          = "key:"
	keyDigits          = 12
)

// AppendKey appends the name that redis-benchmark -r gives to key n.
func AppendKey(b []byte, n int) []byte {
	b = append(b, keyPrefix...)
	var digits [keyDigits]byte
	for i := keyDigits - 1; i >= 0; i-- {
		digits[i] = byte('0' + n%10)
		n /= 10
	}
	return append(b, digits[:]...)
}

// AppendValue appends the value of the given size that Fill writes under key n:
// random bytes, seeded with the key.
func AppendValue(b []byte, n, size int) []byte {
	pcg := rand.NewPCG(uint64(n), uint64(size))
	for ; size >= 8; size -= 8 {
		b = binary.LittleEndian.AppendUint64(b, pcg.Uint64())
	}
	for last := pcg.Uint64(); size > 0; size-- {
		b = append(b, byte(last))
		last >>= 8
	}
	return b
}

// ValueOf is AppendValue to nothing.
func ValueOf(n, size int) []byte { return AppendValue(make([]byte, 0, size), n, size) }

func (cfg FillConfig) withDefaults() (FillConfig, error) {
	if cfg.Keys < 1 || cfg.Value < 0 {
		return cfg, fmt.Errorf("%d keys of %d bytes", cfg.Keys, cfg.Value)
	}
	if cfg.Connections <= 0 {
		cfg.Connections = defaultConnections
	}
	if cfg.Stall <= 0 {
		cfg.Stall = defaultStall
	}
	return cfg, nil
}

// batch is how many commands travel at once.
func (cfg FillConfig) batch() int { return max(1, batchBytes/(cfg.Value+64)) }

// Fill writes all keys and returns when each write was answered.
func Fill(ctx context.Context, cfg FillConfig) error {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return err
	}
	f := &filler{cfg: cfg, batch: cfg.batch()}
	return inParallel(ctx, cfg.Connections, func(ctx context.Context, _ int) error { return f.run(ctx) })
}

// inParallel runs work n times at once and waits for all. The first error ends
// the others and is returned, as is the end of ctx.
func inParallel(ctx context.Context, n int, work func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if err := work(ctx, i); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	defer cancel(nil)
	return context.Cause(ctx)
}

// filler is shared by the connections of a Fill.
type filler struct {
	cfg   FillConfig
	batch int
	next  atomic.Int64 // first key that no connection has taken
}

// run writes batches over one connection until no key is left.
func (f *filler) run(ctx context.Context) error {
	c, err := Dial(ctx, f.cfg.Addr)
	if err != nil {
		return err
	}
	defer c.Close()
	var out []byte
	for {
		to := int(f.next.Add(int64(f.batch)))
		from := to - f.batch
		to = min(to, f.cfg.Keys)
		if from >= to {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if out, err = f.write(c, out[:0], from, to); err != nil {
			return fmt.Errorf("fill keys %d to %d: %w", from, to-1, err)
		}
	}
}

// write sends one batch and reads its replies. The server may hold back what it
// reads while it waits for us to read, but replies of a batch are a few bytes
// each, so they always fit the socket buffers and the two cannot block each other.
func (f *filler) write(c *Conn, out []byte, from, to int) ([]byte, error) {
	var key [len(keyPrefix) + keyDigits]byte
	for n := from; n < to; n++ {
		out = appendHead(out, '*', 3)
		out = appendBulk(out, []byte("SET"))
		out = appendBulk(out, AppendKey(key[:0], n))
		out = appendHead(out, '$', f.cfg.Value)
		out = AppendValue(out, n, f.cfg.Value)
		out = append(out, '\r', '\n')
	}
	if err := c.conn.SetDeadline(time.Now().Add(f.cfg.Stall)); err != nil {
		return out, err
	}
	if _, err := c.conn.Write(out); err != nil {
		return out, err
	}
	for range to - from {
		switch reply, err := c.reply(); {
		case err != nil:
			return out, err
		case reply != "OK":
			return out, fmt.Errorf("SET answered %q", reply)
		}
	}
	return out, nil
}
