package main

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tiergrid/tiergrid/node/resp"
	"github.com/tiergrid/tiergrid/node/wire"
	"github.com/tiergrid/tiergrid/proxy/session"
)

// figures are everything that is shown at one scrape.
type figures struct {
	node     wire.Stats
	sessions session.Stats
	buffers  struct{ count, bytes, retained int64 }
}

// metric is one figure without labels.
type metric struct {
	name, help string
	kind       prometheus.ValueType
	value      func(*figures) int64
}

const (
	gauge = prometheus.GaugeValue
	count = prometheus.CounterValue
)

var plainMetrics = []metric{
	{"tiergrid_memory_max_bytes", "Configured size of the memory tier.", gauge, func(f *figures) int64 { return f.node.MemoryMax }},
	{"tiergrid_memory_used_bytes", "Bytes that the memory tier uses.", gauge, func(f *figures) int64 { return f.node.MemoryUsed }},
	{"tiergrid_memory_rows", "Rows that the memory tier holds.", gauge, func(f *figures) int64 { return f.node.MemoryEntries }},
	{"tiergrid_memory_hits_total", "Row reads that the memory tier answered.", count, func(f *figures) int64 { return f.node.MemoryHits }},
	{"tiergrid_memory_misses_total", "Row reads that went on to the SSD tier.", count, func(f *figures) int64 { return f.node.MemoryMisses }},
	{"tiergrid_memory_evicted_total", "Rows dropped from memory for space.", count, func(f *figures) int64 { return f.node.MemoryEvicted }},
	{"tiergrid_memory_bypass_total", "Rows too large for the memory tier.", count, func(f *figures) int64 { return f.node.MemoryBypassed }},

	{"tiergrid_ssd_max_bytes", "Configured size of the SSD tier.", gauge, func(f *figures) int64 { return f.node.DiskMax }},
	{"tiergrid_ssd_used_bytes", "Bytes that the SSD tier uses.", gauge, func(f *figures) int64 { return f.node.DiskUsed }},
	{"tiergrid_ssd_free_bytes", "Free bytes of the file system below the SSD tier.", gauge, func(f *figures) int64 { return f.node.DiskAvailable }},
	{"tiergrid_ssd_full", "1 while writes are refused for lack of space.", gauge, func(f *figures) int64 { return flag(f.node.DiskFull) }},
	{"tiergrid_ssd_write_stalls_total", "Times that writes had to wait for the SSD tier.", count, func(f *figures) int64 { return f.node.WriteStalls }},

	{"tiergrid_keyspace_hits_total", "Key lookups that found an entry.", count, func(f *figures) int64 { return f.node.KeyspaceHits }},
	{"tiergrid_keyspace_misses_total", "Key lookups that found none.", count, func(f *figures) int64 { return f.node.KeyspaceMisses }},
	{"tiergrid_expired_total", "Entries deleted at their deadline.", count, func(f *figures) int64 { return f.node.ExpiredKeys }},
	{"tiergrid_cross_slot_commands_total", "Commands whose keys lie in several slots.", count, func(f *figures) int64 { return f.node.CrossSlot }},

	{"tiergrid_clock_ahead_milliseconds", "How far the time of deadlines is before a wall clock that was set back.", gauge, func(f *figures) int64 { return f.node.ClockAhead.Milliseconds() }},

	{"tiergrid_clients", "Connected clients.", gauge, func(f *figures) int64 { return int64(f.sessions.Clients) }},
	{"tiergrid_clients_max", "Clients served at once.", gauge, func(f *figures) int64 { return f.sessions.MaxClients }},
	{"tiergrid_clients_paused", "Clients that wait for the end of CLIENT PAUSE.", gauge, func(f *figures) int64 { return int64(f.sessions.BlockedClients) }},
	{"tiergrid_clients_monitoring", "Clients that MONITOR.", gauge, func(f *figures) int64 { return int64(f.sessions.MonitorClients) }},
	{"tiergrid_connections_total", "Connections accepted.", count, func(f *figures) int64 { return f.sessions.Connections }},
	{"tiergrid_connections_rejected_total", "Connections accepted and not served.", count, func(f *figures) int64 { return f.sessions.Rejected }},
	{"tiergrid_commands_total", "Commands run.", count, func(f *figures) int64 { return f.sessions.Commands }},
	{"tiergrid_error_replies_total", "Replies that were errors.", count, func(f *figures) int64 { return f.sessions.ErrorReplies }},
	{"tiergrid_received_bytes_total", "Bytes received from clients.", count, func(f *figures) int64 { return f.sessions.BytesIn }},
	{"tiergrid_sent_bytes_total", "Bytes sent to clients.", count, func(f *figures) int64 { return f.sessions.BytesOut }},
	{"tiergrid_slow_readers_total", "Clients closed because they did not read.", count, func(f *figures) int64 { return f.sessions.SlowReaders }},
	{"tiergrid_protocol_errors_total", "Clients closed because what they sent is not RESP.", count, func(f *figures) int64 { return f.sessions.ProtocolErrors }},
	{"tiergrid_session_panics_total", "Sessions closed because of an internal error.", count, func(f *figures) int64 { return f.sessions.Panics }},
	{"tiergrid_poll_turns_total", "Times that clients who had sent something were served together.", count, func(f *figures) int64 { return f.sessions.Turns }},
	{"tiergrid_poll_served_total", "Clients served in these turns.", count, func(f *figures) int64 { return f.sessions.Served }},
	{"tiergrid_poll_late_total", "Turns that took so long that another worker went on.", count, func(f *figures) int64 { return f.sessions.Late }},
	{"tiergrid_sessions_resumed_total", "Times a session was left to a goroutine, because something had to be waited for.", count, func(f *figures) int64 { return f.sessions.Resumed }},
	{"tiergrid_slowlog_entries", "Commands in the slow log.", gauge, func(f *figures) int64 { return int64(f.sessions.SlowLogEntries) }},

	{"tiergrid_buffers_in_use", "Pooled buffers in use.", gauge, func(f *figures) int64 { return f.buffers.count }},
	{"tiergrid_buffers_in_use_bytes", "Bytes of pooled buffers in use.", gauge, func(f *figures) int64 { return f.buffers.bytes }},
	{"tiergrid_buffers_retained_bytes", "Bytes of large buffers that wait for reuse.", gauge, func(f *figures) int64 { return f.buffers.retained }},
}

func flag(on bool) int64 {
	if on {
		return 1
	}
	return 0
}

// cacheMetrics are the figures of each cache.
var cacheMetrics = []struct {
	name, help string
	value      func(*wire.CacheStats) int64
}{
	{"tiergrid_cache_entries", "Entries of the cache.", func(c *wire.CacheStats) int64 { return c.Entries }},
	{"tiergrid_cache_deadlines", "Entries of the cache that have a TTL.", func(c *wire.CacheStats) int64 { return c.Deadlines }},
	{"tiergrid_cache_bytes", "Bytes of keys and payloads of the cache.", func(c *wire.CacheStats) int64 { return c.Bytes }},
}

// commandMetrics are the figures of each command that was called.
var commandMetrics = []struct {
	name, help string
	value      func(*session.CommandStats) float64
}{
	{"tiergrid_command_calls_total", "Calls of the command.", func(c *session.CommandStats) float64 { return float64(c.Calls) }},
	{"tiergrid_command_seconds_total", "Time the command ran.", func(c *session.CommandStats) float64 { return c.Elapsed.Seconds() }},
	{"tiergrid_command_failed_total", "Calls that answered an error.", func(c *session.CommandStats) float64 { return float64(c.Failed) }},
	{"tiergrid_command_rejected_total", "Calls refused before they ran.", func(c *session.CommandStats) float64 { return float64(c.Rejected) }},
}

// collector shows what the parts count as Prometheus metrics.
type collector struct{ process *process }

func newCollector(p *process) prometheus.Collector { return collector{p} }

// Describe implements prometheus.Collector. The metrics are not fixed: there are
// as many as there are caches and commands.
func (collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c collector) Collect(out chan<- prometheus.Metric) {
	f := c.figures()
	for i := range plainMetrics {
		m := &plainMetrics[i]
		out <- prometheus.MustNewConstMetric(prometheus.NewDesc(m.name, m.help, nil, nil), m.kind, float64(m.value(&f)))
	}
	for i := range f.node.Keyspace {
		cache := &f.node.Keyspace[i]
		for _, m := range cacheMetrics {
			desc := prometheus.NewDesc(m.name, m.help, []string{"cache"}, nil)
			out <- prometheus.MustNewConstMetric(desc, gauge, float64(m.value(cache)), cache.Name)
		}
	}
	for i := range f.sessions.ByCommand {
		command := &f.sessions.ByCommand[i]
		for _, m := range commandMetrics {
			desc := prometheus.NewDesc(m.name, m.help, []string{"command"}, nil)
			out <- prometheus.MustNewConstMetric(desc, count, m.value(command), command.Command.Name)
		}
	}
}

func (c collector) figures() figures {
	f := figures{node: c.process.node.Stats(), sessions: c.process.sessions.Stats()}
	f.node.Keyspace = c.process.node.Keyspace(c.process.membership.Table())
	f.buffers.count, f.buffers.bytes = resp.BuffersInUse()
	f.buffers.retained = resp.BuffersRetained()
	return f
}
