package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	goredis "github.com/redis/go-redis/v9"
)

// allBytes is a value with every byte there is; manyBytes one that spans many
// packets.
var (
	allBytes = func() []byte {
		b := make([]byte, 256)
		for i := range b {
			b[i] = byte(i)
		}
		return b
	}()
	manyBytes = bytes.Repeat(allBytes, 4700)
)

// eachDoor runs a test against a server without users and one with users, as
// those who write applications.
func eachDoor(t *testing.T, test func(t *testing.T, addr, user, password string)) {
	for name, c := range map[string]struct {
		start          func(t *testing.T) *server
		user, password string
	}{
		"open":    {func(t *testing.T) *server { return startServer(t) }, "", ""},
		"guarded": {guardedServer, "app", "app"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, c.start(t).resp, c.user, c.password)
		})
	}
}

func TestGoRedis(t *testing.T) {
	t.Parallel()
	for _, protocol := range []int{2, 3} {
		t.Run(fmt.Sprintf("RESP%d", protocol), func(t *testing.T) {
			eachDoor(t, func(t *testing.T, addr, user, password string) {
				c := goredis.NewClient(&goredis.Options{Addr: addr, Username: user, Password: password, Protocol: protocol})
				defer c.Close()
				useGoRedis(t, c)
			})
		})
	}
}

func useGoRedis(t *testing.T, c *goredis.Client) {
	ctx := t.Context()
	for key, value := range map[string][]byte{"plain": []byte("value"), "bytes": allBytes, "large": manyBytes, "empty": {}} {
		if err := c.Set(ctx, key, value, 100*time.Second).Err(); err != nil {
			t.Fatal(err)
		}
		if got, err := c.Get(ctx, key).Bytes(); err != nil || !bytes.Equal(got, value) {
			t.Fatalf("GET %s: %d bytes, %v", key, len(got), err)
		}
	}
	if ttl, err := c.TTL(ctx, "plain").Result(); err != nil || ttl < 90*time.Second || ttl > 100*time.Second {
		t.Errorf("TTL = %v, %v", ttl, err)
	}
	if err := c.Get(ctx, "missing").Err(); !errors.Is(err, goredis.Nil) {
		t.Errorf("GET of a missing key: %v", err)
	}
	pipelines(t, c)
	transactions(t, c)
	scans(t, c)
	if info, err := c.Info(ctx, "server").Result(); err != nil || !strings.Contains(info, "redis_version:7.") {
		t.Errorf("INFO: %q, %v", info, err)
	}
	if err := c.Do(ctx, "nosuch").Err(); err == nil || !strings.HasPrefix(err.Error(), "ERR unknown command") {
		t.Errorf("an unknown command: %v", err)
	}
}

// pipelines sends one with an error in its middle.
func pipelines(t *testing.T, c *goredis.Client) {
	t.Helper()
	ctx := t.Context()
	pipe := c.Pipeline()
	set, incr, bad, get := pipe.Set(ctx, "n", 1, 0), pipe.Incr(ctx, "n"), pipe.Incr(ctx, "plain"), pipe.Get(ctx, "n")
	if _, err := pipe.Exec(ctx); err == nil || err.Error() != "ERR value is not an integer or out of range" {
		t.Errorf("the pipeline: %v", err)
	}
	if set.Err() != nil || incr.Val() != 2 || bad.Err() == nil || get.Val() != "2" {
		t.Errorf("the pipeline: %v, %v, %v, %v", set, incr, bad, get)
	}
}

// transactions runs one, and one whose key is changed meanwhile.
func transactions(t *testing.T, c *goredis.Client) {
	t.Helper()
	ctx := t.Context()
	var app *goredis.IntCmd
	if _, err := c.TxPipelined(ctx, func(p goredis.Pipeliner) error {
		p.Set(ctx, "tx", "x", 0)
		app = p.Append(ctx, "tx", "y")
		return nil
	}); err != nil || app.Val() != 2 {
		t.Errorf("the transaction: %v, %v", app, err)
	}
	err := c.Watch(ctx, func(tx *goredis.Tx) error {
		if err := c.Set(ctx, "tx", "meanwhile", 0).Err(); err != nil {
			return err
		}
		_, err := tx.TxPipelined(ctx, func(p goredis.Pipeliner) error { return p.Set(ctx, "tx", "late", 0).Err() })
		return err
	}, "tx")
	if !errors.Is(err, goredis.TxFailedErr) {
		t.Errorf("a transaction over a changed key: %v", err)
	}
}

// scans goes through keys while others are there.
func scans(t *testing.T, c *goredis.Client) {
	t.Helper()
	ctx := t.Context()
	if _, err := c.Pipelined(ctx, func(p goredis.Pipeliner) error { return fillScan(ctx, p) }); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	it := c.Scan(ctx, 0, "scan:*", 50).Iterator()
	for it.Next(ctx) {
		found[it.Val()] = true
	}
	if err := it.Err(); err != nil || len(found) != 500 {
		t.Errorf("SCAN found %d keys of 500, %v", len(found), err)
	}
}

func fillScan(ctx context.Context, p goredis.Pipeliner) error {
	for i := range 500 {
		p.Set(ctx, fmt.Sprint("scan:", i), i, 0)
	}
	return nil
}

func TestRedigo(t *testing.T) {
	t.Parallel()
	eachDoor(t, func(t *testing.T, addr, user, password string) {
		options := []redis.DialOption{}
		if user != "" {
			options = append(options, redis.DialUsername(user), redis.DialPassword(password))
		}
		c, err := redis.Dial("tcp", addr, options...)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		useRedigo(t, c)
	})
}

func useRedigo(t *testing.T, c redis.Conn) {
	for key, value := range map[string][]byte{"plain": []byte("value"), "bytes": allBytes, "large": manyBytes} {
		if got, err := redis.String(c.Do("SET", key, value, "EX", 100)); err != nil || got != "OK" {
			t.Fatalf("SET: %q, %v", got, err)
		}
		if got, err := redis.Bytes(c.Do("GET", key)); err != nil || !bytes.Equal(got, value) {
			t.Fatalf("GET %s: %d bytes, %v", key, len(got), err)
		}
	}
	if _, err := redis.String(c.Do("GET", "missing")); !errors.Is(err, redis.ErrNil) {
		t.Errorf("GET of a missing key: %v", err)
	}
	for _, args := range [][]any{{"n", 1}, {"m", 2}} {
		if err := c.Send("SET", args...); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Send("INCR", "plain"); err != nil {
		t.Fatal(err)
	}
	replies, err := redis.Values(c.Do("")) // flushes, and takes all replies
	if err != nil || len(replies) != 3 || fmt.Sprint(replies[2]) != "ERR value is not an integer or out of range" {
		t.Errorf("the pipeline: %v, %v", replies, err)
	}
	for _, command := range []string{"MULTI", "INCR", "INCR"} {
		args := map[string][]any{"INCR": {"n"}}[command]
		if err := c.Send(command, args...); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := redis.Ints(c.Do("EXEC")); err != nil || len(got) != 2 || got[1] != 3 {
		t.Errorf("EXEC: %v, %v", got, err)
	}
	redigoScan(t, c)
}

func redigoScan(t *testing.T, c redis.Conn) {
	t.Helper()
	for i := range 500 {
		if err := c.Send("SET", fmt.Sprint("scan:", i), i); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Do(""); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for cursor := "0"; ; {
		var keys []string
		reply, err := redis.Values(c.Do("SCAN", cursor, "MATCH", "scan:*", "COUNT", 50))
		if err == nil {
			_, err = redis.Scan(reply, &cursor, &keys)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range keys {
			found[key] = true
		}
		if cursor == "0" {
			break
		}
	}
	if len(found) != 500 {
		t.Errorf("SCAN found %d keys of 500", len(found))
	}
}
