// Package rules holds the rules of this repository that a machine can check, and
// its tests hold the repository to them: which package may import which, where
// each library may be used, package documentation, names, the top level of the
// tree, words that do not belong here, and that the make targets which the
// documentation names exist.
//
// Load reads a tree once into a Tree; each rule is a function from a Tree to
// Findings, and a Finding says where, what and why, so that a failing test is
// enough to know what to do. Nothing here is linked into the binary. The rules
// look at sources only: they do not build, do not follow imports through other
// packages and do not see what generated code or cgo would add.
package rules
