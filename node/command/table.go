package command

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
)

//go:embed commands.txt
var tableText string

// all is every command and subcommand, in the order of their ID. Containers
// stand before their subcommands.
var all = mustParse(tableText)

// top is every command that is no subcommand.
var top = topLevel(all)

// Commands returns every command, container and subcommand in the order of
// their ID. The slice is shared: callers must not change it.
func Commands() []*Command { return all }

// TopLevel returns the commands and containers without the subcommands. The
// slice is shared: callers must not change it.
func TopLevel() []*Command { return top }

// Count is the number of commands and subcommands; every ID is below it.
func Count() int { return len(all) }

func topLevel(all []*Command) []*Command {
	var out []*Command
	for _, c := range all {
		if c.Parent == nil {
			out = append(out, c)
		}
	}
	return out
}

// mustParse reads the embedded table. A fault in it is a fault of the build, and
// the table's tests meet it first.
func mustParse(text string) []*Command {
	commands, err := parseTable(text)
	if err != nil {
		panic("command: commands.txt: " + err.Error())
	}
	return commands
}

// parseTable reads a table in the form the head of commands.txt describes.
func parseTable(text string) ([]*Command, error) {
	var commands []*Command
	group := ""
	for n, line := range strings.Split(text, "\n") {
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			group = strings.Trim(line, "[]")
		default:
			c, err := parseLine(line)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n+1, err)
			}
			c.ID, c.Group = len(commands), group
			commands = append(commands, c)
		}
	}
	return commands, link(commands)
}

// link connects subcommands with their containers and derives what the lines
// leave to be computed.
func link(commands []*Command) error {
	containers := make(map[string]*Command)
	for _, c := range commands {
		parent, word, ok := strings.Cut(c.Name, "|")
		c.word = c.Name
		if ok {
			if c.Parent = containers[parent]; c.Parent == nil {
				return fmt.Errorf("%s has no container", c.Name)
			}
			c.word = word
			c.Parent.Sub = append(c.Parent.Sub, c)
		} else {
			containers[c.Name] = c
		}
		if err := c.derive(); err != nil {
			return err
		}
	}
	return nil
}

// derive computes the fields of c that follow from the others.
func (c *Command) derive() error {
	c.Categories = impliedCategories(c.Flags, c.Categories)
	c.deriveRange()
	c.arityError = WrongArity(c.Name)
	c.find = finders[c.Name]
	for i := range c.Keys {
		if !c.Keys[i].simple() && c.find == nil {
			return fmt.Errorf("%s: key spec %d needs code to find its keys", c.Name, i)
		}
	}
	return nil
}

// deriveRange computes First, Last, Step and MovableKeys from the key specs the
// way Redis does for clients that know no key specs: plain ranges that follow
// each other are joined; whatever does not fit makes the keys movable.
func (c *Command) deriveRange() {
	if len(c.Keys) == 1 && c.Keys[0].fixedRange() {
		s := &c.Keys[0]
		c.First, c.Last, c.Step = s.Index, s.absoluteLast(), s.Step
		if s.Flags&Incomplete != 0 {
			c.Flags |= MovableKeys
		}
		return
	}
	for i := range c.Keys {
		s := &c.Keys[i]
		follows := c.Last == 0 || c.Last == s.Index-1
		if !s.fixedRange() || s.Step != 1 || !follows {
			c.Flags |= MovableKeys
			continue
		}
		if s.Flags&Incomplete != 0 {
			c.Flags |= MovableKeys
		}
		if c.First == 0 {
			c.First, c.Step = s.Index, 1
		}
		c.Last = s.absoluteLast()
	}
}

// fixedRange reports whether the keys are a range at a fixed place.
func (s *KeySpec) fixedRange() bool { return s.Begin == BeginIndex && s.Find == FindRange }

// absoluteLast is the last key of a fixed range, counted from the command's
// name, or from the end when negative.
func (s *KeySpec) absoluteLast() int {
	if s.Last < 0 {
		return s.Last
	}
	return s.Index + s.Last
}

// parseLine reads the line of one command.
func parseLine(line string) (*Command, error) {
	const fields = 9 // before the summary
	f := strings.Fields(line)
	if len(f) <= fields {
		return nil, fmt.Errorf("%d fields, want %d and a summary", len(f), fields)
	}
	c := &Command{Name: f[0], Complexity: none(f[8]), Summary: strings.Join(f[fields:], " ")}
	c.Built = f[1] == "built"
	c.Since, c.Deprecated, _ = strings.Cut(f[3], "-")
	c.Hints = list(f[7], ",")
	var err error
	if c.Arity, err = strconv.Atoi(f[2]); err != nil {
		return nil, fmt.Errorf("arity: %w", err)
	}
	flags, err := bits(list(f[4], ","), flagNames[:])
	if err != nil {
		return nil, fmt.Errorf("flags: %w", err)
	}
	categories, err := bits(list(f[5], ","), categoryNames[:])
	if err != nil {
		return nil, fmt.Errorf("categories: %w", err)
	}
	c.Flags, c.Categories = Flag(flags), Category(categories)
	for _, text := range list(f[6], ";") {
		spec, err := parseKeySpec(text)
		if err != nil {
			return nil, fmt.Errorf("keys %q: %w", text, err)
		}
		c.Keys = append(c.Keys, spec)
	}
	return c, nil
}

// parseKeySpec reads flags:begin:find.
func parseKeySpec(text string) (KeySpec, error) {
	var s KeySpec
	part := strings.Split(text, ":")
	if len(part) != 3 {
		return s, fmt.Errorf("%d parts, want flags:begin:find", len(part))
	}
	flags, err := bits(strings.Split(part[0], "+"), keyFlagNames[:])
	if err != nil {
		return s, err
	}
	s.Flags = KeyFlag(flags)
	if err := s.parseBegin(part[1]); err != nil {
		return s, err
	}
	return s, s.parseFind(part[2])
}

func (s *KeySpec) parseBegin(text string) error {
	if text == "?" {
		return nil
	}
	if word, from, ok := strings.Cut(text, "/"); ok {
		s.Begin, s.Keyword = BeginKeyword, word
		return numbers([]string{from}, &s.From)
	}
	s.Begin = BeginIndex
	return numbers([]string{text}, &s.Index)
}

func (s *KeySpec) parseFind(text string) error {
	part := strings.Split(text, "/")
	switch part[0] {
	case "?":
		return nil
	case "one":
		s.Find, s.Step = FindRange, 1
		return nil
	case "range":
		s.Find = FindRange
		return numbers(part[1:], &s.Last, &s.Step, &s.Limit)
	case "count":
		s.Find = FindCount
		return numbers(part[1:], &s.CountAt, &s.FirstKey, &s.Step)
	}
	return fmt.Errorf("unknown find %q", part[0])
}

// numbers reads each text into the variable at its place.
func numbers(text []string, into ...*int) error {
	if len(text) != len(into) {
		return fmt.Errorf("%d numbers, want %d", len(text), len(into))
	}
	for i, t := range text {
		n, err := strconv.Atoi(t)
		if err != nil {
			return err
		}
		*into[i] = n
	}
	return nil
}

// bits returns the set of words, each a bit by its place in names.
func bits(words, names []string) (set uint64, err error) {
next:
	for _, w := range words {
		for i, name := range names {
			if w == name {
				set |= 1 << i
				continue next
			}
		}
		return 0, fmt.Errorf("unknown word %q", w)
	}
	return set, nil
}

// none returns "" for an empty field.
func none(field string) string {
	if field == "-" {
		return ""
	}
	return field
}

// list splits a field, empty or not.
func list(field, sep string) []string {
	if field == "-" {
		return nil
	}
	return strings.Split(field, sep)
}
