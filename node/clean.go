package node

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// The mark of a clean stop is an empty file, synced last when a node stops and
// removed when it opens, before anything is written (R1).
const cleanMark = "clean"

// takeCleanMark removes the mark and tells whether there was one.
func takeCleanMark(data string) (bool, error) {
	err := os.Remove(filepath.Join(data, cleanMark))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, syncDir(data)
}

func leaveCleanMark(data string) error {
	f, err := os.OpenFile(filepath.Join(data, cleanMark), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return syncDir(data)
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
