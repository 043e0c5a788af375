package command

import (
	"bytes"
	"strings"
)

// The index is an open hash table from (container, word) to command. Words are
// hashed and compared in lower case. It is less than half full, so a probe
// rarely looks at a second slot.
const indexSize = 1024 // a power of two, well over twice Count()

var index = buildIndex(all)

// longestWord bounds what is hashed of a name that a client made up.
var longestWord = longest(all)

// Lookup returns the command or container called name, in any case, or nil.
// Subcommands are found by Resolve or LookupFull. It does not allocate.
func Lookup(name []byte) *Command { return find(nil, name) }

// LookupSub returns the subcommand of c called word, in any case, or nil.
func (c *Command) LookupSub(word []byte) *Command { return find(c, word) }

// LookupFull returns the command, container or subcommand with the full name
// ("get", "client|list"), in any case, or nil.
func LookupFull(name []byte) *Command {
	container, word, ok := bytes.Cut(name, []byte{'|'})
	c := Lookup(container)
	if !ok || c == nil {
		return c
	}
	return c.LookupSub(word)
}

// Resolve returns the command args call: the subcommand where args[0] names a
// container. Its errors are Redis's, text for text. With an arity error it also
// returns the command, so that the rejected call can be counted for it.
func Resolve(args [][]byte) (*Command, error) {
	c, err := resolveName(args)
	if err == nil && !c.fits(len(args)) {
		return c, c.arityError
	}
	return c, err
}

// resolveName is Resolve without the check of the arity.
func resolveName(args [][]byte) (*Command, error) {
	if len(args) == 0 {
		return nil, UnknownCommand(nil, nil)
	}
	c := Lookup(args[0])
	if c == nil {
		return nil, UnknownCommand(args[0], args[1:])
	}
	if len(args) == 1 || len(c.Sub) == 0 {
		return c, nil
	}
	if sub := c.LookupSub(args[1]); sub != nil {
		return sub, nil
	}
	return nil, UnknownSubcommand(args[0], args[1])
}

// find probes the index for a word of parent (nil: top level).
func find(parent *Command, word []byte) *Command {
	if len(word) > longestWord {
		return nil
	}
	seed := seedOf(parent)
	for _, b := range word {
		seed = mix(seed, lower(b))
	}
	for slot := finish(seed); ; slot++ {
		c := index[slot%indexSize]
		if c == nil {
			return nil
		}
		if c.Parent == parent && equalFold(c.word, word) {
			return c
		}
	}
}

func buildIndex(commands []*Command) *[indexSize]*Command {
	if len(commands)*2 > indexSize {
		panic("command: indexSize is too small for the table")
	}
	var idx [indexSize]*Command
	for _, c := range commands {
		h := seedOf(c.Parent)
		for i := 0; i < len(c.word); i++ {
			h = mix(h, c.word[i])
		}
		slot := finish(h)
		for idx[slot%indexSize] != nil {
			slot++
		}
		idx[slot%indexSize] = c
	}
	return &idx
}

// seedOf keeps equal words of different containers (HELP) in different slots.
func seedOf(parent *Command) uint32 {
	if parent == nil {
		return 2166136261
	}
	return 2166136261 + uint32(parent.ID+1)*2654435769
}

// mix and finish are FNV-1a with a fold of the high bits into the low ones.
func mix(h uint32, b byte) uint32 { return (h ^ uint32(b)) * 16777619 }

func finish(h uint32) uint32 { return h ^ h>>16 }

// lower maps ASCII capitals to small letters and leaves all other bytes alone.
func lower(b byte) byte {
	if b-'A' < 26 {
		return b | 0x20
	}
	return b
}

// equalFold reports whether b is word in any case; word is in lower case.
func equalFold(word string, b []byte) bool {
	if len(word) != len(b) {
		return false
	}
	for i := range b {
		if lower(b[i]) != word[i] {
			return false
		}
	}
	return true
}

func longest(commands []*Command) int {
	n := 0
	for _, c := range commands {
		n = max(n, len(c.Name)-strings.IndexByte(c.Name, '|')-1)
	}
	return n
}
