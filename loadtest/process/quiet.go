package process

import (
	"context"
	"time"
)

const (
	quietEvery = 200 * time.Millisecond
	quietShare = 0.05 // of one core
)

// AwaitQuiet returns when none of the servers uses more than a twentieth of a
// core, at the latest after limit: work that one run left behind should not slow
// the next.
func AwaitQuiet(ctx context.Context, limit time.Duration, servers ...*Server) error {
	before, err := totalCPU(servers)
	if err != nil {
		return err
	}
	for end := time.Now().Add(limit); time.Now().Before(end); {
		if err := sleep(ctx, min(quietEvery, time.Until(end))); err != nil {
			return err
		}
		now, err := totalCPU(servers)
		if err != nil {
			return err
		}
		if float64(now-before) <= quietShare*float64(quietEvery) {
			return nil
		}
		before = now
	}
	return nil
}

func totalCPU(servers []*Server) (sum time.Duration, err error) {
	for _, s := range servers {
		u, err := s.Usage()
		if err != nil {
			return 0, err
		}
		sum += u.CPU
	}
	return sum, nil
}

// sleep waits for d or the end of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
