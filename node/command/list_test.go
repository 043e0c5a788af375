package command

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// since70Names are the commands 7.0 does not have.
func since70Names(t *testing.T) []string {
	var names []string
	for l := range since70(t) {
		if f := strings.Split(l, "\t"); f[1] == "exists" {
			names = append(names, f[0])
		}
	}
	return names
}

// sameNames compares two replies that are lists of commands in any order,
// leaving out what 7.0 does not have.
func sameNames(t *testing.T, what string, ours, theirs *node) {
	t.Helper()
	if ours.kind != theirs.kind {
		t.Errorf("%s: %s, want %s", what, ours, theirs)
	}
	newer := since70Names(t)
	a := slices.DeleteFunc(ours.texts(), func(name string) bool { return slices.Contains(newer, name) })
	b := theirs.texts()
	slices.Sort(a)
	slices.Sort(b)
	if !slices.Equal(a, b) || ours.text != theirs.text {
		t.Errorf("%s: %q %s, want %q %s", what, a, ours.text, b, theirs.text)
	}
}

// ACL CAT names the same categories in the same order, with the same commands.
func TestCategoriesAgainstRedis(t *testing.T) {
	conn := dialRedis(t, 2)
	theirs := conn.do("ACL", "CAT")
	ours := reply(t, 2, AppendCategories)
	if ours.String() != theirs.String() {
		t.Fatalf("ACL CAT: %s, want %s", ours, theirs)
	}
	for _, name := range append(theirs.texts(), "WRITE", "nope", "@read", "a\nb") {
		sameNames(t, "ACL CAT "+name,
			reply(t, 2, func(w Reply) { AppendCategory(w, []byte(name)) }), conn.do("ACL", "CAT", name))
	}
}

func TestCategoryNames(t *testing.T) {
	var set Category
	for i, c := range Categories() {
		back, ok := CategoryByName(strings.ToUpper(c.String()))
		if !ok || back != c || c != 1<<i {
			t.Errorf("category %d: %s, back %s", i, c, back)
		}
		if len(c.Commands()) == 0 {
			t.Errorf("%s is empty", c)
		}
		set |= c
	}
	if _, ok := CategoryByName("all"); ok {
		t.Error("@all is no category of its own")
	}
	for _, c := range Commands() {
		if c.Categories&^set != 0 {
			t.Errorf("%s is in unknown categories", c)
		}
	}
}

func TestListAgainstRedis(t *testing.T) {
	conn := dialRedis(t, 2)
	for _, args := range [][]string{
		{}, {"filterby", "pattern", "*"}, {"FILTERBY", "PATTERN", "cl*ST"}, {"filterby", "pattern", "get"},
		{"filterby", "pattern", "[gs]et"}, {"filterby", "pattern", "[^a-r]??"}, {"filterby", "pattern", "*|help"},
		{"filterby", "pattern", "h[a-]*"}, {"filterby", "pattern", "h[z-a]*"}, {"filterby", "pattern", "\\get"},
		{"filterby", "pattern", "[\\g]et"}, {"filterby", "pattern", "ge[t"}, {"filterby", "pattern", "ge[abc"},
		{"filterby", "pattern", "[G-H]et"}, {"filterby", "pattern", ""}, {"filterby", "pattern", "**t**"}, {"filterby", "pattern", "get*"},
		{"filterby", "pattern", "*[]*"}, {"filterby", "pattern", "get\\"}, {"filterby", "pattern", "*a*e*"},
		{"filterby", "aclcat", "GEO"}, {"filterby", "aclcat", "nope"}, {"filterby", "module", "x"},
		{"filterby", "nope", "x"}, {"filterby", "pattern"}, {"nope"}, {"filterby", "pattern", "a", "b"},
	} {
		sameNames(t, fmt.Sprintf("COMMAND LIST %q", args),
			reply(t, 2, func(w Reply) { AppendList(w, words(args...)) }), conn.do(append([]string{"COMMAND", "LIST"}, args...)...))
	}
}

// HELP names the built subcommands only.
func TestHelp(t *testing.T) {
	lines := reply(t, 2, func(w Reply) { AppendHelp(w, Lookup([]byte("client"))) }).texts()
	if !slices.Contains(lines, "NO-TOUCH") || slices.Contains(lines, "TRACKING") || len(lines)%2 != 1 {
		t.Errorf("CLIENT HELP: %q", lines)
	}
}
