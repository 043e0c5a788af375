package rules

import (
	"path"
	"regexp"
	"strconv"
	"strings"
)

// foreign are words that a reader of the repository cannot follow: paths of one
// machine, numbers of a tracker, promises for later.
var foreign = []*regexp.Regexp{
	regexp.MustCompile(`(?m)(?:^|[ \t"'` + "`" + `(=:])/(?:work|root|home/[a-z]+|Users/[A-Za-z]+)/`), // a path of one machine
	regexp.MustCompile(`(?i)\b(?:issue|ticket)s? ?#?\d+\b`),                                          // numbers that only a tracker knows
	regexp.MustCompile(`\b(?:TODO|FIXME|XXX)\b`),
}

// notRead are files whose words are not ours to choose, and this package's own,
// which must name what it forbids.
func notRead(name string) bool {
	return name == "LICENSE" || name == "go.sum" || path.Dir(name) == "cmd/rules" ||
		strings.Contains(name, "testdata/fuzz/")
}

// Words checks that no text speaks of how and where it was written, and that
// nothing is left for later in a comment.
func Words(t *Tree) []Finding {
	var out []Finding
	for _, name := range t.Files {
		text := t.Text[name]
		if notRead(name) {
			continue
		}
		for _, re := range foreign {
			for _, at := range re.FindAllStringIndex(text, -1) {
				line := 1 + strings.Count(text[:at[0]], "\n")
				out = append(out, Finding{name + ":" + strconv.Itoa(line), "says " + strconv.Quote(strings.TrimSpace(text[at[0]:at[1]])),
					"the repository speaks of the product alone, and does today what it says"})
			}
		}
	}
	return out
}
