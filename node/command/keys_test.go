package command

import (
	"os"
	"strings"
	"testing"
)

// getKeysCalls reads testdata/getkeys.txt.
func getKeysCalls(t *testing.T) [][]string {
	t.Helper()
	text, err := os.ReadFile("testdata/getkeys.txt")
	if err != nil {
		t.Fatal(err)
	}
	var calls [][]string
	for _, line := range strings.Split(string(text), "\n") {
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		call := strings.Fields(line)
		for i, w := range call {
			if w == "''" {
				call[i] = ""
			}
		}
		calls = append(calls, call)
	}
	return calls
}

// COMMAND GETKEYS and GETKEYSANDFLAGS answer as the real server, byte for byte
// in both protocols.
func TestKeysAgainstRedis(t *testing.T) {
	for _, proto := range []int{2, 3} {
		conn := dialRedis(t, proto)
		for _, call := range getKeysCalls(t) {
			if len(call) == 1 {
				continue // 7.0 wants two words; TestKeysOfOneWord has these
			}
			for _, ask := range []struct {
				name  string
				write func(Reply, [][]byte)
			}{{"GETKEYS", AppendGetKeys}, {"GETKEYSANDFLAGS", AppendGetKeysAndFlags}} {
				theirs := conn.do(append([]string{"COMMAND", ask.name}, call...)...)
				ours := reply(t, proto, func(w Reply) { ask.write(w, words(call...)) })
				if ours.String() != theirs.String() {
					t.Errorf("RESP%d %s %q:\n%s\nwant\n%s", proto, ask.name, call, ours, theirs)
				}
			}
		}
	}
}

// What 7.2 answers where 7.0 refuses to be asked.
func TestKeysOfOneWord(t *testing.T) {
	for _, tc := range []struct {
		word string
		want Error
	}{
		{"ping", ErrNoKeyArguments}, {"client", ErrNoKeyArguments}, {"nosuch", ErrInvalidCommand}, {"get", ErrInvalidArgumentCount},
	} {
		n := reply(t, 2, func(w Reply) { AppendGetKeys(w, words(tc.word)) })
		if n.kind != '-' || n.text != string(tc.want) {
			t.Errorf("%s: %s", tc.word, n)
		}
	}
}

// Where tiergrid tells keys otherwise than Redis, on purpose: no word that the
// command would use as a key may be missing.
func TestKeysStricterThanRedis(t *testing.T) {
	for _, tc := range []struct{ call, want string }{
		// every target, not only the first, may be what is written to
		{"georadius k 1 2 3 m store d store e", "1:RO+access 7:OW+update 9:OW+update"},
		// STREAMS as the name of a consumer before the options end
		{"xreadgroup count 1 group g streams streams a >", "7:RO+access"},
		// what follows STORE is its value, even if it looks like an option
		{"sort k store get store d", "1:RO+access 5:OW+update"},
	} {
		args := words(strings.Fields(tc.call)...)
		c, err := Resolve(args)
		if err != nil {
			t.Fatal(err)
		}
		keys, err := c.AppendKeys(nil, args)
		var got []string
		for _, k := range keys {
			got = append(got, k.String())
		}
		if strings.Join(got, " ") != tc.want || err != nil {
			t.Errorf("%s: %v, %v", tc.call, got, err)
		}
	}
}

// Calls whose keys Redis guesses although the command will refuse them: a number
// of keys read leniently, ids without their stream, KEYS without keys. Here they
// have none, and an error where keys are a must.
func TestKeysOfMalformedCalls(t *testing.T) {
	for _, tc := range []struct {
		call string
		want error
	}{
		{"eval s 01 a", nil},
		{"eval s 4294967297 a", nil},
		{"zunion 2x a b", ErrNoKeysFound},
		{"xread count 2 streams a b 0", ErrNoKeysFound},
		{"migrate h 1 k 0 10 keys", ErrNoKeysFound},
	} {
		args := words(strings.Fields(tc.call)...)
		c, err := Resolve(args)
		if err != nil {
			t.Fatal(err)
		}
		if keys, err := c.AppendKeys(nil, args); len(keys) > 0 || err != tc.want {
			t.Errorf("%s: %v, %v, want none and %v", tc.call, keys, err, tc.want)
		}
	}
}

// AppendKeys stands calls that Resolve would have refused, for every command.
func TestKeysOfBrokenCalls(t *testing.T) {
	for _, c := range Commands() {
		args := [][]byte{}
		for range 8 {
			keys, _ := c.AppendKeys(nil, args)
			for _, k := range keys {
				if k.Index < 1 || k.Index >= len(args) {
					t.Errorf("%s of %d words: %v", c, len(args), k)
				}
			}
			args = append(args, []byte("7"))
		}
	}
}

// Reading and writing, as permissions see them.
func TestKeyAccess(t *testing.T) {
	for _, tc := range []struct {
		call          string
		reads, writes bool
	}{
		{"get k", true, false}, {"set k v", false, true}, {"set k v get", true, true}, {"del k", false, true},
		{"exists k", false, false}, {"append k v", false, true}, {"incr k", true, true}, {"getdel k", true, true},
		{"bitfield k get u8 0", true, false}, {"bitfield k set u8 0 1", true, true},
	} {
		args := words(strings.Fields(tc.call)...)
		c, err := Resolve(args)
		if err != nil {
			t.Fatal(err)
		}
		keys, err := c.AppendKeys(nil, args)
		if err != nil || len(keys) != 1 || keys[0].Access.Reads() != tc.reads || keys[0].Access.Writes() != tc.writes {
			t.Errorf("%s: %v, %v", tc.call, keys, err)
		}
	}
}
