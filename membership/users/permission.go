package users

import (
	"sync"

	"github.com/tiergrid/tiergrid/node/command"
)

// Permission is what somebody may do, in the form that is quick to ask.
type Permission struct {
	commands []uint64 // a bit for each command ID
	keys     patterns
	channels patterns
	rights   Right
	rules    []Rules
}

// access says what a pattern gives or a use needs: read, write, both or neither.
type access uint8

const (
	read access = 1 << iota
	write
)

func needs(use command.KeyFlag) (a access) {
	if use.Reads() {
		a |= read
	}
	if use.Writes() {
		a |= write
	}
	return a
}

// patterns are globs. all tells, for each access, whether a pattern "*" gives
// it: nothing has to be matched then.
type patterns struct {
	all  [read + write + 1]bool
	list []pattern
}

type pattern struct {
	glob  string
	gives access
}

// byRoleSet keeps the permission of each combination of roles, once it was asked
// for.
var byRoleSet [1 << len(roles)]struct {
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
		p, err := roles[i].rules.compile()
		if err != nil {
			panic("users: role " + string(roles[i].role) + ": " + err.Error())
		}
		sum.join(p, roles[i].rights)
	}
	for _, c := range command.Commands() {
		if c.Has(command.NoAuth) { // what needs no login needs no permission
			sum.set(c, true)
		}
	}
	return sum
}

// join adds what q allows.
func (p *Permission) join(q *Permission, rights Right) {
	for i := range p.commands {
		p.commands[i] |= q.commands[i]
	}
	p.keys.join(q.keys)
	p.channels.join(q.channels)
	p.rights |= rights
	p.rules = append(p.rules, q.rules...)
}

func (p *patterns) join(q patterns) {
	for _, pat := range q.list {
		p.add(pat)
	}
}

func (p *patterns) add(pat pattern) {
	p.list = append(p.list, pat)
	if pat.glob != "*" {
		return
	}
	for need := range p.all {
		p.all[need] = p.all[need] || pat.gives&access(need) == access(need)
	}
}

// match reports whether one pattern gives all of need and matches text.
func (p *patterns) match(text []byte, need access) bool {
	if p.all[need] {
		return true
	}
	for i := range p.list {
		if p.list[i].gives&need == need && command.Match(p.list[i].glob, text, false) {
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
func (p *Permission) Key(key []byte, use command.KeyFlag) bool { return p.keys.match(key, needs(use)) }

// AllKeys reports whether every key may be used in this way, so that single keys
// need not be asked for.
func (p *Permission) AllKeys(use command.KeyFlag) bool { return p.keys.all[needs(use)] }

// Channel reports whether channel may be published to and subscribed to.
func (p *Permission) Channel(channel []byte) bool { return p.channels.match(channel, read) }

// Rights returns what the HTTP API allows.
func (p *Permission) Rights() Right { return p.rights }

// Rules returns the permission as ACL rules: those of each role, of which ACL
// GETUSER shows the first as the user's own and the others as selectors. There
// is always at least one.
func (p *Permission) Rules() []Rules {
	if len(p.rules) == 0 {
		return []Rules{{Commands: "-@all"}}
	}
	return p.rules
}

// String is the permission as ACL LIST shows it.
func (p *Permission) String() string {
	list := p.Rules()
	text := list[0].String()
	for _, r := range list[1:] {
		text += " (" + r.String() + ")"
	}
	return text
}
