package rules

import (
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

// repository loads the tree that this test stands in.
func repository(t *testing.T) *Tree {
	t.Helper()
	return load(t, os.DirFS("../.."))
}

func load(t *testing.T, root fs.FS) *Tree {
	t.Helper()
	tree, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// plant loads a tree of the given files: name, contents, name, contents…
func plant(t *testing.T, files ...string) *Tree {
	t.Helper()
	root := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		root[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return load(t, root)
}

func TestRepositoryKeepsRules(t *testing.T) {
	tree := repository(t)
	if len(tree.Packages) < 5 || tree.Text["go.mod"] == "" {
		t.Fatalf("read %d packages and %d files: not the repository", len(tree.Packages), len(tree.Files))
	}
	for _, rule := range []struct {
		name  string
		check func(*Tree) []Finding
	}{
		{"imports", Imports},
		{"package docs", PackageDocs},
		{"package names", PackageNames},
		{"top level", TopLevel},
		{"go.mod", GoMod},
		{"words", Words},
		{"documented commands", DocumentedCommands},
	} {
		t.Run(rule.name, func(t *testing.T) {
			for _, f := range rule.check(tree) {
				t.Error(f)
			}
		})
	}
}

// TestLibrariesHaveLines keeps the table of libraries and go.mod together: what
// the module requires directly has a place.
func TestLibrariesHaveLines(t *testing.T) {
	for line := range strings.Lines(repository(t).Text["go.mod"]) {
		path, version, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.HasPrefix(version, "v") || strings.HasSuffix(version, "// indirect") {
			continue
		}
		imp := Import{Path: path, File: "x_test.go", Test: true}
		if f := checkLibrary("nowhere", imp); f != nil && strings.Contains(f.Why, "no line") {
			t.Error(f)
		}
	}
}

// wantFindings fails unless exactly the findings came that contain these words.
func wantFindings(t *testing.T, got []Finding, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d findings, want %d: %v", len(got), len(want), got)
	}
	for i, f := range got {
		if !strings.Contains(f.String(), want[i]) {
			t.Errorf("finding %d is %v, want one that says %q", i, f, want[i])
		}
	}
}

func TestImportsFindsPlanted(t *testing.T) {
	source := func(pkg, imp string) string { return "package " + pkg + "\n\nimport _ \"" + imp + "\"\n" }
	for _, c := range []struct {
		file, imp string
		want      []string
	}{
		{"node/resp/a.go", "strings", nil},
		{"node/resp/a.go", Module + "/node/command", []string{"leaf"}},
		{"node/record/a.go", Module + "/membership/topology", nil},
		{"node/record/a.go", Module + "/membership/users", []string{"leaf"}},
		{"membership/users/a.go", Module + "/node/command", nil},
		{"membership/users/a.go", "golang.org/x/crypto/argon2", nil},
		{"node/server/a.go", "golang.org/x/crypto/argon2", []string{"passwords"}},
		{"proxy/router/a.go", Module + "/node/command", nil},
		{"proxy/router/a.go", Module + "/node/exec", []string{"must not link storage"}},
		{"proxy/session/a.go", Module + "/membership", []string{"must not link storage"}},
		{"node/a.go", Module + "/proxy/grid", []string{"never imports proxy"}},
		{"node/exec/a.go", Module + "/tiers", []string{"no I/O"}},
		{"node/exec/a_test.go", Module + "/tiers", nil},
		{"node/unit/a.go", Module + "/tiers/ssd", []string{"whatever they are made of"}},
		{"tiers/memory/a.go", "github.com/coocood/freecache", nil},
		{"tiers/a.go", "github.com/coocood/freecache", []string{"adapter"}},
		{"tiers/memory/a.go", Module + "/tiers/ssd", []string{"no other tier"}},
		{"tiers/a.go", Module + "/tiers/ssd", []string{"nor any implementation"}},
		{"tiers/a_test.go", Module + "/tiers/tiertest", nil},
		{"tiers/ssd/a.go", "github.com/cockroachdb/pebble/v2/vfs", nil},
		{"node/unit/a.go", "github.com/cockroachdb/pebble/v2/vfs", []string{"adapter"}},
		{"node/unit/a_test.go", "github.com/cockroachdb/pebble/v2/vfs", nil},
		{"proxy/router/a_test.go", "github.com/cockroachdb/pebble/v2/vfs", []string{"adapter"}},
		{"membership/a.go", "github.com/hashicorp/serf/serf", []string{"hint"}},
		{"membership/gossip/a.go", "github.com/hashicorp/serf/serf", nil},
		{"membership/control/a.go", "github.com/hashicorp/raft", nil},
		{"node/a.go", "github.com/urfave/cli/v2", []string{"commands only"}},
		{"loadtest/a.go", "github.com/urfave/cli/v2", nil},
		{"loadtest/a.go", Module + "/node/server", []string{"from outside"}},
		{"admin/a.go", Module + "/node", []string{"declares itself"}},
		{"cmd/tiergrid/a.go", Module + "/node", nil},
		{"cmd/rules/a.go", Module + "/node", []string{"read sources"}},
		{"node/resp/a_test.go", "pgregory.net/rapid", nil},
		{"node/resp/a.go", "pgregory.net/rapid", []string{"for tests"}},
		{"node/resp/a.go", "github.com/redis/go-redis/v9", []string{"test tool"}},
		{"node/a.go", "example.com/new/thing", []string{"no line"}},
		{"elsewhere/a.go", "strings", []string{"no layer"}},
	} {
		t.Run(c.file+" "+c.imp, func(t *testing.T) {
			wantFindings(t, Imports(plant(t, c.file, source("a", c.imp))), c.want...)
		})
	}
}

func TestPackageDocsFindsPlanted(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      []string
	}{
		{"good", "// Package a is good.\npackage a\n", nil},
		{"none", "package a\n", []string{"no package comment"}},
		{"only a directive", "//go:build linux\n\npackage a\n", []string{"no package comment"}},
		{"another name", "// Package b is good.\npackage a\n", []string{"does not begin"}},
		{"no sentence", "// Package a something\npackage a\n", []string{"no full sentence"}},
		{"command", "// Command a runs.\npackage main\n", nil},
		{"command as package", "// Package main runs.\npackage main\n", []string{"does not begin"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantFindings(t, PackageDocs(plant(t, "node/a/a.go", c.src)), c.want...)
		})
	}
	twice := plant(t, "a/a.go", "// Package a is one.\npackage a\n", "a/b.go", "// Package a is two.\npackage a\n")
	wantFindings(t, PackageDocs(twice), "2 package comments")
	inTest := plant(t, "a/a_test.go", "// Package a is a test.\npackage a\n")
	wantFindings(t, PackageDocs(inTest), "no package comment")
}

func TestTopLevelFindsPlanted(t *testing.T) {
	files := []string{"go.mod", "", ".ci/run", "", "bin/tiergrid", "", "data/x.go", "not Go"}
	for _, name := range topLevel {
		files = append(files, name+"/file", "")
	}
	wantFindings(t, TopLevel(plant(t, files...)))
	wantFindings(t, TopLevel(plant(t, append(files, "pkg/a.go", "package a\n")...)), "pkg: an unknown")
	wantFindings(t, TopLevel(plant(t, files[:len(files)-2]...)), "docs: is missing")
}

func TestPackageNamesFindsPlanted(t *testing.T) {
	for _, c := range []struct {
		file, src string
		want      []string
	}{
		{"node/unit/a.go", "package unit\n", nil},
		{"node/unit/a_test.go", "package unit_test\n", nil},
		{"cmd/tiergrid/a.go", "package main\n", nil},
		{"node/util/a.go", "package util\n", []string{"fits any package"}},
		{"node/strutil/a.go", "package strutil\n", []string{"fits any package"}},
		{"node/helpers/a.go", "package main\n", []string{"fits any package"}},
		{"node/unit/a.go", "package common\n", []string{"fits any package"}},
		{"node/unit/a.go", "package other\n", []string{"name of its folder"}},
	} {
		t.Run(c.file+" "+c.src, func(t *testing.T) {
			wantFindings(t, PackageNames(plant(t, c.file, c.src)), c.want...)
		})
	}
}

func TestGoModFindsPlanted(t *testing.T) {
	head := "module " + Module + "\n\nrequire example.com/a v1.0.0\n"
	wantFindings(t, GoMod(plant(t, "go.mod", head)))
	wantFindings(t, GoMod(plant(t, "go.mod", head+"replace example.com/a => ../a\n")), "replace")
	wantFindings(t, GoMod(plant(t, "go.mod", head+"replace (\n\texample.com/a => ../a\n)\n")), "replace", "=>")
}

func TestWordsFindsPlanted(t *testing.T) {
	for _, c := range []struct {
		text string
		want int
	}{
		{"a session is a client's connection; the network is not to blame", 0},
		{"see https://example.com/work/root/", 0},
		{"data in /data/dg, log in /tmp/x", 0},
		{"cd /root/src", 1},
		{"path \"/home/someone/tiergrid\"", 1},
		{"fixes issue #12", 1},
		{"// TODO: the rest", 1},
		{"TODO and FIXME", 2},
	} {
		got := Words(plant(t, "node/a.txt", "first line\n"+c.text+"\n"))
		if len(got) != c.want {
			t.Errorf("%q: %v, want %d findings", c.text, got, c.want)
		}
		for _, f := range got {
			if f.Where != "node/a.txt:2" {
				t.Errorf("%q: found at %s", c.text, f.Where)
			}
		}
	}
}

func TestDocumentedCommandsFindsPlanted(t *testing.T) {
	const makefile = "BIN := bin\ntest: build\n\tgo test\nrun:\n"
	good := "# T\n\nUse `make test`, then make peace.\n\n    $ make run\n\nor `scripts/deps --check`.\n"
	bad := "Use `make nothing`.\n\n```\nmake run && make other\nscripts/gone now\n```\n"
	tree := plant(t, "Makefile", makefile, "scripts/deps", "#!/bin/sh\n", "README.md", good, "docs/a.md", bad)
	wantFindings(t, DocumentedCommands(tree), "make nothing", "make other", "scripts/gone")
}

// TestLoadRefusesBrokenGo shows that a file which does not parse is no silent
// gap in the rules.
func TestLoadRefusesBrokenGo(t *testing.T) {
	if _, err := Load(fstest.MapFS{"a/a.go": {Data: []byte("pakcage a\n")}}); err == nil {
		t.Fatal("a file that is not Go was accepted")
	}
}
