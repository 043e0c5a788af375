package session

import (
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tiergrid/tiergrid/node/command"
)

// maxPrefixes bounds the error prefixes counted apart, as Redis does.
const maxPrefixes = 128

// counters are the figures of all sessions since the start or CONFIG RESETSTAT.
type counters struct {
	byCommand []commandCounters // indexed by the command's ID

	connections    atomic.Int64
	rejected       atomic.Int64 // connections that were not served
	bytesIn        atomic.Int64
	bytesOut       atomic.Int64
	slowReaders    atomic.Int64 // closed because they did not read
	laggards       atomic.Int64 // monitors closed because they did not read
	protocolErrors atomic.Int64
	panics         atomic.Int64
	errors         atomic.Int64 // error replies

	prefixes struct {
		sync.RWMutex
		count map[string]*atomic.Int64
	}
}

// commandCounters are those of one command, alone on a cache line.
type commandCounters struct {
	calls, nanos, rejected, failed atomic.Int64
	_                              [32]byte
}

func (c *counters) init() {
	c.byCommand = make([]commandCounters, command.Count())
	c.prefixes.count = make(map[string]*atomic.Int64)
}

// ran counts calls of a command that ran.
func (c *counters) ran(cmd *command.Command, calls int64, elapsed time.Duration, failed int64) {
	of := &c.byCommand[cmd.ID]
	of.calls.Add(calls)
	of.nanos.Add(int64(elapsed))
	if failed > 0 {
		of.failed.Add(failed)
	}
}

// reject counts a command that did not run; cmd is nil where there is none of
// that name.
func (c *counters) reject(cmd *command.Command, why command.Error) {
	if cmd != nil {
		c.byCommand[cmd.ID].rejected.Add(1)
	}
	c.failure(string(why))
}

// failure counts an error reply.
func (c *counters) failure(text string) {
	c.errors.Add(1)
	prefix, _, _ := strings.Cut(text, " ")
	c.prefixes.RLock()
	n := c.prefixes.count[prefix]
	c.prefixes.RUnlock()
	if n == nil {
		if n = c.addPrefix(prefix); n == nil {
			return
		}
	}
	n.Add(1)
}

// addPrefix returns the counter of a prefix, or nil when there are too many.
func (c *counters) addPrefix(prefix string) *atomic.Int64 {
	c.prefixes.Lock()
	defer c.prefixes.Unlock()
	n := c.prefixes.count[prefix]
	if n == nil && len(c.prefixes.count) < maxPrefixes {
		n = new(atomic.Int64)
		c.prefixes.count[strings.Clone(prefix)] = n
	}
	return n
}

// reset is CONFIG RESETSTAT.
func (c *counters) reset() {
	for i := range c.byCommand {
		of := &c.byCommand[i]
		for _, n := range []*atomic.Int64{&of.calls, &of.nanos, &of.rejected, &of.failed} {
			n.Store(0)
		}
	}
	for _, n := range []*atomic.Int64{
		&c.connections, &c.rejected, &c.bytesIn, &c.bytesOut, &c.slowReaders, &c.laggards,
		&c.protocolErrors, &c.panics, &c.errors,
	} {
		n.Store(0)
	}
	c.prefixes.Lock()
	clear(c.prefixes.count)
	c.prefixes.Unlock()
}

// processed is the number of commands that ran.
func (c *counters) processed() int64 {
	n := int64(0)
	for i := range c.byCommand {
		n += c.byCommand[i].calls.Load()
	}
	return n
}

// Stats are figures of all sessions, counted since the start or the last CONFIG
// RESETSTAT.
type Stats struct {
	Clients         int // now
	BlockedClients  int // now, parked by CLIENT PAUSE
	MonitorClients  int // now
	MaxClients      int64
	Connections     int64 // accepted
	Rejected        int64 // accepted and not served
	Commands        int64 // that ran
	CommandsPerSec  int64
	BytesIn         int64
	BytesOut        int64
	SlowReaders     int64 // sessions closed because the client did not read
	ProtocolErrors  int64
	Panics          int64
	ErrorReplies    int64
	ErrorsByPrefix  map[string]int64
	ByCommand       []CommandStats // of commands that were called
	SlowLogEntries  int
	PeakMemoryBytes uint64

	// Turns is how often a worker of the poller served clients, Served how many it
	// found in all, Late how often a turn took so long that another worker went on,
	// and Resumed how often a session was left to a goroutine.
	Turns, Served, Late, Resumed int64
}

// CommandStats are the figures of one command.
type CommandStats struct {
	Command  *command.Command
	Calls    int64
	Elapsed  time.Duration
	Rejected int64 // refused before they ran
	Failed   int64 // ran and answered an error
}

// Stats returns a snapshot.
func (srv *Server) Stats() Stats {
	c, polls := &srv.stats, srv.poller.Counts()
	return Stats{
		Clients: srv.count(), BlockedClients: int(srv.pause.waiting.Load()), MonitorClients: srv.monitors.count(),
		MaxClients: srv.maxClients.Load(), Connections: c.connections.Load(), Rejected: c.rejected.Load(),
		Commands: c.processed(), CommandsPerSec: srv.rate.commands(), BytesIn: c.bytesIn.Load(), BytesOut: c.bytesOut.Load(),
		SlowReaders: c.slowReaders.Load() + c.laggards.Load(), ProtocolErrors: c.protocolErrors.Load(), Panics: c.panics.Load(),
		ErrorReplies: c.errors.Load(), ErrorsByPrefix: c.byPrefix(), ByCommand: c.called(),
		Turns: polls.Turns.Load(), Served: polls.Ready.Load(), Late: polls.Late.Load(), Resumed: srv.crew.resumed.Load(),
		SlowLogEntries: srv.slow.len(), PeakMemoryBytes: srv.peakMemory.Load(),
	}
}

func (c *counters) byPrefix() map[string]int64 {
	c.prefixes.RLock()
	defer c.prefixes.RUnlock()
	counts := make(map[string]int64, len(c.prefixes.count))
	for prefix := range maps.Keys(c.prefixes.count) {
		counts[prefix] = c.prefixes.count[prefix].Load()
	}
	return counts
}

// called returns the figures of the commands that were called.
func (c *counters) called() []CommandStats {
	var list []CommandStats
	for i, cmd := range command.Commands() {
		of := &c.byCommand[i]
		one := CommandStats{cmd, of.calls.Load(), time.Duration(of.nanos.Load()), of.rejected.Load(), of.failed.Load()}
		if one.Calls > 0 || one.Rejected > 0 || one.Failed > 0 {
			list = append(list, one)
		}
	}
	return list
}
