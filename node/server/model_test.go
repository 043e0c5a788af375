package server_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"pgregory.net/rapid"
)

// modelEntry is one key of the model; its value is never changed in place.
type modelEntry struct {
	value    []byte
	deadline int64
}

// model is what the server must look like: a map for each database. Entries past
// their deadline stay until somebody asks for them, as nothing sweeps.
type model struct {
	now       int64
	databases [3]map[string]modelEntry
}

func newModel(now int64) *model {
	m := &model{now: now}
	for i := range m.databases {
		m.databases[i] = map[string]modelEntry{}
	}
	return m
}

func (m *model) clone() *model {
	c := &model{now: m.now}
	for i := range m.databases {
		c.databases[i] = maps.Clone(m.databases[i])
	}
	return c
}

func (e *modelEntry) dead(now int64) bool { return e.deadline != 0 && now > e.deadline }

// live is what is visible of a database at a time.
func (m *model) live(database int, now int64) map[string]modelEntry {
	visible := map[string]modelEntry{}
	for key, e := range m.databases[database] {
		if !e.dead(now) {
			visible[key] = e
		}
	}
	return visible
}

func equalEntries(a, b map[string]modelEntry) bool {
	return maps.EqualFunc(a, b, func(a, b modelEntry) bool {
		return a.deadline == b.deadline && bytes.Equal(a.value, b.value)
	})
}

// lookup is the entry of a key. One that is past its deadline is deleted before
// anyone is told that it is gone (R23).
func (m *model) lookup(database int, key string) (modelEntry, bool) {
	e, ok := m.databases[database][key]
	if ok && e.dead(m.now) {
		delete(m.databases[database], key)
		return modelEntry{}, false
	}
	return e, ok
}

// run runs a command and returns its reply as text writes it. An "any" in front
// means that one of the words that follow is right.
func (m *model) run(c cmd) string {
	db := m.databases[c.database]
	args := c.args[1:]
	switch c.args[0] {
	case "set":
		return m.set(c)
	case "get":
		return m.get(c.database, args[0])
	case "mget":
		var list []string
		for _, key := range args {
			list = append(list, m.get(c.database, key))
		}
		return "[" + strings.Join(list, " ") + "]"
	case "mset":
		for i := 0; i < len(args); i += 2 {
			db[args[i]] = modelEntry{value: []byte(args[i+1])}
		}
		return "OK"
	case "del":
		n := 0
		for _, key := range args {
			if _, ok := m.lookup(c.database, key); ok {
				delete(db, key)
				n++
			}
		}
		return strconv.Itoa(n)
	case "getdel":
		reply := m.get(c.database, args[0])
		delete(db, args[0])
		return reply
	case "strlen":
		e, _ := m.lookup(c.database, args[0])
		return strconv.Itoa(len(e.value))
	case "append":
		e, ok := m.lookup(c.database, args[0])
		if !ok {
			db[args[0]] = modelEntry{value: []byte{}}
		}
		return m.patch(c.database, args[0], len(e.value), args[1])
	case "setrange":
		m.lookup(c.database, args[0])
		at, _ := strconv.Atoi(args[1])
		return m.patch(c.database, args[0], at, args[2])
	case "setbit":
		return m.setBit(c)
	case "getrange":
		return m.getRange(c)
	case "rename", "renamenx":
		return m.rename(c)
	case "copy", "move":
		return m.transfer(c)
	case "pexpire":
		return m.expire(c)
	case "persist":
		e, ok := m.lookup(c.database, args[0])
		if !ok || e.deadline == 0 {
			return "0"
		}
		db[args[0]] = modelEntry{value: e.value}
		return "1"
	case "pexpiretime":
		e, ok := m.lookup(c.database, args[0])
		switch {
		case !ok:
			return "-2"
		case e.deadline == 0:
			return "-1"
		}
		return strconv.FormatInt(e.deadline, 10)
	case "flushdb":
		clear(db)
		return "OK"
	case "dbsize":
		return strconv.Itoa(len(db))
	case "keys":
		return fmt.Sprint(slices.Sorted(maps.Keys(m.live(c.database, m.now))))
	case "scan":
		return "[0 " + fmt.Sprint(slices.Sorted(maps.Keys(m.live(c.database, m.now)))) + "]"
	case "randomkey":
		names := slices.Collect(maps.Keys(m.live(c.database, m.now)))
		if len(names) == 0 {
			return "nil"
		}
		return "any " + strings.Join(names, " ")
	}
	panic("the model does not know " + c.args[0])
}

func (m *model) get(database int, key string) string {
	e, ok := m.lookup(database, key)
	if !ok {
		return "nil"
	}
	return string(e.value)
}

// set is SET key value [NX|XX|KEEPTTL] [GET] [PX ms].
func (m *model) set(c cmd) string {
	key, options := c.args[1], c.args[3:]
	var deadline int64
	if i := slices.Index(options, "px"); i >= 0 {
		ms, _ := strconv.ParseInt(options[i+1], 10, 64)
		deadline = m.now + ms
	}
	has := func(option string) bool { return slices.Contains(options, option) }
	reply := "OK"
	if has("get") {
		reply = m.get(c.database, key)
	}
	if has("nx") || has("xx") || has("keepttl") {
		e, ok := m.lookup(c.database, key)
		if has("nx") && ok || has("xx") && !ok {
			if has("get") {
				return reply
			}
			return "nil"
		}
		if has("keepttl") {
			deadline = e.deadline
		}
	}
	m.databases[c.database][key] = modelEntry{[]byte(c.args[2]), deadline}
	return reply
}

func (m *model) patch(database int, key string, at int, data string) string {
	e := m.databases[database][key]
	if len(data) > 0 {
		value := make([]byte, max(len(e.value), at+len(data)))
		copy(value, e.value)
		copy(value[at:], data)
		e.value = value
		m.databases[database][key] = e
	}
	return strconv.Itoa(len(e.value))
}

func (m *model) setBit(c cmd) string {
	e, _ := m.lookup(c.database, c.args[1])
	at, _ := strconv.Atoi(c.args[2])
	value := make([]byte, max(len(e.value), at/8+1))
	copy(value, e.value)
	mask := byte(0x80) >> (at % 8)
	old := "0"
	if value[at/8]&mask != 0 {
		old = "1"
	}
	value[at/8] &^= mask
	if c.args[3] == "1" {
		value[at/8] |= mask
	}
	m.databases[c.database][c.args[1]] = modelEntry{value, e.deadline}
	return old
}

func (m *model) getRange(c cmd) string {
	e, _ := m.lookup(c.database, c.args[1])
	from, _ := strconv.Atoi(c.args[2])
	to, _ := strconv.Atoi(c.args[3])
	to = min(to+1, len(e.value))
	if from >= to {
		return ""
	}
	return string(e.value[from:to])
}

func (m *model) rename(c cmd) string {
	from, to := c.args[1], c.args[2]
	e, ok := m.lookup(c.database, from)
	if !ok {
		return "error ERR no such key"
	}
	if c.args[0] == "renamenx" {
		if from == to {
			return "0"
		}
		if _, taken := m.lookup(c.database, to); taken {
			return "0"
		}
	}
	delete(m.databases[c.database], from)
	m.databases[c.database][to] = e
	if c.args[0] == "renamenx" {
		return "1"
	}
	return "OK"
}

// transfer is COPY from to DB n [REPLACE], and MOVE key n.
func (m *model) transfer(c cmd) string {
	from, to, number := c.args[1], c.args[1], c.args[2]
	replace := false
	if c.args[0] == "copy" {
		to, number, replace = c.args[2], c.args[4], len(c.args) > 5
	}
	target, _ := strconv.Atoi(number)
	if target == c.database && from == to {
		return "error ERR source and destination objects are the same"
	}
	e, ok := m.lookup(c.database, from)
	if !ok {
		return "0"
	}
	if !replace {
		if _, taken := m.lookup(target, to); taken {
			return "0"
		}
	}
	m.databases[target][to] = e
	if c.args[0] == "move" {
		delete(m.databases[c.database], from)
	}
	return "1"
}

func (m *model) expire(c cmd) string {
	e, ok := m.lookup(c.database, c.args[1])
	if !ok {
		return "0"
	}
	ms, _ := strconv.ParseInt(c.args[2], 10, 64)
	if ms <= 0 {
		delete(m.databases[c.database], c.args[1])
		return "1"
	}
	m.databases[c.database][c.args[1]] = modelEntry{e.value, m.now + ms}
	return "1"
}

// drawCommand draws any command; the keys are few, so that histories meet.
func drawCommand(r *rapid.T) cmd {
	key := func() string { return fmt.Sprintf("k%02d", rapid.IntRange(0, 15).Draw(r, "key")) }
	number := func(most int) string { return strconv.Itoa(rapid.IntRange(0, most).Draw(r, "number")) }
	c := cmd{database: rapid.IntRange(0, 2).Draw(r, "database")}
	switch name := rapid.SampledFrom(commandNames).Draw(r, "command"); name {
	case "set":
		c.args = append([]string{name, key(), drawValue(r)}, drawSetOptions(r)...)
	case "get", "getdel", "strlen", "persist", "pexpiretime":
		c.args = []string{name, key()}
	case "mget", "del":
		c.args = []string{name, key(), key(), key()}
	case "mset":
		c.args = []string{name, key(), drawValue(r), key(), drawValue(r)}
	case "append":
		c.args = []string{name, key(), drawValue(r)}
	case "setrange":
		c.args = []string{name, key(), drawOffset(r), drawValue(r)}
	case "setbit":
		c.args = []string{name, key(), number(9 << 20), number(1)}
	case "getrange":
		c.args = []string{name, key(), drawOffset(r), drawOffset(r)}
	case "rename", "renamenx":
		c.args = []string{name, key(), key()}
	case "copy":
		c.args = []string{name, key(), key(), "db", number(2)}
		if rapid.Bool().Draw(r, "replace") {
			c.args = append(c.args, "replace")
		}
	case "move":
		c.args = []string{name, key(), number(2)}
	case "pexpire":
		c.args = []string{name, key(), strconv.Itoa(rapid.SampledFrom([]int{-1, 0, 1, 700, 1000, 5000}).Draw(r, "ms"))}
	case "keys":
		c.args = []string{name, "*"}
	case "scan":
		c.args = []string{name, "0", "count", "1000"}
	default:
		c.args = []string{name}
	}
	return c
}

var commandNames = []string{
	"set", "set", "set", "get", "get", "mget", "mset", "del", "getdel", "strlen", "append", "append", "setrange",
	"setrange", "setbit", "getrange", "rename", "renamenx", "copy", "move", "pexpire", "pexpire", "persist",
	"pexpiretime", "flushdb", "dbsize", "dbsize", "keys", "scan", "randomkey",
}

func drawSetOptions(r *rapid.T) []string {
	return slices.Clone(rapid.SampledFrom([][]string{
		nil, nil, {"nx"}, {"xx"}, {"get"}, {"keepttl"}, {"px", "1"}, {"px", "900"}, {"px", "4000", "get"}, {"nx", "get"},
	}).Draw(r, "options"))
}

// sizes lie around the ones where payloads are split off and chunked.
var sizes = []int{0, 1, 1, 20, 20, 300, 4095, 4096, 9000, 200_000, 1 << 20, 1<<20 + 1, 5 << 18, 1_500_000}

func drawValue(r *rapid.T) string {
	n := rapid.SampledFrom(sizes).Draw(r, "size")
	return strings.Repeat(string(rune('a'+rapid.IntRange(0, 25).Draw(r, "letter"))), n)
}

func drawOffset(r *rapid.T) string {
	return strconv.Itoa(rapid.SampledFrom([]int{0, 1, 15, 4095, 4096, 1 << 18, 1 << 20, 1<<20 + 7}).Draw(r, "offset"))
}
