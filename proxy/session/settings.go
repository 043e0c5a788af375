package session

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/node/command"
)

// Setting is one thing that CONFIG GET shows. Name is in lower case.
type Setting struct {
	Name string
	// Get returns the present value as CONFIG GET shows it.
	Get func() string
	// Set changes the value; its error is the reason in the reply of CONFIG SET.
	// Nil means that the setting cannot be changed while the server runs.
	Set func(value string) error
}

// Settings is the registry of settings, safe for concurrent use.
type Settings struct {
	mu     sync.RWMutex
	byName map[string]Setting
	sorted []string
	// changes makes CONFIG SETs take place one after the other.
	changes sync.Mutex
}

// NewSettings returns a registry of these settings.
func NewSettings(list ...Setting) *Settings {
	r := &Settings{byName: make(map[string]Setting)}
	r.Add(list...)
	return r
}

// Add registers further settings. A name that is there already keeps its setting,
// so that whoever assembles a server may have its own.
func (r *Settings) Add(list ...Setting) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range list {
		if _, ok := r.byName[s.Name]; ok {
			continue
		}
		r.byName[s.Name] = s
		r.sorted = append(r.sorted, s.Name)
	}
	slices.Sort(r.sorted)
}

// Fixed returns a setting that never changes.
func Fixed(name, value string) Setting {
	return Setting{Name: name, Get: func() string { return value }}
}

func (r *Settings) lookup(name string) (Setting, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	s, ok := r.byName[strings.ToLower(name)]
	return s, ok
}

// found is a setting and the name that it is shown by.
type found struct {
	Setting
	shown string
}

// matching returns the settings whose name matches one of the globs, each once. A
// name that is no glob is shown as it was written.
func (r *Settings) matching(globs [][]byte) []found {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var list []found
	for _, name := range r.sorted {
		for _, glob := range globs {
			if shown, ok := shownAs(name, glob); ok {
				list = append(list, found{r.byName[name], shown})
				break
			}
		}
	}
	return list
}

// shownAs tells whether a setting is asked for, and the name to show it by.
func shownAs(name string, asked []byte) (shown string, ok bool) {
	if bytes.ContainsAny(asked, "*?[") {
		return name, command.Match(asked, name, true)
	}
	shown = string(asked)
	return shown, strings.EqualFold(shown, name)
}

// ownSettings are those of the Server itself.
func (srv *Server) ownSettings() []Setting {
	limits := srv.cfg.Limits
	return []Setting{
		whole("timeout", 0, math.MaxInt32, srv.idleTimeout.Load, srv.idleTimeout.Store),
		whole("maxclients", 1, math.MaxUint32, srv.maxClients.Load, srv.maxClients.Store),
		whole("slowlog-max-len", 0, maxSlowEntries, srv.slow.most.Load, srv.slow.most.Store),
		whole("slowlog-log-slower-than", -1, math.MaxInt64/int64(time.Microsecond),
			func() int64 { return max(-1, srv.slow.threshold.Load()/int64(time.Microsecond)) },
			func(n int64) { srv.slow.threshold.Store(n * int64(time.Microsecond)) }),
		{Name: "port", Get: func() string { return strconv.Itoa(srv.port()) }},
		{Name: "bind", Get: srv.bind},
		{Name: "maxmemory", Get: srv.maxMemory},
		Fixed("databases", strconv.Itoa(topology.Databases)),
		Fixed("proto-max-bulk-len", strconv.Itoa(limits.Bulk)),
		Fixed("tcp-keepalive", strconv.Itoa(int(limits.KeepAlive/time.Second))),
		Fixed("maxmemory-policy", "noeviction"),
		Fixed("protected-mode", "yes"),
		// Data is always kept on disk, by a log and never by snapshots.
		Fixed("save", ""),
		Fixed("appendonly", "yes"),
	}
}

// whole is a setting that is a whole number between two bounds.
func whole(name string, low, high int64, get func() int64, set func(int64)) Setting {
	return Setting{
		Name: name,
		Get:  func() string { return strconv.FormatInt(get(), 10) },
		Set: func(value string) error {
			n, ok := integer([]byte(value))
			switch {
			case !ok:
				return errNotParsed
			case n < low || n > high:
				return fmt.Errorf("argument must be between %d and %d inclusive", low, high)
			}
			set(n)
			return nil
		},
	}
}

// maxMemory is the size of the memory tier, "0" while nobody can tell.
func (srv *Server) maxMemory() string {
	st, err := srv.grid.Stats(srv.ctx)
	if err != nil {
		return "0"
	}
	return strconv.FormatInt(st.MemoryMax, 10)
}
