package command

import (
	"strings"
	"testing"
)

// The table is well formed: what other packages rely on without asking.
func TestTableShape(t *testing.T) {
	seen := make(map[string]bool)
	for i, c := range Commands() {
		if c.ID != i {
			t.Errorf("%s: ID %d at place %d", c, c.ID, i)
		}
		if seen[c.Name] || c.Name != strings.ToLower(c.Name) {
			t.Errorf("%s: named twice or not in lower case", c)
		}
		seen[c.Name] = true
		if c.Arity == 0 || c.Group == "" || c.Since == "" || c.Summary == "" {
			t.Errorf("%s: empty field in %+v", c, *c)
		}
		if c.Parent != nil && c.Parent.ID >= c.ID {
			t.Errorf("%s stands before its container", c)
		}
		if (c.Has(Fast)) == c.In(CategorySlow) {
			t.Errorf("%s must be @fast or @slow, not both", c)
		}
		if c.Has(Write) && c.Has(ReadOnly) {
			t.Errorf("%s is write and readonly", c)
		}
	}
	if Count() != len(Commands()) || len(TopLevel()) != 241 {
		t.Errorf("%d commands, %d at top level; Redis 7.2 has 241", Count(), len(TopLevel()))
	}
}

// A fault in the table is told with its line.
func TestParseTableFaults(t *testing.T) {
	for _, tc := range []struct{ line, want string }{
		{"get - 2 1.0.0 - - - - -", "9 fields"},
		{"get - two 1.0.0 - - - - - x", "arity"},
		{"get - 2 1.0.0 quick - - - - x", `unknown word "quick"`},
		{"get - 2 1.0.0 - numbers - - - x", `unknown word "numbers"`},
		{"get - 2 1.0.0 - - RO:1 - - x", "2 parts"},
		{"get - 2 1.0.0 - - XX:1:one - - x", `unknown word "XX"`},
		{"get - 2 1.0.0 - - RO:x:one - - x", "invalid syntax"},
		{"get - 2 1.0.0 - - RO:1:many - - x", `unknown find "many"`},
		{"get - 2 1.0.0 - - RO:1:range/1 - - x", "1 numbers, want 3"},
		{"get - 2 1.0.0 - - RO:?:? - - x", "needs code"},
		{"a|b - 2 1.0.0 - - - - - x", "no container"},
	} {
		_, err := parseTable("# head\n" + tc.line)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q: error %v, want one with %q", tc.line, err, tc.want)
		}
	}
}

// A container is built exactly if a subcommand is; HELP comes with it.
func TestBuilt(t *testing.T) {
	for _, c := range TopLevel() {
		some := len(c.Sub) == 0 && c.Built
		for _, sub := range c.Sub {
			some = some || sub.Built
			if sub.Word() == "help" && sub.Built != c.Built {
				t.Errorf("%s: built %v, its container %v", sub, sub.Built, c.Built)
			}
		}
		if some != c.Built {
			t.Errorf("%s: built %v, its subcommands %v", c, c.Built, some)
		}
	}
	if got := NotBuilt(Lookup([]byte("XADD"))); got != "ERR command 'xadd' is not built into this version of tiergrid" {
		t.Errorf("NotBuilt: %q", got)
	}
}
