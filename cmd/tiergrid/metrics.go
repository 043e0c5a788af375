package main

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tiergrid/tiergrid/node/resp"
	"github.com/tiergrid/tiergrid/node/wire"
)

// metric is one figure of the node.
type metric struct {
	name, help string
	kind       prometheus.ValueType
	value      func(*wire.Stats) float64
}

// nodeMetrics are the figures of the tiers and the keyspace.
var nodeMetrics = []metric{
	{"tiergrid_memory_max_bytes", "Configured size of the memory tier.", prometheus.GaugeValue,
		func(s *wire.Stats) float64 { return float64(s.MemoryMax) }},
	{"tiergrid_memory_used_bytes", "Bytes that the memory tier uses.", prometheus.GaugeValue,
		func(s *wire.Stats) float64 { return float64(s.MemoryUsed) }},
	{"tiergrid_memory_rows", "Rows that the memory tier holds.", prometheus.GaugeValue,
		func(s *wire.Stats) float64 { return float64(s.MemoryEntries) }},
	{"tiergrid_memory_hits_total", "Row reads that the memory tier answered.", prometheus.CounterValue,
		func(s *wire.Stats) float64 { return float64(s.MemoryHits) }},
	{"tiergrid_memory_misses_total", "Row reads that went on to the SSD tier.", prometheus.CounterValue,
		func(s *wire.Stats) float64 { return float64(s.MemoryMisses) }},
	{"tiergrid_memory_evicted_total", "Rows dropped from memory for space.", prometheus.CounterValue,
		func(s *wire.Stats) float64 { return float64(s.MemoryEvicted) }},
	{"tiergrid_memory_bypass_total", "Rows too large for the memory tier.", prometheus.CounterValue,
		func(s *wire.Stats) float64 { return float64(s.MemoryBypassed) }},
	{"tiergrid_ssd_max_bytes", "Configured size of the SSD tier.", prometheus.GaugeValue,
		func(s *wire.Stats) float64 { return float64(s.DiskMax) }},
	{"tiergrid_ssd_used_bytes", "Bytes that the SSD tier uses.", prometheus.GaugeValue,
		func(s *wire.Stats) float64 { return float64(s.DiskUsed) }},
	{"tiergrid_ssd_free_bytes", "Free bytes of the file system below the SSD tier.", prometheus.GaugeValue,
		func(s *wire.Stats) float64 { return float64(s.DiskAvailable) }},
	{"tiergrid_ssd_full", "1 while writes are refused for lack of space.", prometheus.GaugeValue,
		func(s *wire.Stats) float64 { return flag(s.DiskFull) }},
	{"tiergrid_ssd_write_stalls_total", "Times that writes had to wait for the SSD tier.", prometheus.CounterValue,
		func(s *wire.Stats) float64 { return float64(s.WriteStalls) }},
	{"tiergrid_keyspace_hits_total", "Key lookups that found an entry.", prometheus.CounterValue,
		func(s *wire.Stats) float64 { return float64(s.KeyspaceHits) }},
	{"tiergrid_keyspace_misses_total", "Key lookups that found none.", prometheus.CounterValue,
		func(s *wire.Stats) float64 { return float64(s.KeyspaceMisses) }},
	{"tiergrid_expired_total", "Entries deleted at their deadline.", prometheus.CounterValue,
		func(s *wire.Stats) float64 { return float64(s.ExpiredKeys) }},
	{"tiergrid_cross_slot_commands_total", "Commands whose keys lie in several slots.", prometheus.CounterValue,
		func(s *wire.Stats) float64 { return float64(s.CrossSlot) }},
}

func flag(on bool) float64 {
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

// collector shows what the parts count as Prometheus metrics.
type collector struct{ process *process }

func newCollector(p *process) prometheus.Collector { return collector{p} }

// Describe implements prometheus.Collector. The metrics are not fixed: there are
// as many as there are caches.
func (collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c collector) Collect(out chan<- prometheus.Metric) {
	stats := c.process.node.Stats()
	for _, m := range nodeMetrics {
		out <- prometheus.MustNewConstMetric(prometheus.NewDesc(m.name, m.help, nil, nil), m.kind, m.value(&stats))
	}
	for _, cache := range c.process.node.Keyspace(c.process.membership.Table()) {
		for _, m := range cacheMetrics {
			desc := prometheus.NewDesc(m.name, m.help, []string{"cache"}, nil)
			out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(m.value(&cache)), cache.Name)
		}
	}
	count, bytes := resp.BuffersInUse()
	for _, g := range []struct {
		name, help string
		value      int64
	}{
		{"tiergrid_buffers_in_use", "Pooled buffers in use.", count},
		{"tiergrid_buffers_in_use_bytes", "Bytes of pooled buffers in use.", bytes},
		{"tiergrid_buffers_retained_bytes", "Bytes of large buffers that wait for reuse.", resp.BuffersRetained()},
	} {
		out <- prometheus.MustNewConstMetric(prometheus.NewDesc(g.name, g.help, nil, nil), prometheus.GaugeValue, float64(g.value))
	}
}
