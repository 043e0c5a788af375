package conversation

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tiergrid/tiergrid/node/resp"
)

// ErrSyntax is returned by Load for a line that means nothing.
var ErrSyntax = errors.New("malformed line")

// Peer is the kind of server that is talked to.
type Peer string

// The kinds of servers.
const (
	Redis    Peer = "redis"
	Tiergrid Peer = "tiergrid"
)

// Script is a file of conversations.
type Script struct {
	Name string
	// Needs is what the file says a server must have, as "data" or "users".
	Needs         []string
	conversations []conversation
}

// NeedsOnly reports whether the script needs nothing beside these.
func (s *Script) NeedsOnly(have ...string) bool {
	for _, need := range s.Needs {
		if !slices.Contains(have, need) {
			return false
		}
	}
	return true
}

type conversation struct {
	name  string
	line  int
	only  Peer // "" for all
	steps []step
}

type verb uint8

const (
	send verb = iota
	want
	wantEnd
	wantNothing
	client
	shut
	closeConn
	wait
)

type step struct {
	verb verb
	line int
	text string // of send as shown, of want the reply, of client the name
	raw  []byte // of send, when it is bytes
	// other is what Redis answers where it differs; hasOther tells that it does.
	other    string
	hasOther bool
	pause    time.Duration
}

// Load reads a script.
func Load(path string) (*Script, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s := &Script{Name: filepath.Base(path)}
	for i, line := range strings.Split(string(text), "\n") {
		if err := s.add(i+1, strings.TrimRight(line, " \t\r")); err != nil {
			return nil, fmt.Errorf("%s:%d: %w: %s", s.Name, i+1, err, line)
		}
	}
	return s, nil
}

// LoadAll reads the scripts that match a file name pattern, by name.
func LoadAll(pattern string) ([]*Script, error) {
	paths, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	var list []*Script
	for _, path := range paths {
		s, err := Load(path)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// add takes one line into the script.
func (s *Script) add(number int, line string) error {
	word, rest, _ := strings.Cut(line, " ")
	switch {
	case line == "" || line[0] == '#':
		return nil
	case word == "==":
		s.conversations = append(s.conversations, conversation{name: rest, line: number})
		return nil
	case word == "needs" && len(s.conversations) == 0:
		s.Needs = append(s.Needs, strings.Fields(rest)...)
		return nil
	case len(s.conversations) == 0:
		return ErrSyntax
	}
	c := &s.conversations[len(s.conversations)-1]
	if word == "only" {
		c.only = Peer(rest)
		return nil
	}
	return c.add(number, word, rest)
}

// add takes one line into the conversation.
func (c *conversation) add(number int, word, rest string) error {
	st := step{line: number, text: rest}
	switch {
	case word == ">":
		st.verb = send
	case word == ">>":
		raw, err := unquote(rest)
		if err != nil {
			return err
		}
		st.verb, st.raw = send, raw
	case word == "<":
		st.verb = want
	case word == "<redis":
		return c.addOther(rest)
	case word == "<end":
		st.verb = wantEnd
	case word == "<nothing":
		st.verb = wantNothing
	case word == "!shut":
		st.verb = shut
	case word == "!close":
		st.verb = closeConn
	case word == "!wait":
		pause, err := time.ParseDuration(rest)
		if err != nil {
			return ErrSyntax
		}
		st.verb, st.pause = wait, pause
	case word[0] == '@':
		st.verb, st.text = client, word[1:]
	default:
		return ErrSyntax
	}
	c.steps = append(c.steps, st)
	return nil
}

// addOther says what Redis answers in place of the reply before.
func (c *conversation) addOther(text string) error {
	if len(c.steps) == 0 || c.steps[len(c.steps)-1].verb != want {
		return ErrSyntax
	}
	last := &c.steps[len(c.steps)-1]
	last.other, last.hasOther = text, true
	return nil
}

// unquote joins quoted strings.
func unquote(text string) ([]byte, error) {
	var raw []byte
	for text != "" {
		quoted, err := strconv.QuotedPrefix(text)
		if err != nil {
			return nil, ErrSyntax
		}
		part, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, ErrSyntax
		}
		raw = append(raw, part...)
		text = strings.TrimLeft(text[len(quoted):], " ")
	}
	return raw, nil
}

// packet is what a step sends: its bytes, or its words as a command.
func (st *step) packet(text string) ([]byte, error) {
	if st.raw != nil {
		return st.raw, nil
	}
	words, err := resp.NewReader(strings.NewReader(text+"\n"), resp.Limits{}).Next()
	if err != nil {
		return nil, ErrSyntax
	}
	return resp.AppendCommand(nil, words...), nil
}
