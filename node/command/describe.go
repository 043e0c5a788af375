package command

// Reply is where the answers of COMMAND and ACL CAT are written; a connection's
// RESP writer satisfies it. Array, Map and Set announce how many elements (of a
// map: pairs) follow.
type Reply interface {
	Array(n int)
	Map(n int)
	Set(n int)
	Status(s string)
	BulkString(s string)
	Bulk(b []byte)
	Int(n int64)
	Null()
	Error(text string)
}

// AppendAll answers COMMAND: every command with its subcommands.
func AppendAll(w Reply) {
	w.Array(len(top))
	for _, c := range top {
		c.appendInfo(w)
	}
}

// AppendCount answers COMMAND COUNT.
func AppendCount(w Reply) { w.Int(int64(len(top))) }

// AppendInfo answers COMMAND INFO with these names: null for a name that is no
// command. Without names it answers as COMMAND.
func AppendInfo(w Reply, names [][]byte) {
	if len(names) == 0 {
		AppendAll(w)
		return
	}
	w.Array(len(names))
	for _, name := range names {
		if c := LookupFull(name); c != nil {
			c.appendInfo(w)
		} else {
			w.Null()
		}
	}
}

// appendInfo writes the ten fields clients know a command by.
func (c *Command) appendInfo(w Reply) {
	w.Array(10)
	w.BulkString(c.Name)
	w.Int(int64(c.Arity))
	appendStatuses(w, "", bitNames(uint64(c.Flags&shownFlags), flagNames[:]))
	w.Int(int64(c.First))
	w.Int(int64(c.Last))
	w.Int(int64(c.Step))
	appendStatuses(w, "@", bitNames(uint64(c.Categories), categoryNames[:]))
	w.Set(len(c.Hints))
	for _, hint := range c.Hints {
		w.BulkString(hint)
	}
	w.Set(len(c.Keys))
	for i := range c.Keys {
		c.Keys[i].append(w)
	}
	if len(c.Sub) == 0 {
		w.Set(0) // as Redis: a set where there are none, an array where there are some
		return
	}
	w.Array(len(c.Sub))
	for _, sub := range c.Sub {
		sub.appendInfo(w)
	}
}

// appendStatuses writes a set of simple strings.
func appendStatuses(w Reply, prefix string, names []string) {
	w.Set(len(names))
	for _, name := range names {
		w.Status(prefix + name)
	}
}

// append writes one key spec. Redis adds a note in prose to some; it is left out.
func (s *KeySpec) append(w Reply) {
	w.Map(3)
	w.BulkString("flags")
	s.Flags.append(w)
	w.BulkString("begin_search")
	switch s.Begin {
	case BeginIndex:
		appendSpec(w, "index", field{"index", s.Index})
	case BeginKeyword:
		w.Map(2)
		w.BulkString("type")
		w.BulkString("keyword")
		w.BulkString("spec")
		w.Map(2)
		w.BulkString("keyword")
		w.BulkString(s.Keyword)
		w.BulkString("startfrom")
		w.Int(int64(s.From))
	default:
		appendSpec(w, "unknown")
	}
	w.BulkString("find_keys")
	switch s.Find {
	case FindRange:
		appendSpec(w, "range", field{"lastkey", s.Last}, field{"keystep", s.Step}, field{"limit", s.Limit})
	case FindCount:
		appendSpec(w, "keynum", field{"keynumidx", s.CountAt}, field{"firstkey", s.FirstKey}, field{"keystep", s.Step})
	default:
		appendSpec(w, "unknown")
	}
}

func (f KeyFlag) append(w Reply) {
	appendStatuses(w, "", bitNames(uint64(f), keyFlagNames[:]))
}

// A field is one number of a half of a key spec.
type field struct {
	name  string
	value int
}

// appendSpec writes one half of a key spec.
func appendSpec(w Reply, kind string, fields ...field) {
	w.Map(2)
	w.BulkString("type")
	w.BulkString(kind)
	w.BulkString("spec")
	w.Map(len(fields))
	for _, f := range fields {
		w.BulkString(f.name)
		w.Int(int64(f.value))
	}
}

// AppendDocs answers COMMAND DOCS: what people want to know of these commands,
// or of all. Names that are no commands are passed over. Arguments and history
// are not told.
func AppendDocs(w Reply, names [][]byte) {
	commands := top
	if len(names) > 0 {
		commands = nil
		for _, name := range names {
			if c := LookupFull(name); c != nil {
				commands = append(commands, c)
			}
		}
	}
	appendDocsOf(w, commands)
}

func appendDocsOf(w Reply, commands []*Command) {
	w.Map(len(commands))
	for _, c := range commands {
		w.BulkString(c.Name)
		c.appendDocs(w)
	}
}

func (c *Command) appendDocs(w Reply) {
	text := []struct{ name, value string }{
		{"summary", c.Summary}, {"since", c.Since}, {"group", c.docsGroup()}, {"complexity", c.Complexity},
	}
	n := 0
	for _, t := range text {
		if t.value != "" {
			n++
		}
	}
	if c.Deprecated != "" {
		n += 2
	}
	if len(c.Sub) > 0 {
		n++
	}
	w.Map(n)
	for _, t := range text {
		if t.value != "" {
			w.BulkString(t.name)
			w.BulkString(t.value)
		}
	}
	if c.Deprecated != "" {
		w.BulkString("doc_flags")
		appendStatuses(w, "", []string{"deprecated"})
		w.BulkString("deprecated_since")
		w.BulkString(c.Deprecated)
	}
	if len(c.Sub) > 0 {
		w.BulkString("subcommands")
		appendDocsOf(w, c.Sub)
	}
}

// docsGroup is the group as COMMAND DOCS spells it.
func (c *Command) docsGroup() string {
	if c.Group == "sorted_set" {
		return "sorted-set"
	}
	return c.Group
}
