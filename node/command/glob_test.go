package command

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		nocase     bool
		want       bool
	}{
		{"", "", false, true},
		{"*", "", false, false}, // KEYS and SCAN treat "*" apart
		{"*", "abc", false, true},
		{"***", "abc", false, true},
		{"a*c", "abbc", false, true},
		{"a*c", "abbd", false, false},
		{"a?c", "abc", false, true},
		{"a?c", "ac", false, false},
		{"[abc]", "b", false, true},
		{"[^abc]", "b", false, false},
		{"[^abc]", "d", false, true},
		{"[a-c]x", "bx", false, true},
		{"[c-a]x", "bx", false, true},
		{"[a-c", "b", false, true},
		{"[", "[", false, false},
		{"[^", "x", false, true},
		{`[\]]`, "]", false, true},
		{`[\-]`, "-", false, true},
		{`\*`, "*", false, true},
		{`\*`, "a", false, false},
		{`a\`, `a\`, false, true},
		{"ABC", "abc", false, false},
		{"ABC", "abc", true, true},
		{"[A-C]", "b", true, true},
		{"[B]", "b", true, true},
		{"[\x01-\xff]", "a", false, false}, // the bounds are 1 and -1
		{"[\xf0-\xff]", "\xf5", false, true},
		{"user:*:name", "user:10:name", false, true},
		{"*a*b*c*", "xxaxxbxxcxx", false, true},
		{"*a*b*c*", "xxaxxcxxbxx", false, false},
	} {
		if got := Match(c.pattern, c.s, c.nocase); got != c.want {
			t.Errorf("Match(%q, %q, %v) = %v", c.pattern, c.s, c.nocase, got)
		}
		if got := Match([]byte(c.pattern), []byte(c.s), c.nocase); got != c.want {
			t.Errorf("Match(%q, %q, %v) = %v as bytes", c.pattern, c.s, c.nocase, got)
		}
	}
}

func TestMatchIsTheSameAsRedis(t *testing.T) {
	const alphabet = `aabbAB*?[]^-\` + "\x00\x7f\x80\xff"
	g := rand.New(rand.NewPCG(7, 7))
	word := func(most int) string {
		b := make([]byte, 1+g.IntN(most))
		for i := range b {
			b[i] = alphabet[g.IntN(len(alphabet))]
		}
		return string(b)
	}
	conn := dialRedis(t, 2)
	conn.do("flushall")
	var all []string
	for range 150 {
		name := word(5)
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
		conn.do("set", name, "")
	}
	for range 6000 {
		pattern := word(8)
		if pattern == "*" {
			continue
		}
		var ours []string
		for _, name := range all {
			if Match(pattern, name, false) {
				ours = append(ours, name)
			}
		}
		theirs := conn.do("keys", pattern).texts()
		slices.Sort(ours)
		slices.Sort(theirs)
		if !slices.Equal(ours, theirs) {
			t.Errorf("%q matches %q, redis-server: %q", pattern, ours, theirs)
		}
	}
}

func TestMatchDoesNotAllocate(t *testing.T) {
	pattern, s := "user:*:[a-z]?", []byte("user:10:ab")
	if n := testing.AllocsPerRun(100, func() {
		if !Match(pattern, s, false) {
			t.Fatal("no match")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A hostile pattern takes time in proportion to the product of the lengths.
func TestMatchTakesBoundedTime(t *testing.T) {
	pattern := []byte(strings.Repeat("a*", 500) + "b")
	s := []byte(strings.Repeat("a", 20000))
	start := time.Now()
	if Match(pattern, s, false) {
		t.Error("there is no b")
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}

func FuzzMatch(f *testing.F) {
	f.Add([]byte("a*[b-"), []byte("ab"))
	f.Add([]byte(`[^\`), []byte("x"))
	f.Fuzz(func(t *testing.T, pattern, s []byte) {
		if Match(pattern, s, false) && !Match(pattern, s, true) && !strings.ContainsRune(string(pattern), '[') {
			t.Errorf("%q matches %q, but not in any case", pattern, s)
		}
		if Match(pattern, s, false) && !Match("*"+string(pattern), "x"+string(s), false) {
			t.Errorf("%q matches %q, but not behind a star", pattern, s)
		}
	})
}
