package command

import "strings"

// A KeyFlag says how a command uses a key. The first four are what happens to
// the value, the next four what happens to its content.
type KeyFlag uint16

const (
	RO KeyFlag = 1 << iota // reads the value
	RW                     // changes a value that is there, or makes one
	OW                     // replaces whatever is there
	RM                     // removes it

	Access // returns, copies or judges by the content
	Update // changes content
	Insert // adds content, changes none
	Delete // removes content

	NotKey        // looks like a key in routing but is none (a sharded channel)
	Incomplete    // the spec may not tell every key
	VariableFlags // the real use depends on the arguments; AppendKeys tells it
)

// keyFlagNames are the words of commands.txt and COMMAND INFO, in bit order.
var keyFlagNames = [...]string{
	"RO", "RW", "OW", "RM", "access", "update", "insert", "delete", "not_key", "incomplete", "variable_flags",
}

// Reads reports whether the user of the command needs the right to read the key.
func (f KeyFlag) Reads() bool { return f&Access != 0 }

// Writes reports whether the user of the command needs the right to write the key.
func (f KeyFlag) Writes() bool { return f&(Update|Insert|Delete) != 0 }

// String lists the flags in words, as commands.txt writes them.
func (f KeyFlag) String() string { return strings.Join(bitNames(uint64(f), keyFlagNames[:]), "+") }

// A Begin says where the search for keys starts.
type Begin uint8

const (
	BeginUnknown Begin = iota // only code can tell
	BeginIndex                // at a fixed argument
	BeginKeyword              // behind the first argument equal to a word
)

// A Find says which arguments behind the beginning are keys.
type Find uint8

const (
	FindUnknown Find = iota // only code can tell
	FindRange               // a range of arguments
	FindCount               // as many as an argument says
)

// A KeySpec describes one group of keys among the arguments of a command, as
// COMMAND INFO tells it to clients. All positions count the command's own name
// as 0 (and the container's as 0 for a subcommand).
type KeySpec struct {
	Flags KeyFlag

	Begin   Begin
	Index   int    // BeginIndex: the first argument
	Keyword string // BeginKeyword: the word, any case
	From    int    // BeginKeyword: where the search starts; negative: that far before the end, backwards

	Find     Find
	Last     int // FindRange: the last key, relative to the first; negative: to the end of the call
	Step     int // FindRange, FindCount: distance between keys
	Limit    int // FindRange: above 1 only 1/Limit of the remaining arguments are keys
	CountAt  int // FindCount: where the number of keys stands, relative to the beginning
	FirstKey int // FindCount: where the first key stands, relative to the beginning
}

// simple reports whether the spec alone tells its keys.
func (s *KeySpec) simple() bool {
	return s.Begin == BeginIndex && s.Find != FindUnknown && s.Flags&(Incomplete|VariableFlags) == 0
}
