package command

import "strings"

// A Command is one line of the table: a command, a container of subcommands
// (CLIENT) or a subcommand (CLIENT LIST). All are read-only.
type Command struct {
	ID     int    // dense, stable within a build: index into arrays of Count() counters
	Name   string // lower case; "client|list" for a subcommand
	Built  bool   // this version of tiergrid runs it
	Arity  int    // words of a call, name (and container) included; negative: at least that many
	Parent *Command
	Sub    []*Command // of a container, in table order

	Flags      Flag
	Categories Category // with those the flags imply, as ACL rules count them

	Keys              []KeySpec
	First, Last, Step int // the keys in the old form: positions in a call, all 0 without keys; Last may count from the end

	Group      string
	Since      string
	Deprecated string // the version since which it is deprecated, or ""
	Hints      []string
	Complexity string // "" where Redis states none
	Summary    string

	word       string // the last word of Name
	find       finder // set where the key specs alone do not tell the keys
	arityError error  // made once, so that a wrong arity allocates nothing
}

// A Flag is a property of a command. The values up to AllowBusy are shown by
// COMMAND INFO, in this order.
type Flag uint64

const (
	Write           Flag = 1 << iota // may change data
	ReadOnly                         // reads keys, changes nothing
	DenyOOM                          // refused when there is no space
	Module                           // comes from a loadable module (none here)
	Admin                            // for operators
	PubSub                           // publishes or subscribes
	NoScript                         // not from scripts
	Blocking                         // may wait for data
	Loading                          // allowed while data is loaded
	Stale                            // allowed on a replica that lost its primary
	SkipMonitor                      // not shown by MONITOR
	SkipSlowlog                      // not kept by SLOWLOG
	Asking                           // for a slot that is being imported
	Fast                             // constant or logarithmic time
	NoAuth                           // allowed before login
	NoMandatoryKeys                  // may be called without keys though it takes some
	NoAsyncLoading                   // not while a replica loads new data beside the old
	NoMulti                          // not inside MULTI
	MovableKeys                      // First, Last and Step do not tell all keys
	AllowBusy                        // allowed while a script runs too long

	MayReplicate         // changes what replicas see without being a write
	Protected            // needs permission in the configuration
	TouchesArbitraryKeys // reads or writes keys that are not among its arguments
)

// flagNames are the words of commands.txt and COMMAND INFO, in bit order.
var flagNames = [...]string{
	"write", "readonly", "denyoom", "module", "admin", "pubsub", "noscript", "blocking", "loading", "stale",
	"skip_monitor", "skip_slowlog", "asking", "fast", "no_auth", "no_mandatory_keys", "no_async_loading",
	"no_multi", "movablekeys", "allow_busy", "may_replicate", "protected", "touches_arbitrary_keys",
}

// shownFlags are those COMMAND INFO tells.
const shownFlags = AllowBusy<<1 - 1

// Has reports whether c has every flag of f.
func (c *Command) Has(f Flag) bool { return c.Flags&f == f }

// In reports whether c belongs to a category of cat.
func (c *Command) In(cat Category) bool { return c.Categories&cat != 0 }

// HasKeys reports whether some words of a call may be keys.
func (c *Command) HasKeys() bool {
	for i := range c.Keys {
		if c.Keys[i].Flags&NotKey == 0 {
			return true
		}
	}
	return false
}

// Word is the last word of the name: "list" of "client|list".
func (c *Command) Word() string { return c.word }

// String is the full name.
func (c *Command) String() string { return c.Name }

// fits reports whether a call of n words has an allowed length.
func (c *Command) fits(n int) bool {
	if c.Arity < 0 {
		return n >= -c.Arity
	}
	return n == c.Arity
}

// String lists the flags in words, as commands.txt writes them.
func (f Flag) String() string { return strings.Join(bitNames(uint64(f), flagNames[:]), ",") }

// bitNames returns the names of the bits set in set.
func bitNames(set uint64, names []string) []string {
	var out []string
	for i, name := range names {
		if set&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return out
}
