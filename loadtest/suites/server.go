// Package suites holds the measurements that this project judges itself by, as
// data: what runs, with how much, and what is needed to pass.
//
// A suite is a value for loadtest/compare and loadtest/footprint. Its numbers fit
// a machine of two cores and 8 GB; Quick shrinks runs and data, not what is
// needed.
package suites

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tiergrid/tiergrid/loadtest/compare"
	"github.com/tiergrid/tiergrid/loadtest/footprint"
	"github.com/tiergrid/tiergrid/loadtest/process"
)

const (
	kB  = 1000
	mB  = 1000 * kB
	miB = 1 << 20
	giB = 1 << 30

	small = 100      // bytes
	large = 120 * kB // of the reference workload
)

// Server is speed and memory of one server process.
type Server struct {
	Compare compare.Suite
	Holding []footprint.Holding
	Idling  []footprint.Idling
}

// Programs are the binaries that a suite starts.
type Programs struct {
	Tiergrid string
	Redis    string // redis-server
}

// NewServer returns the suite of one server next to redis-server, which logs
// each write to its file and syncs it every second.
func NewServer(p Programs, quick bool) Server {
	s := Server{
		Compare: compare.Suite{Name: "server", Pairs: 5, RunTime: 3 * time.Second, Groups: []compare.Group{
			smallGroup(p), largeGroup(p, "120 kB", "2GiB", 1.0, 0.7), largeGroup(p, "120 kB, most on SSD", "256MiB", 0, 0),
		}},
		Holding: []footprint.Holding{holding(p, large, giB), holding(p, small, 256*miB)},
		Idling:  []footprint.Idling{{Name: "10,000 idle connections", Server: p.tiergrid("256MiB"), Connections: 10_000, Limit: 20 * kB}},
	}
	if quick {
		s.Compare.Pairs, s.Compare.RunTime, s.Compare.Settle = 3, time.Second, time.Second
		s.Compare.Groups = s.Compare.Groups[:2]
		s.Compare.Groups[1].Keys /= 4
		s.Compare.Groups[1].RunTime = 2 * time.Second
		s.Holding = []footprint.Holding{holding(p, large, 256*miB), holding(p, small, 64*miB)}
	}
	return s
}

func smallGroup(p Programs) compare.Group {
	return compare.Group{Name: "100 B", A: p.tiergrid("2GiB"), B: p.redis(), Value: small, Keys: 100_000, Tests: []compare.Test{
		{Name: "SET 100 B, P1", Command: "set", Need: 0.95},
		{Name: "GET 100 B, P1", Command: "get", Need: 0.95},
		{Name: "SET 100 B, P16", Command: "set", Pipeline: 16, Need: 0.6},
		{Name: "GET 100 B, P16", Command: "get", Pipeline: 16, Need: 0.8},
	}}
}

// largeGroup runs longer: its writes meet the disk, which both servers sync once
// a second or more often, and short runs scatter.
func largeGroup(p Programs, name, memory string, get, set float64) compare.Group {
	return compare.Group{Name: name, A: p.tiergrid(memory), B: p.redis(), Value: large, Keys: 8_000, RunTime: 5 * time.Second,
		Tests: []compare.Test{
			{Name: "GET " + name, Command: "get", Need: get},
			{Name: "SET " + name, Command: "set", Need: set},
		}}
}

// holding is ten times more data than the memory tier has room for. The
// allowance above the tier is 15 % of it and 300 MB.
func holding(p Programs, value int, memory int64) footprint.Holding {
	return footprint.Holding{
		Name:   fmt.Sprintf("10 × %d MiB of %d B values", memory/miB, value),
		Server: p.tiergrid(fmt.Sprintf("%dMiB", memory/miB)),
		Value:  value,
		Keys:   int(10 * memory / int64(value)),
		Reads:  int(2 * memory / int64(value)),
		Limit:  memory*115/100 + 300*mB,
	}
}

// tiergridConfig keeps everything of the server in its own folder.
const tiergridConfig = `node: {name: bench, data: "{dir}/data"}
resp: {bind: "127.0.0.1:{port}"}
http: {bind: "127.0.0.1:{http}"}
memory: {max-size: %s}
`

func (p Programs) tiergrid(memory string) process.Config {
	return process.Config{
		Name:  "tiergrid",
		Args:  []string{p.Tiergrid, "server", "--config", "{dir}/tiergrid.yaml"},
		Files: map[string]string{"tiergrid.yaml": fmt.Sprintf(tiergridConfig, memory)},
	}
}

func (p Programs) redis() process.Config {
	return process.Config{
		Name: "redis-server",
		Args: []string{p.Redis, "--bind", "127.0.0.1", "--port", "{port}", "--dir", "{dir}",
			"--appendonly", "yes", "--appendfsync", "everysec", "--save", ""},
	}
}

// Only keeps what has the words in its name; all where there are none.
func (s Server) Only(words string) Server {
	has := func(name string) bool { return strings.Contains(strings.ToLower(name), strings.ToLower(words)) }
	s.Holding = slices.DeleteFunc(slices.Clone(s.Holding), func(h footprint.Holding) bool { return !has(h.Name) })
	s.Idling = slices.DeleteFunc(slices.Clone(s.Idling), func(i footprint.Idling) bool { return !has(i.Name) })
	var groups []compare.Group
	for _, g := range s.Compare.Groups {
		g.Tests = slices.DeleteFunc(slices.Clone(g.Tests), func(t compare.Test) bool { return !has(t.Name) })
		if len(g.Tests) > 0 {
			groups = append(groups, g)
		}
	}
	s.Compare.Groups = groups
	return s
}

// Empty says that there is nothing to measure.
func (s Server) Empty() bool { return len(s.Compare.Groups)+len(s.Holding)+len(s.Idling) == 0 }
