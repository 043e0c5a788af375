package users

import (
	"fmt"
	"strings"
	"sync"

	"github.com/tiergrid/tiergrid/node/command"
)

// Permission is what somebody may do, in the form that is quick to ask.
type Permission struct {
	commands []uint64 // a bit for each command ID
	keys     patterns
	channels patterns
	rights   Right
	rules    string
}

// patterns are globs; all is set when one of them is "*" without restriction.
type patterns struct {
	allRead, allWrite bool
	list              []pattern
}

type pattern struct {
	glob        string
	read, write bool
}

// byRoleSet keeps the permission of each combination of roles, once it was asked
// for.
var byRoleSet [1 << 5]struct {
	once sync.Once
	p    *Permission
}

// Compile returns the permission of somebody with all these roles. Unknown ones
// grant nothing.
func Compile(names []string) *Permission {
	set := setOf(names)
	slot := &byRoleSet[set]
	slot.once.Do(func() { slot.p = compileSet(set) })
	return slot.p
}

// Everything is the permission of a client of a server without users.
func Everything() *Permission { return Compile([]string{string(Admin)}) }

func compileSet(set roleSet) *Permission {
	sum := &Permission{commands: make([]uint64, (command.Count()+63)/64)}
	for i := range roles {
		if set&(1<<i) == 0 {
			continue
		}
		p, err := compileRules(roles[i].rules)
		if err != nil {
			panic("users: role " + string(roles[i].role) + ": " + err.Error())
		}
		sum.join(p, roles[i].rights)
	}
	return sum
}

// join adds what p allows. In the text the rules of each further role are a
// selector of their own, as in Redis 7.
func (p *Permission) join(q *Permission, rights Right) {
	for i := range p.commands {
		p.commands[i] |= q.commands[i]
	}
	p.keys.join(q.keys)
	p.channels.join(q.channels)
	p.rights |= rights
	switch {
	case p.rules == "":
		p.rules = q.rules
	default:
		p.rules += " (" + q.rules + ")"
	}
}

func (p *patterns) join(q patterns) {
	p.allRead = p.allRead || q.allRead
	p.allWrite = p.allWrite || q.allWrite
	p.list = append(p.list, q.list...)
}

// compileRules reads ACL rules: +name, -name, +container|sub, +@category,
// -@category, ~glob, %R~glob, %W~glob, %RW~glob and &glob.
func compileRules(text string) (*Permission, error) {
	p := &Permission{commands: make([]uint64, (command.Count()+63)/64), rules: text}
	for _, rule := range strings.Fields(text) {
		if err := p.rule(rule); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *Permission) rule(rule string) error {
	switch rule[0] {
	case '+', '-':
		return p.commandRule(rule[1:], rule[0] == '+')
	case '~':
		p.keys.add(pattern{rule[1:], true, true})
		return nil
	case '&':
		p.channels.add(pattern{rule[1:], true, true})
		return nil
	case '%':
		access, glob, ok := strings.Cut(rule[1:], "~")
		pat := pattern{glob, strings.Contains(access, "R"), strings.Contains(access, "W")}
		if !ok || strings.Trim(access, "RW") != "" || !pat.read && !pat.write {
			break
		}
		p.keys.add(pat)
		return nil
	}
	return fmt.Errorf("rule %q is malformed", rule)
}

func (p *Permission) commandRule(name string, allow bool) error {
	if name == "@all" {
		for _, c := range command.Commands() {
			p.set(c, allow)
		}
		return nil
	}
	if category, ok := strings.CutPrefix(name, "@"); ok {
		c, known := command.CategoryByName(category)
		if !known {
			return fmt.Errorf("unknown category %q", name)
		}
		for _, cmd := range c.Commands() {
			p.set(cmd, allow)
		}
		return nil
	}
	c := command.LookupFull([]byte(name))
	if c == nil {
		return fmt.Errorf("unknown command %q", name)
	}
	p.set(c, allow)
	for _, sub := range c.Sub {
		p.set(sub, allow)
	}
	return nil
}

func (p *Permission) set(c *command.Command, allow bool) {
	if allow {
		p.commands[c.ID/64] |= 1 << (c.ID % 64)
	} else {
		p.commands[c.ID/64] &^= 1 << (c.ID % 64)
	}
}

func (p *patterns) add(pat pattern) {
	if pat.glob == "*" {
		p.allRead = p.allRead || pat.read
		p.allWrite = p.allWrite || pat.write
	}
	p.list = append(p.list, pat)
}

// match reports whether one pattern that has the asked access matches.
func (p *patterns) match(text []byte, read, write bool) bool {
	for i := range p.list {
		pat := &p.list[i]
		if (pat.read || !read) && (pat.write || !write) && glob(pat.glob, text) {
			return true
		}
	}
	return false
}

// Command reports whether c may be run. A container (CLIENT) is asked for only
// when it was called without a subcommand.
func (p *Permission) Command(c *command.Command) bool {
	return p.commands[c.ID/64]&(1<<(c.ID%64)) != 0
}

// Key reports whether key may be used in this way. A use that neither reads nor
// changes content, such as EXISTS, needs a pattern of any kind.
func (p *Permission) Key(key []byte, use command.KeyFlag) bool {
	return p.AllKeys(use) || p.keys.match(key, use.Reads(), use.Writes())
}

// AllKeys reports whether every key may be used in this way, so that single keys
// need not be asked for.
func (p *Permission) AllKeys(use command.KeyFlag) bool {
	read, write := use.Reads(), use.Writes()
	if !read && !write {
		return p.keys.allRead || p.keys.allWrite
	}
	return (p.keys.allRead || !read) && (p.keys.allWrite || !write)
}

// Channel reports whether channel may be published to and subscribed to.
func (p *Permission) Channel(channel []byte) bool {
	return p.channels.allRead || p.channels.match(channel, true, false)
}

// Rights returns what the HTTP API allows.
func (p *Permission) Rights() Right { return p.rights }

// Rules is the permission as ACL rules; it is empty when nothing is allowed.
func (p *Permission) Rules() string {
	if p.rules == "" {
		return "-@all"
	}
	return p.rules
}
