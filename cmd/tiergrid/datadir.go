package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tiergrid/tiergrid/membership"
	"github.com/tiergrid/tiergrid/node"
	"github.com/tiergrid/tiergrid/tiers"
)

// prepareData makes the data directory, unless there is one. A directory that
// holds files and is none of ours is refused: a mistyped path must not mix our
// files into others.
func prepareData(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, ours := range []string{node.StoreDir(dir), membership.ControlDir(dir)} {
		if _, err := os.Stat(ours); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return onlyLostAndFound(dir)
}

// onlyLostAndFound accepts the root of a new file system as empty.
func onlyLostAndFound(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != "lost+found" {
			return fmt.Errorf("%w: %s; name an empty directory, or one that does not exist", tiers.ErrForeign, filepath.Join(dir, e.Name()))
		}
	}
	return nil
}
