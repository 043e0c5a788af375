package session

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/proxy/grid"
)

// section is one part of INFO.
type section struct {
	title     string // asked for in any case
	byDefault bool
	write     func(r *report)
}

// sections are the parts of INFO in their order.
var sections = []section{
	{"Server", true, (*report).server},
	{"Clients", true, (*report).clients},
	{"Memory", true, (*report).memory},
	{"Persistence", true, (*report).persistence},
	{"Stats", true, (*report).statistics},
	{"Replication", true, (*report).replication},
	{"CPU", true, (*report).cpu},
	{"Modules", true, func(*report) {}},
	{"Commandstats", false, (*report).commands},
	{"Errorstats", true, (*report).failures},
	{"Cluster", true, (*report).cluster},
	{"Keyspace", true, (*report).keyspace},
	{"Tiers", true, (*report).tiers},
}

// report is an INFO being written.
type report struct {
	srv   *Server
	stats Stats
	grid  grid.Stats
	text  strings.Builder
}

func (r *report) line(format string, args ...any) {
	fmt.Fprintf(&r.text, format, args...)
	r.text.WriteString("\r\n")
}

// size writes a number of bytes, plain and for people.
func (r *report) size(name string, n int64) {
	r.line("%s:%d", name, n)
	r.line("%s_human:%s", name, human(n))
}

// human writes a number of bytes as Redis does.
func human(n int64) string {
	if n < 1024 {
		return strconv.FormatInt(n, 10) + "B"
	}
	value, unit := float64(n)/1024, 0
	for value >= 1024 && unit < len(humanUnits)-1 {
		value, unit = value/1024, unit+1
	}
	return strconv.FormatFloat(value, 'f', 2, 64) + humanUnits[unit:unit+1]
}

const humanUnits = "KMGTPE"

// info is INFO [section...].
func (s *session) info(args [][]byte) {
	chosen := chosenSections(args[1:])
	r := &report{srv: s.srv, stats: s.srv.Stats()}
	var err error
	if r.grid, err = s.srv.grid.Stats(s.ctx); err != nil {
		s.srv.log.Warn("INFO shows no figures of the grid", "error", err)
	}
	for i, sec := range chosen {
		if i > 0 {
			r.line("")
		}
		r.line("# %s", sec.title)
		sec.write(r)
	}
	s.out.Verbatim("txt", r.text.String())
}

func chosenSections(words [][]byte) []section {
	if len(words) == 0 {
		words = [][]byte{[]byte("default")}
	}
	var chosen []section
	for _, sec := range sections {
		wanted := func(word []byte) bool {
			return strings.EqualFold(string(word), sec.title) || fold(word, "all") || fold(word, "everything") || fold(word, "default") && sec.byDefault
		}
		if slices.ContainsFunc(words, wanted) {
			chosen = append(chosen, sec)
		}
	}
	return chosen
}

func (r *report) server() {
	uptime := time.Since(r.srv.started)
	executable, _ := os.Executable() // shown empty if it cannot be told
	r.line("redis_version:%s", redisVersion)
	r.line("tiergrid_version:%s", r.srv.cfg.Version)
	r.line("redis_mode:standalone")
	r.line("os:%s", systemName())
	r.line("arch_bits:%d", 32<<(^uint(0)>>63))
	r.line("go_version:%s", runtime.Version())
	r.line("process_id:%d", os.Getpid())
	r.line("run_id:%s", r.srv.runID)
	r.line("tcp_port:%d", r.srv.port())
	r.line("server_time_usec:%d", time.Now().UnixMicro())
	r.line("uptime_in_seconds:%d", int64(uptime.Seconds()))
	r.line("uptime_in_days:%d", int64(uptime.Hours())/24)
	r.line("hz:%d", time.Second/tickEvery)
	r.line("configured_hz:%d", time.Second/tickEvery)
	r.line("executable:%s", executable)
	r.line("config_file:%s", r.srv.cfg.ConfigFile)
}

func systemName() string {
	var u syscall.Utsname
	if syscall.Uname(&u) != nil {
		return runtime.GOOS + " " + runtime.GOARCH
	}
	return charsToString(u.Sysname[:]) + " " + charsToString(u.Release[:]) + " " + charsToString(u.Machine[:])
}

func charsToString[T int8 | uint8](chars []T) string {
	var b []byte
	for _, c := range chars {
		if c == 0 {
			break
		}
		b = append(b, byte(c))
	}
	return string(b)
}

func (r *report) clients() {
	r.line("connected_clients:%d", r.stats.Clients)
	r.line("cluster_connections:0")
	r.line("maxclients:%d", r.stats.MaxClients)
	r.line("monitor_clients:%d", r.stats.MonitorClients)
	r.line("blocked_clients:%d", r.stats.BlockedClients)
	r.line("tracking_clients:0")
}

func (r *report) memory() {
	used := int64(usedMemory())
	r.size("used_memory", used)
	r.size("used_memory_rss", residentMemory())
	r.size("used_memory_peak", max(used, int64(r.stats.PeakMemoryBytes)))
	r.size("maxmemory", r.grid.MemoryMax)
	r.line("maxmemory_policy:noeviction")
	r.line("mem_allocator:go")
	var system syscall.Sysinfo_t
	if syscall.Sysinfo(&system) == nil {
		r.size("total_system_memory", int64(system.Totalram)*int64(system.Unit))
	}
}

// residentMemory is how much of the machine's memory the process takes, 0 where
// it cannot be told.
func residentMemory() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var total, resident int64
	if _, err := fmt.Sscan(string(text), &total, &resident); err != nil {
		return 0
	}
	return resident * int64(os.Getpagesize())
}

func (r *report) persistence() {
	r.line("loading:0")
	r.line("rdb_bgsave_in_progress:0")
	r.line("rdb_last_save_time:%d", max(0, r.grid.LastSave.Unix()))
	r.line("aof_enabled:1")
	r.line("aof_rewrite_in_progress:0")
	r.line("aof_last_write_status:%s", yesNo(!r.grid.DiskFull, "ok", "err"))
}

func yesNo(ok bool, yes, no string) string {
	if ok {
		return yes
	}
	return no
}

func (r *report) statistics() {
	st, rate := &r.stats, &r.srv.rate
	r.line("total_connections_received:%d", st.Connections)
	r.line("total_commands_processed:%d", st.Commands)
	r.line("instantaneous_ops_per_sec:%d", st.CommandsPerSec)
	r.line("total_net_input_bytes:%d", st.BytesIn)
	r.line("total_net_output_bytes:%d", st.BytesOut)
	r.line("instantaneous_input_kbps:%.2f", float64(rate.bytesIn())/1024)
	r.line("instantaneous_output_kbps:%.2f", float64(rate.bytesOut())/1024)
	r.line("rejected_connections:%d", st.Rejected)
	r.line("expired_keys:%d", r.grid.ExpiredKeys)
	r.line("evicted_keys:%d", r.grid.MemoryEvicted)
	r.line("keyspace_hits:%d", r.grid.KeyspaceHits)
	r.line("keyspace_misses:%d", r.grid.KeyspaceMisses)
	r.line("cross_slot_commands:%d", r.grid.CrossSlot)
	r.line("total_error_replies:%d", st.ErrorReplies)
	r.line("protocol_errors:%d", st.ProtocolErrors)
	r.line("failed_sessions:%d", st.Panics)
	r.line("client_output_buffer_limit_disconnections:%d", st.SlowReaders)
	r.line("slowlog_entries:%d", st.SlowLogEntries)
}

func (r *report) replication() {
	r.line("role:master")
	r.line("connected_slaves:0")
	r.line("master_failover_state:no-failover")
}

func (r *report) cpu() {
	var self, children syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &self) != nil || syscall.Getrusage(syscall.RUSAGE_CHILDREN, &children) != nil {
		return
	}
	for _, f := range []struct {
		name string
		t    syscall.Timeval
	}{
		{"used_cpu_sys", self.Stime}, {"used_cpu_user", self.Utime},
		{"used_cpu_sys_children", children.Stime}, {"used_cpu_user_children", children.Utime},
	} {
		r.line("%s:%d.%06d", f.name, f.t.Sec, f.t.Usec)
	}
}

func (r *report) commands() {
	for _, c := range r.stats.ByCommand {
		usec := c.Elapsed.Microseconds()
		per := 0.0
		if c.Calls > 0 {
			per = float64(c.Elapsed.Nanoseconds()) / 1000 / float64(c.Calls)
		}
		r.line("cmdstat_%s:calls=%d,usec=%d,usec_per_call=%.2f,rejected_calls=%d,failed_calls=%d",
			c.Command.Name, c.Calls, usec, per, c.Rejected, c.Failed)
	}
}

func (r *report) failures() {
	prefixes := make([]string, 0, len(r.stats.ErrorsByPrefix))
	for prefix := range r.stats.ErrorsByPrefix {
		prefixes = append(prefixes, prefix)
	}
	slices.Sort(prefixes)
	for _, prefix := range prefixes {
		r.line("errorstat_%s:count=%d", prefix, r.stats.ErrorsByPrefix[prefix])
	}
}

func (r *report) cluster() { r.line("cluster_enabled:0") }

func (r *report) keyspace() {
	for _, c := range r.grid.Keyspace {
		if c.Database != topology.NoDatabase && c.Entries > 0 {
			r.line("db%d:keys=%d,expires=%d,avg_ttl=0", c.Database, c.Entries, c.Deadlines)
		}
	}
}

// tiers tells of memory and disk, and of all caches, those without a number too.
func (r *report) tiers() {
	g := &r.grid
	r.line("memory_max:%d", g.MemoryMax)
	r.line("memory_used:%d", g.MemoryUsed)
	r.line("memory_entries:%d", g.MemoryEntries)
	r.line("memory_hits:%d", g.MemoryHits)
	r.line("memory_misses:%d", g.MemoryMisses)
	r.line("memory_evicted:%d", g.MemoryEvicted)
	r.line("memory_bypass:%d", g.MemoryBypassed)
	r.line("ssd_max:%d", g.DiskMax)
	r.line("ssd_used:%d", g.DiskUsed)
	r.line("ssd_available:%d", g.DiskAvailable)
	r.line("ssd_full:%s", yesNo(g.DiskFull, "1", "0"))
	r.line("ssd_write_stalls:%d", g.WriteStalls)
	for _, c := range g.Keyspace {
		if c.Entries > 0 || c.Database == topology.NoDatabase {
			r.line("cache_%s:database=%d,entries=%d,expires=%d,bytes=%d", c.Name, c.Database, c.Entries, c.Deadlines, c.Bytes)
		}
	}
}
