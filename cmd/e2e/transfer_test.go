package e2e

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
)

// TestTransactionsOfManyClients lets clients move amounts between keys all over
// the slots: the sum never changes, for readers and after a kill.
func TestTransactionsOfManyClients(t *testing.T) {
	t.Parallel()
	s := startConfigured(t, "templates: {default: {durability: always}}\n")
	ctx, c := t.Context(), s.client()
	const accounts, each = 10, 1000
	for _, key := range accountKeys(accounts) {
		if err := c.Set(ctx, key, each, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	moving, stop := context.WithCancel(ctx)
	defer stop()
	var wg sync.WaitGroup
	var moved atomic.Int64
	for i := range 4 {
		client := s.client()
		wg.Go(func() { moved.Add(transfer(moving, client, accountKeys(accounts), i)) })
	}
	for range 200 {
		if sum := accountSum(t, c, accounts); sum != accounts*each {
			t.Fatalf("a reader sees %d in all, want %d", sum, accounts*each)
		}
	}
	s.kill()
	stop()
	wg.Wait()
	if moved.Load() < 100 {
		t.Errorf("only %d transfers in all", moved.Load())
	}
	s.start()
	if sum := accountSum(t, c, accounts); sum != accounts*each {
		t.Fatalf("after a kill there are %d in all, want %d", sum, accounts*each)
	}
}

func accountKeys(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = strings.Repeat("account", i+1)
	}
	return keys
}

// transfer moves one from key to key until the server is gone, and returns how
// often it did.
func transfer(ctx context.Context, c *redis.Client, keys []string, start int) int64 {
	for i := start; ; i++ {
		_, err := c.TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.DecrBy(ctx, keys[i%len(keys)], 1)
			p.IncrBy(ctx, keys[(i*7+3)%len(keys)], 1)
			return nil
		})
		if err != nil {
			return int64(i - start)
		}
	}
}

// accountSum reads all accounts at one moment.
func accountSum(t *testing.T, c *redis.Client, n int) (sum int) {
	t.Helper()
	amounts, err := c.MGet(t.Context(), accountKeys(n)...).Result()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range amounts {
		amount, err := strconv.Atoi(text.(string))
		if err != nil {
			t.Fatal(err)
		}
		sum += amount
	}
	return sum
}
