package rules

import (
	"regexp"
	"strings"
)

// topLevel is every folder of the top level: one for each part of the
// architecture, and two that hold no Go code.
var topLevel = []string{"proxy", "node", "membership", "tiers", "admin", "cmd", "loadtest", "scripts", "docs"}

// TopLevel checks that the top level shows the architecture and nothing else.
func TopLevel(t *Tree) []Finding {
	seen := map[string]bool{}
	var out []Finding
	for _, d := range t.Top {
		if !d.IsDir() || strings.HasPrefix(d.Name(), ".") {
			continue
		}
		seen[d.Name()] = true
		if !within(d.Name(), topLevel) {
			out = append(out, Finding{d.Name(), "an unknown top-level folder",
				"the top level is the architecture: it belongs under one of " + strings.Join(topLevel, ", ")})
		}
	}
	for _, name := range topLevel {
		if !seen[name] {
			out = append(out, Finding{name, "is missing", "the top level is the architecture, and this is one part of it"})
		}
	}
	return out
}

// vagueNames say that something is there, not what.
var vagueNames = regexp.MustCompile(`^(utils?|[a-z]*utils?|commons?|helpers?|managers?|misc|shared|base|lib|types)$`)

// PackageNames checks that packages are named for what they hold, and as their
// folders are.
func PackageNames(t *Tree) []Finding {
	var out []Finding
	for _, p := range t.Packages {
		last := p.Dir[strings.LastIndexByte(p.Dir, '/')+1:]
		switch {
		case vagueNames.MatchString(last) || vagueNames.MatchString(p.Name):
			out = append(out, Finding{p.Dir, "named " + p.Name, "a name that fits any package says nothing: name it for the thing it holds"})
		case p.Name != last && p.Name != "main":
			out = append(out, Finding{p.Dir, "named " + p.Name, "a package has the name of its folder"})
		}
	}
	return out
}

// replaceLine matches a replace directive of go.mod, alone or in a block.
var replaceLine = regexp.MustCompile(`(?m)^\s*(replace\b|.*=>)`)

// GoMod checks that the module can be installed from elsewhere.
func GoMod(t *Tree) []Finding {
	var out []Finding
	for _, m := range replaceLine.FindAllString(t.Text["go.mod"], -1) {
		out = append(out, Finding{"go.mod", strings.TrimSpace(m), "go install of a module ignores or refuses replace: use a released version"})
	}
	return out
}
