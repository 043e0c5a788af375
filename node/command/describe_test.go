package command

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// since70 reads testdata/since-7.0.tsv: what Redis 7.2 tells otherwise than the
// 7.0 the tests run against, as "command aspect old new" → reason.
func since70(t *testing.T) map[string]string {
	t.Helper()
	f, err := os.Open("testdata/since-7.0.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := make(map[string]string)
	for s := bufio.NewScanner(f); s.Scan(); {
		if line := s.Text(); line != "" && line[0] != '#' {
			field := strings.Split(line, "\t")
			if len(field) != 5 || field[4] == "" {
				t.Fatalf("since-7.0.tsv: %q has not five fields", line)
			}
			out[strings.Join(field[:4], "\t")] = field[4]
		}
	}
	return out
}

// infoByName flattens a COMMAND reply.
func infoByName(n *node, into map[string]*node) map[string]*node {
	for _, c := range n.sub {
		into[c.sub[0].text] = c
		infoByName(c.sub[9], into)
	}
	return into
}

// infoAspects are the fields of COMMAND INFO that are compared one by one.
var infoAspects = []struct {
	name  string
	field int
}{
	{"arity", 1}, {"flags", 2}, {"first", 3}, {"last", 4}, {"step", 5}, {"categories", 6}, {"hints", 7}, {"keys", 8},
}

// aspect shows one field of COMMAND INFO in one line.
func aspect(info *node, field int) string {
	n := info.sub[field]
	switch {
	case field == 8:
		return strings.Join(strings.Fields(n.String()), " ")
	case len(n.sub) > 0:
		return strings.Join(n.texts(), ",")
	}
	return n.text
}

// stripNotes removes the notes in prose, which tiergrid does not tell.
func stripNotes(info *node) {
	for _, spec := range info.sub[8].sub {
		spec.drop("notes")
	}
}

// Every field of every command is what the real server tells, except for the
// differences listed with their reason; and every listed difference is real.
func TestTableAgainstRedis(t *testing.T) {
	theirs := infoByName(dialRedis(t, 3).do("COMMAND"), map[string]*node{})
	ours := infoByName(reply(t, 3, AppendAll), map[string]*node{})
	var found []string
	for name, info := range ours {
		old := theirs[name]
		if old == nil {
			found = append(found, name+"\texists\tno\tyes")
			continue
		}
		stripNotes(old)
		for _, a := range infoAspects {
			if was, is := aspect(old, a.field), aspect(info, a.field); was != is {
				found = append(found, fmt.Sprintf("%s\t%s\t%s\t%s", name, a.name, was, is))
			}
		}
	}
	for name := range theirs {
		if ours[name] == nil {
			t.Errorf("%s is missing", name)
		}
	}
	checkDifferences(t, found, func(aspect string) bool { return aspect != "since" && aspect != "group" && aspect != "deprecated" })
}

// checkDifferences holds the differences found against the listed ones of the
// aspects a test is about.
func checkDifferences(t *testing.T, found []string, about func(aspect string) bool) {
	t.Helper()
	listed := since70(t)
	slices.Sort(found)
	for _, f := range found {
		if listed[f] == "" {
			t.Errorf("not listed in since-7.0.tsv: %s", f)
		}
		delete(listed, f)
	}
	for l := range listed {
		if about(strings.Split(l, "\t")[1]) {
			t.Errorf("listed in since-7.0.tsv, but not so: %s", l)
		}
	}
}

// changedSince70 returns the commands, and containers of subcommands, whose
// COMMAND INFO differs.
func changedSince70(t *testing.T) map[string]bool {
	out := make(map[string]bool)
	for l := range since70(t) {
		name := strings.Split(l, "\t")[0]
		container, _, _ := strings.Cut(name, "|")
		out[name], out[container] = true, true
	}
	return out
}

// COMMAND INFO is the real server's byte for byte in both protocols, but for the
// order of subcommands (there a hash table's) and the notes.
func TestInfoBytes(t *testing.T) {
	changed := changedSince70(t)
	for _, proto := range []int{2, 3} {
		conn := dialRedis(t, proto)
		for _, c := range Commands() {
			if changed[c.Name] {
				continue
			}
			call := []string{"COMMAND", "INFO", c.Name, "no-such|command"}
			theirs := conn.do(call...)
			ours := reply(t, proto, func(w Reply) { AppendInfo(w, words(call[2:]...)) })
			for _, n := range []*node{theirs, ours} {
				stripNotes(n.sub[0])
				n.sub[0].sub[9].sortByName()
				for _, sub := range n.sub[0].sub[9].sub {
					stripNotes(sub)
				}
			}
			if theirs.String() != ours.String() {
				t.Errorf("RESP%d COMMAND INFO %s:\n%s\nwant\n%s", proto, c, ours, theirs)
			}
		}
	}
}

// COMMAND INFO finds names as the real server does.
func TestInfoNames(t *testing.T) {
	conn := dialRedis(t, 2)
	for _, name := range []string{"GeT", "client|LIST", "CLIENT|nope", "get|", "get|x", "client|", "|", "", "client|list|x", "help", "list"} {
		theirs := conn.do("COMMAND", "INFO", name).sub[0]
		ours := reply(t, 2, func(w Reply) { AppendInfo(w, words(name)) }).sub[0]
		if len(theirs.sub) != len(ours.sub) || len(ours.sub) > 0 && theirs.sub[0].text != ours.sub[0].text {
			t.Errorf("%q: %s, want %s", name, ours, theirs)
		}
	}
}

// COMMAND DOCS tells the same versions and groups.
func TestDocsAgainstRedis(t *testing.T) {
	theirs := docsByName(dialRedis(t, 3).do("COMMAND", "DOCS"), map[string]*node{})
	ours := docsByName(reply(t, 3, func(w Reply) { AppendDocs(w, nil) }), map[string]*node{})
	var found []string
	for name, doc := range ours {
		if doc.get("summary").text == "" {
			t.Errorf("%s has no summary", name)
		}
		if theirs[name] == nil {
			continue // TestTableAgainstRedis finds these
		}
		for _, a := range []struct{ aspect, key string }{{"since", "since"}, {"group", "group"}, {"deprecated", "deprecated_since"}} {
			was, is := docText(theirs[name], a.key), docText(doc, a.key)
			if was != is {
				found = append(found, fmt.Sprintf("%s\t%s\t%s\t%s", name, a.aspect, was, is))
			}
		}
	}
	checkDifferences(t, found, func(aspect string) bool { return aspect == "since" || aspect == "group" || aspect == "deprecated" })
}

func docsByName(n *node, into map[string]*node) map[string]*node {
	for i := 0; i+1 < len(n.sub); i += 2 {
		into[n.sub[i].text] = n.sub[i+1]
		if sub := n.sub[i+1].get("subcommands"); sub != nil {
			docsByName(sub, into)
		}
	}
	return into
}

func docText(doc *node, key string) string {
	if n := doc.get(key); n != nil {
		return n.text
	}
	return "-"
}

// COMMAND DOCS passes over names that are no commands, in both protocols.
func TestDocsNames(t *testing.T) {
	for _, proto := range []int{2, 3} {
		conn := dialRedis(t, proto)
		theirs := conn.do("COMMAND", "DOCS", "nope", "client|list", "GET")
		ours := reply(t, proto, func(w Reply) { AppendDocs(w, words("nope", "client|list", "GET")) })
		if ours.kind != theirs.kind || len(ours.sub) != len(theirs.sub) || ours.sub[0].text != "client|list" || ours.sub[2].text != "get" {
			t.Errorf("RESP%d: %s", proto, ours)
		}
	}
}

// COMMAND COUNT counts what COMMAND lists.
func TestCount(t *testing.T) {
	n := reply(t, 2, AppendCount)
	if all := reply(t, 2, AppendAll); n.text != fmt.Sprint(len(all.sub)) {
		t.Errorf("COMMAND COUNT %s, COMMAND has %d", n.text, len(all.sub))
	}
}
