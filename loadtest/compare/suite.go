package compare

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tiergrid/tiergrid/loadtest/process"
)

// ErrSuite is returned for a suite that cannot be run.
var ErrSuite = errors.New("unusable suite")

// Suite is a comparison of two servers.
type Suite struct {
	Name   string  `json:"name"`
	Groups []Group `json:"groups"`
	// Pairs is how often A and B alternate in each test, 0: 5.
	Pairs int `json:"pairs"`
	// RunTime is how long a run of the slower server shall take, 0: 3 s. It sets
	// the number of requests of a test that names none.
	RunTime time.Duration `json:"-"`
	// Settle bounds the wait for quiet servers before each run, 0: 3 s.
	Settle time.Duration `json:"-"`
}

// Group is a set of tests over the same servers and data.
type Group struct {
	Name string `json:"name"`
	// A and B are the contestants.
	A process.Config `json:"a"`
	B process.Config `json:"b"`
	// Value and Keys are what both are filled with: bytes of a value and number
	// of keys.
	Value int    `json:"value_bytes"`
	Keys  int    `json:"keys"`
	Tests []Test `json:"tests"`
	// RunTime is the suite's for this group, 0: the suite's.
	RunTime time.Duration `json:"-"`
}

// Test is one redis-benchmark run, repeated.
type Test struct {
	Name string `json:"name"`
	// Command is a test of redis-benchmark -t: set, get, lpush…
	Command string `json:"command"`
	// Pipeline is -P, 0: 1.
	Pipeline int `json:"pipeline"`
	// Clients is -c, 0: 50.
	Clients int `json:"clients"`
	// Requests is -n, 0: as many as take about the RunTime.
	Requests int `json:"requests"`
	// Need is the least ratio A/B of requests per second that passes, 0: any.
	Need float64 `json:"need,omitempty"`
}

const (
	defaultPairs    = 5
	defaultRunTime  = 3 * time.Second
	defaultSettle   = 3 * time.Second
	defaultClients  = 50
	maxPipeline     = 10_000
	maxClients      = 20_000
	maxRunTime      = 10 * time.Minute
	probeRequests   = 2000 // first guess of a run that finds the number of requests
	maxTestRequests = 1 << 30
)

// withDefaults returns a copy in which nothing is left out.
func (s Suite) withDefaults() Suite {
	s.Pairs = or(s.Pairs, defaultPairs)
	s.RunTime = or(s.RunTime, defaultRunTime)
	s.Settle = or(s.Settle, defaultSettle)
	s.Groups = slices.Clone(s.Groups)
	for g := range s.Groups {
		s.Groups[g].RunTime = or(s.Groups[g].RunTime, s.RunTime)
		s.Groups[g].Tests = slices.Clone(s.Groups[g].Tests)
		for i := range s.Groups[g].Tests {
			t := &s.Groups[g].Tests[i]
			t.Pipeline = or(t.Pipeline, 1)
			t.Clients = or(t.Clients, defaultClients)
		}
	}
	return s
}

// or returns v, or d where v is zero.
func or[T comparable](v, d T) T {
	var zero T
	if v == zero {
		return d
	}
	return v
}

// Validate says what makes the suite unusable.
func (s Suite) Validate() error {
	s = s.withDefaults()
	if s.Pairs < 1 || s.Settle < 0 || len(s.Groups) == 0 {
		return fmt.Errorf("%w %q: %d pairs in %d groups", ErrSuite, s.Name, s.Pairs, len(s.Groups))
	}
	for _, g := range s.Groups {
		if err := g.validate(); err != nil {
			return fmt.Errorf("%w %q: group %q: %w", ErrSuite, s.Name, g.Name, err)
		}
	}
	return nil
}

func (g Group) validate() error {
	switch {
	case len(g.A.Args) == 0 || len(g.B.Args) == 0:
		return errors.New("two commands are needed")
	case g.A.Name == g.B.Name:
		return fmt.Errorf("both contestants are called %q", g.A.Name)
	case g.Value < 1 || g.Keys < 1:
		return fmt.Errorf("%d keys of %d bytes", g.Keys, g.Value)
	case len(g.Tests) == 0:
		return errors.New("no tests")
	case g.RunTime < 0 || g.RunTime > maxRunTime:
		return fmt.Errorf("runs of %v", g.RunTime)
	}
	for _, t := range g.Tests {
		if t.Command == "" || t.Pipeline < 1 || t.Pipeline > maxPipeline || t.Clients < 1 ||
			t.Clients > maxClients || t.Requests < 0 || t.Need < 0 {
			return fmt.Errorf("test %+v", t)
		}
	}
	return nil
}
