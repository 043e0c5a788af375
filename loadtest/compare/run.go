package compare

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/tiergrid/tiergrid/loadtest/load"
	"github.com/tiergrid/tiergrid/loadtest/process"
)

// ErrMissed is returned when a test of reading asked for keys that were not there.
var ErrMissed = errors.New("reads missed")

// Options say where and with what a suite runs.
type Options struct {
	// Dir is where the servers' folders are made. It should be on a disk.
	Dir string
	// Program is redis-benchmark, "": the one in PATH.
	Program string
	// Progress gets a line for each step; nil: none.
	Progress io.Writer
}

// Run measures the suite. Whatever it started has ended when it returns; an
// error comes with the results so far.
func Run(ctx context.Context, s Suite, o Options) ([]Result, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if o.Program == "" {
		o.Program = "redis-benchmark"
	}
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	r := &runner{suite: s.withDefaults(), Options: o}
	for i := range r.suite.Groups {
		if err := r.group(ctx, &r.suite.Groups[i]); err != nil {
			return r.results, fmt.Errorf("%s: %w", r.suite.Groups[i].Name, err)
		}
	}
	return r.results, nil
}

// runner is the state of one Run.
type runner struct {
	Options
	suite   Suite
	results []Result
}

// contestants are the two servers of a group, A first.
type contestants [2]*process.Server

// group starts both servers, fills them and runs all tests of the group.
func (r *runner) group(ctx context.Context, g *Group) (err error) {
	var both contestants
	for i, cfg := range []process.Config{g.A, g.B} {
		if both[i], err = process.Start(ctx, cfg, r.Dir); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, both[i].Stop()) }()
	}
	for _, s := range both {
		start := time.Now()
		cfg := load.FillConfig{Addr: s.Addr(), Keys: g.Keys, Value: g.Value}
		if err := load.Fill(ctx, cfg); err != nil {
			return fmt.Errorf("%s: %w", s.Name(), err)
		}
		r.printf("%s: filled %s with %d values of %d bytes in %.1f s",
			g.Name, s.Name(), g.Keys, g.Value, time.Since(start).Seconds())
	}
	for _, t := range g.Tests {
		if err := r.test(ctx, g, t, both); err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	return nil
}

// test alternates the runs of one test.
func (r *runner) test(ctx context.Context, g *Group, t Test, both contestants) error {
	if t.Requests == 0 {
		n, err := r.requests(ctx, g, t, both)
		if err != nil {
			return err
		}
		t.Requests = n
	}
	res := Result{Group: g.Name, Test: t, NameA: g.A.Name, NameB: g.B.Name}
	for pair := range r.suite.Pairs {
		for i, dst := range []*[]Measure{&res.A, &res.B} {
			m, err := r.measure(ctx, g, t, both, i)
			if err != nil {
				return fmt.Errorf("pair %d, %s: %w", pair+1, both[i].Name(), err)
			}
			*dst = append(*dst, m)
		}
		a, b := res.A[pair].Row.RPS, res.B[pair].Row.RPS
		r.printf("%s: pair %d: %.0f and %.0f requests/s, ratio %.3f", t.Name, pair+1, a, b, a/b)
	}
	r.results = append(r.results, res)
	return nil
}

// requests finds how many requests the slower contestant answers within the run
// time, and warms both up by it: the number grows until a run takes a quarter of
// that time.
func (r *runner) requests(ctx context.Context, g *Group, t Test, both contestants) (int, error) {
	slower := float64(maxTestRequests)
	for _, s := range both {
		rate := 0.0
		for n := max(probeRequests, t.Clients*t.Pipeline); ; {
			row, err := r.bench(g, t, s.Addr(), n).run(ctx)
			if err != nil {
				return 0, fmt.Errorf("first runs of %s: %w", s.Name(), err)
			}
			rate = row.RPS
			if took := float64(n) / rate; took >= g.RunTime.Seconds()/4 || n >= maxTestRequests {
				break
			}
			n = min(maxTestRequests, max(2*n, int(rate*g.RunTime.Seconds()/3)))
		}
		slower = min(slower, rate*g.RunTime.Seconds())
	}
	return max(1, int(slower)), nil
}

func (r *runner) bench(g *Group, t Test, addr string, n int) benchmark {
	return benchmark{program: r.Program, addr: addr, test: t, value: g.Value, keys: g.Keys,
		requests: n, within: 10*g.RunTime + time.Minute}
}

// measure does one run of contestant i. Both servers are quiet and the disk has
// what was written before it starts; the processor time that is counted ends when
// the server is quiet again, so that work put off to later is not a gift.
func (r *runner) measure(ctx context.Context, g *Group, t Test, both contestants, i int) (Measure, error) {
	if err := r.settle(ctx, both); err != nil {
		return Measure{}, err
	}
	s := both[i]
	before, err := s.Usage()
	if err != nil {
		return Measure{}, err
	}
	row, err := r.checked(ctx, r.bench(g, t, s.Addr(), t.Requests))
	if err != nil {
		return Measure{}, err
	}
	if err := process.AwaitQuiet(ctx, r.suite.Settle, s); err != nil {
		return Measure{}, err
	}
	after, err := s.Usage()
	if err != nil {
		return Measure{}, err
	}
	return Measure{Requests: t.Requests, Row: row, CPU: after.CPU - before.CPU, RSS: after.RSS, PeakRSS: after.PeakRSS}, nil
}

// checked runs b and makes sure that no read missed.
func (r *runner) checked(ctx context.Context, b benchmark) (Row, error) {
	before, err := misses(ctx, b.addr)
	if err != nil {
		return Row{}, err
	}
	row, err := b.run(ctx)
	if err != nil {
		return Row{}, err
	}
	after, err := misses(ctx, b.addr)
	if err == nil && after != before && b.test.Command == "get" {
		err = fmt.Errorf("%w: %d of %d", ErrMissed, after-before, b.requests)
	}
	return row, err
}

// settle brings both servers and the disk to rest.
func (r *runner) settle(ctx context.Context, both contestants) error {
	if err := process.AwaitQuiet(ctx, r.suite.Settle, both[:]...); err != nil {
		return err
	}
	return syncDisk(r.Dir)
}

// misses reads the server's count of reads that found nothing.
func misses(ctx context.Context, addr string) (int64, error) {
	info, err := load.Info(ctx, addr, "stats")
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(info["keyspace_misses"], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("INFO stats has no usable keyspace_misses: %w", err)
	}
	return n, nil
}

func (r *runner) printf(format string, args ...any) {
	fmt.Fprintf(r.Progress, format+"\n", args...)
}
