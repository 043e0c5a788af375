package rules

import (
	"fmt"
	"regexp"
	"strings"
)

// PackageDocs checks that every package says in one place what it is.
func PackageDocs(t *Tree) []Finding {
	const why = "a reader of the package list must learn from it what each package is for: one comment, beginning with its name, in at least one full sentence"
	var out []Finding
	for _, p := range t.Packages {
		switch len(p.Docs) {
		case 0:
			out = append(out, Finding{p.Dir, "no package comment", why})
		case 1:
			if what := docFault(p, p.Docs[0]); what != "" {
				out = append(out, Finding{p.Dir, what, why})
			}
		default:
			out = append(out, Finding{p.Dir, fmt.Sprintf("%d package comments", len(p.Docs)), why})
		}
	}
	return out
}

func docFault(p *Package, doc string) string {
	begin := "Package " + p.Name + " "
	if p.Name == "main" {
		begin = "Command " + p.Dir[strings.LastIndexByte(p.Dir, '/')+1:] + " "
	}
	switch first, _, _ := strings.Cut(doc, "\n\n"); {
	case !strings.HasPrefix(doc, begin):
		return "the package comment does not begin with " + fmt.Sprintf("%q", begin)
	case !strings.ContainsAny(first, ".:"):
		return "the package comment has no full sentence"
	}
	return ""
}

// targetUse finds make targets in documentation: "make test" in code, at the
// beginning of a line of a block or of a span.
var (
	targetUse = regexp.MustCompile("(?m)(?:^\\s*(?:\\$ )?|`|&& )make ([a-z][a-z0-9-]*)\\b")
	targetDef = regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):`)
	scriptUse = regexp.MustCompile("(?m)(?:^\\s*(?:\\$ )?|`|&& )(?:\\./)?(scripts/[a-z][a-z0-9-]*)\\b")
)

// DocumentedCommands checks that make targets and scripts which the
// documentation names exist.
func DocumentedCommands(t *Tree) []Finding {
	targets := map[string]bool{}
	for _, m := range targetDef.FindAllStringSubmatch(t.Text["Makefile"], -1) {
		targets[m[1]] = true
	}
	var out []Finding
	for _, name := range t.Files {
		if !strings.HasSuffix(name, ".md") {
			continue
		}
		for _, m := range targetUse.FindAllStringSubmatch(t.Text[name], -1) {
			if !targets[m[1]] {
				out = append(out, Finding{name, "names make " + m[1], "the Makefile has no such target"})
			}
		}
		for _, m := range scriptUse.FindAllStringSubmatch(t.Text[name], -1) {
			if _, ok := t.Text[m[1]]; !ok {
				out = append(out, Finding{name, "names " + m[1], "there is no such script"})
			}
		}
	}
	return out
}
