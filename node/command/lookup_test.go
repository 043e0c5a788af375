package command

import (
	"errors"
	"strings"
	"testing"
)

// Every command is found by its name in any case, and nothing else is.
func TestLookup(t *testing.T) {
	for _, c := range Commands() {
		for _, name := range []string{c.Name, strings.ToUpper(c.Name), strings.ToUpper(c.Name[:1]) + c.Name[1:]} {
			if got := LookupFull([]byte(name)); got != c {
				t.Errorf("LookupFull(%q) = %v", name, got)
			}
		}
		got := Lookup([]byte(c.Name))
		if c.Parent == nil && got != c || c.Parent != nil && got != nil {
			t.Errorf("Lookup(%q) = %v", c.Name, got)
		}
		if c.Parent != nil && c.Parent.LookupSub([]byte(strings.ToUpper(c.Word()))) != c {
			t.Errorf("LookupSub(%q) misses", c.Word())
		}
	}
	for _, name := range []string{"", "ge", "gets", "get ", "get\x00", "G\xc5T", "g\x05t", "no-such-command", strings.Repeat("get", 1000)} {
		if got := Lookup([]byte(name)); got != nil {
			t.Errorf("Lookup(%q) = %v", name, got)
		}
	}
}

// The calls nobody can run get the real server's error, byte for byte.
func TestResolveErrorsAgainstRedis(t *testing.T) {
	conn := dialRedis(t, 2)
	long := strings.Repeat("0123456789", 20)
	for _, call := range [][]string{
		{"foo"}, {"FOO", "a", "b"}, {"foo", "it's", "a\r\nb", "c\x00d"}, {"fo\r\no"}, {"fo\x00o", "x"}, {""}, {"", ""},
		{long, "a"}, {"foo", long}, {"foo", long[:100], long[:40], "z"}, {"foo", long[:125], "", "x"}, {"foo", long[:126], "yz"},
		{"foo", "\xff\xfe", "ü"}, {"client|list"}, {"get|x", "a"},
		{"client", "nope"}, {"CLIENT", "NOPE", "x"}, {"cOnFig", "a\nb"}, {"object", long}, {"config", "x\x00y"}, {"config", ""},
		{"get"}, {"GET", "a", "b"}, {"set", "a"}, {"client"}, {"client", "getname", "x"}, {"Config", "Get"}, {"object", "encoding"},
		{"object"}, {"memory"}, {"mset", "a"}, {"command", "getkeys"}, {"acl"}, {"slowlog"}, {"xgroup", "create", "a"},
	} {
		c, err := Resolve(words(call...))
		theirs := conn.do(call...)
		if err == nil || theirs.kind != '-' || err.Error() != theirs.text {
			t.Errorf("%q: %v, want %c%s", call, err, theirs.kind, theirs.text)
		}
		if wrong := strings.HasPrefix(theirs.text, "ERR wrong number"); wrong != (c != nil) {
			t.Errorf("%q: command %v with %v", call, c, err)
		}
	}
}

func TestResolve(t *testing.T) {
	for _, tc := range []struct {
		call []string
		want string
	}{
		{[]string{"GET", "a"}, "get"},
		{[]string{"client", "LIST"}, "client|list"},
		{[]string{"CLIENT", "setinfo", "lib-name", "x"}, "client|setinfo"},
		{[]string{"command"}, "command"},
		{[]string{"command", "Count"}, "command|count"},
		{[]string{"MSET", "a", "1", "b"}, "mset"},
		{[]string{"ping"}, "ping"},
		{[]string{"waitaof", "0", "0", "0"}, "waitaof"},
	} {
		c, err := Resolve(words(tc.call...))
		if err != nil || c.Name != tc.want {
			t.Errorf("%q: %v, %v", tc.call, c, err)
		}
	}
	if _, err := Resolve(nil); err == nil {
		t.Error("an empty call resolves")
	}
	_, err := Resolve(words("get"))
	if !errors.Is(err, WrongArity("get")) {
		t.Errorf("arity error %v", err)
	}
}

// The hot path allocates nothing.
func TestAllocations(t *testing.T) {
	calls := [][][]byte{
		words("GET", "a"), words("set", "a", "b", "EX", "10"), words("MGET", "a", "b", "c"), words("client", "list"),
		words("zunionstore", "d", "2", "a", "b"), words("XREAD", "COUNT", "2", "STREAMS", "a", "0"), words("get"),
	}
	dst := make([]KeyRef, 0, 16)
	got := testing.AllocsPerRun(100, func() {
		for _, args := range calls {
			Lookup(args[0])
			c, err := Resolve(args)
			if err == nil {
				dst, _ = c.AppendKeys(dst[:0], args)
			}
		}
	})
	if got != 0 {
		t.Errorf("%v allocations", got)
	}
}

func FuzzResolve(f *testing.F) {
	for _, c := range Commands() {
		container, word, _ := strings.Cut(c.Name, "|")
		f.Add(container + "\n" + word + "\na\n1\nb")
	}
	f.Add("georadius\nk\n1\n2\n3\nm\nstore")
	f.Add("migrate\nh\n1\n\n0\n1\nauth2\na\nb\nkeys")
	f.Add("xreadgroup\ngroup\nstreams\nc\nstreams\na\nb")
	f.Add("eval\ns\n99999999999999999999\nk")
	f.Fuzz(func(t *testing.T, text string) {
		args := words(strings.Split(text, "\n")...)
		c, err := Resolve(args)
		if err != nil {
			if e, ok := err.(Error); !ok || strings.ContainsAny(string(e), "\r\n") || len(e) > 400 {
				t.Fatalf("error %q", err)
			}
		}
		if c == nil {
			return
		}
		keys, err := c.AppendKeys(nil, args)
		if err != nil && len(keys) > 0 {
			t.Fatalf("%d keys beside %v", len(keys), err)
		}
		for _, k := range keys {
			if k.Index < 1 || k.Index >= len(args) || k.Access == 0 {
				t.Fatalf("%v of %d words", k, len(args))
			}
		}
		for _, write := range []func(Reply, [][]byte){AppendGetKeys, AppendGetKeysAndFlags, AppendInfo, AppendDocs, AppendList} {
			reply(t, 3, func(w Reply) { write(w, args) })
		}
	})
}

func BenchmarkLookup(b *testing.B) {
	for _, name := range []string{"GET", "set", "EXPIRE", "ZREMRANGEBYSCORE", "no-such"} {
		word := []byte(name)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Lookup(word)
			}
		})
	}
}

func BenchmarkResolveAndKeys(b *testing.B) {
	args := words("SET", "key:000000000001", "value", "EX", "10")
	dst := make([]KeyRef, 0, 8)
	b.ReportAllocs()
	for b.Loop() {
		c, err := Resolve(args)
		if err != nil {
			b.Fatal(err)
		}
		dst, _ = c.AppendKeys(dst[:0], args)
	}
}
