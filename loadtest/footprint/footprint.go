// Package footprint measures the memory of one server in two states: holding far
// more data than its memory tier (Holding), and with many connections that do
// nothing (Idling).
//
// What is judged is the resident size of the process, everything included, once
// it is at rest in that state; the peak on the way there is reported beside it.
// A measurement is one goroutine that starts a fresh server and ends it. A server
// that lost or changed a value while it held them, or closed a connection, is an
// error and no result.
package footprint

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tiergrid/tiergrid/loadtest/load"
	"github.com/tiergrid/tiergrid/loadtest/process"
)

// settle bounds the wait for a server at rest.
const settle = 10 * time.Second

// Result is one judged number. Sizes are bytes.
type Result struct {
	Name  string `json:"name"`
	Unit  string `json:"unit"` // what Got and Limit are
	Got   int64  `json:"got"`
	Limit int64  `json:"limit"`
	Peak  int64  `json:"peak_rss_bytes"`
}

// Pass says whether the limit was kept.
func (r Result) Pass() bool { return r.Got <= r.Limit }

// Holding fills a server and reads from it at random.
type Holding struct {
	Name   string
	Server process.Config
	Value  int // bytes of a value
	Keys   int
	Reads  int
	Limit  int64 // of the resident size
}

// Run starts the server below dir and measures it.
func (h Holding) Run(ctx context.Context, dir string) (res Result, err error) {
	s, err := process.Start(ctx, h.Server, dir)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	cfg := load.FillConfig{Addr: s.Addr(), Keys: h.Keys, Value: h.Value}
	res = Result{Name: h.Name, Unit: "bytes of memory", Limit: h.Limit}
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"fill", func() error { return load.Fill(ctx, cfg) }},
		{"read", func() error { return load.Read(ctx, cfg, h.Reads) }},
	} {
		if err := step.do(); err != nil {
			return res, fmt.Errorf("%s: %s: %w", h.Name, step.name, err)
		}
		u, err := atRest(ctx, s)
		if err != nil {
			return res, err
		}
		res.Got, res.Peak = max(res.Got, u.RSS), u.PeakRSS
	}
	return res, nil
}

// Idling opens connections to a server.
type Idling struct {
	Name        string
	Server      process.Config
	Connections int
	Limit       int64 // of the bytes that a connection adds to the resident size
}

// Run starts the server below dir and measures it.
func (i Idling) Run(ctx context.Context, dir string) (res Result, err error) {
	s, err := process.Start(ctx, i.Server, dir)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	before, err := atRest(ctx, s)
	if err != nil {
		return Result{}, err
	}
	idle, err := load.OpenIdle(ctx, s.Addr(), i.Connections)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", i.Name, err)
	}
	defer func() { err = errors.Join(err, idle.Close()) }()
	after, err := atRest(ctx, s)
	if err != nil {
		return Result{}, err
	}
	if err := idle.Check(); err != nil {
		return Result{}, fmt.Errorf("%s: %w", i.Name, err)
	}
	return Result{Name: i.Name, Unit: "bytes a connection", Limit: i.Limit,
		Got: (after.RSS - before.RSS) / int64(i.Connections), Peak: after.PeakRSS}, nil
}

// atRest waits until the server does nothing and reads its usage.
func atRest(ctx context.Context, s *process.Server) (process.Usage, error) {
	if err := process.AwaitQuiet(ctx, settle, s); err != nil {
		return process.Usage{}, err
	}
	return s.Usage()
}
