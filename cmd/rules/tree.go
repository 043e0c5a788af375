package rules

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Module is the import path of this repository's module.
const Module = "github.com/tiergrid/tiergrid"

// maxText is the size above which a file is taken for data and not read.
const maxText = 1 << 20

// notOurs are top-level folders that are made here but are no part of the tree.
var notOurs = map[string]bool{"bin": true, "data": true, "tmp": true, ".git": true}

// Finding is one breach of a rule.
type Finding struct {
	Where string // file, folder or package, relative to the root
	What  string // what is there
	Why   string // the reason of the rule, and what to do instead
}

func (f Finding) String() string { return f.Where + ": " + f.What + "\n\t" + f.Why }

// Import is one import statement.
type Import struct {
	Path string
	File string
	Test bool // stands in a _test.go file
}

// Package is the Go code of one folder, external tests included.
type Package struct {
	Dir     string // relative to the root, with slashes
	Name    string
	Docs    []string // package comments outside test files
	Imports []Import
}

// Tree is what the rules look at. It is not changed after Load.
type Tree struct {
	Packages []*Package
	Files    []string          // every file, relative to the root
	Text     map[string]string // contents of the text files
	Top      []fs.DirEntry     // the top level, without what is made here
}

// Load reads the tree under root.
func Load(root fs.FS) (*Tree, error) {
	t := &Tree{Text: map[string]string{}}
	packages := map[string]*Package{}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == ".":
			return nil
		case notOurs[name]:
			return fs.SkipDir
		}
		if path.Dir(name) == "." {
			t.Top = append(t.Top, d)
		}
		if !d.Type().IsRegular() {
			return nil
		}
		return t.addFile(root, name, packages)
	})
	return t, err
}

// addFile records one file, and if it is Go its package.
func (t *Tree) addFile(root fs.FS, name string, packages map[string]*Package) error {
	t.Files = append(t.Files, name)
	info, err := fs.Stat(root, name)
	if err != nil || info.Size() > maxText {
		return err
	}
	b, err := fs.ReadFile(root, name)
	if err != nil {
		return err
	}
	if strings.IndexByte(string(b), 0) < 0 {
		t.Text[name] = string(b)
	}
	if !strings.HasSuffix(name, ".go") || strings.Contains(name, "testdata/") {
		return nil
	}
	dir := path.Dir(name)
	p := packages[dir]
	if p == nil {
		p = &Package{Dir: dir}
		packages[dir] = p
		t.Packages = append(t.Packages, p)
	}
	return p.addFile(name, b)
}

// addFile records the imports and the package comment of a Go file.
func (p *Package) addFile(name string, src []byte) error {
	f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return fmt.Errorf("parse: %w", err)
	}
	test := strings.HasSuffix(name, "_test.go")
	if !test || p.Name == "" {
		p.Name = strings.TrimSuffix(f.Name.Name, "_test")
	}
	if f.Doc != nil && !test {
		p.Docs = append(p.Docs, f.Doc.Text())
	}
	for _, spec := range f.Imports {
		p.Imports = append(p.Imports, Import{Path: importPath(spec), File: name, Test: test})
	}
	return nil
}

// importPath unquotes; the parser has made sure that this succeeds.
func importPath(spec *ast.ImportSpec) string {
	s, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		panic("unquoted import path " + spec.Path.Value)
	}
	return s
}

// within says whether dir is one of the patterns or, where a pattern ends in
// "/...", lies below it or is it.
func within(dir string, patterns []string) bool {
	for _, p := range patterns {
		base, deep := strings.CutSuffix(p, "/...")
		if dir == base || deep && strings.HasPrefix(dir, base+"/") {
			return true
		}
	}
	return false
}
