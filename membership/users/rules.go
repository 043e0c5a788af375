package users

import (
	"fmt"
	"strings"

	"github.com/tiergrid/tiergrid/node/command"
)

// Rules are ACL rules as Redis writes them. Of the command rules a later one
// wins over an earlier one.
type Rules struct {
	Keys     string // ~glob, %R~glob, %W~glob or %RW~glob
	Channels string // &glob
	Commands string // +name, -name, +container|sub, +@category, -@category
}

// String joins the rules the way ACL LIST does.
func (r Rules) String() string {
	channels := r.Channels
	if channels == "" {
		channels = "resetchannels"
	}
	return strings.TrimLeft(r.Keys+" "+channels+" "+r.Commands, " ")
}

func (r Rules) compile() (*Permission, error) {
	p := &Permission{commands: make([]uint64, (command.Count()+63)/64), rules: []Rules{r}}
	for _, rule := range strings.Fields(r.Keys + " " + r.Channels + " " + r.Commands) {
		if err := p.rule(rule); err != nil {
			return nil, err
		}
	}
	return p, nil
}

var accessLetters = map[string]access{"R": read, "W": write, "RW": read | write, "WR": read | write}

func (p *Permission) rule(rule string) error {
	switch rule[0] {
	case '+', '-':
		return p.commandRule(rule[1:], rule[0] == '+')
	case '~':
		p.keys.add(pattern{rule[1:], read | write})
		return nil
	case '&':
		p.channels.add(pattern{rule[1:], read | write})
		return nil
	case '%':
		letters, glob, ok := strings.Cut(rule[1:], "~")
		gives, known := accessLetters[letters]
		if !ok || !known {
			break
		}
		p.keys.add(pattern{glob, gives})
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
