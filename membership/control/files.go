package control

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// files is the directory of a log. Tests put faults behind it.
type files interface {
	// read returns a whole file, or an error that is fs.ErrNotExist.
	read(name string) ([]byte, error)
	// create makes an empty file in place of one of that name.
	create(name string) (file, error)
	open(name string) (file, error)
	rename(from, to string) error
	remove(name string) error
	// sync makes creations and renames durable.
	sync() error
}

// file is one open file of a log.
type file interface {
	io.WriterAt
	Truncate(size int64) error
	Sync() error
	Close() error
}

// directory is the real thing. Files hold password hashes, so they are for their
// owner only.
type directory string

func (d directory) path(name string) string { return filepath.Join(string(d), name) }

func (d directory) read(name string) ([]byte, error) { return os.ReadFile(d.path(name)) }

func (d directory) create(name string) (file, error) {
	return os.OpenFile(d.path(name), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
}

func (d directory) open(name string) (file, error) { return os.OpenFile(d.path(name), os.O_RDWR, 0) }

func (d directory) rename(from, to string) error { return os.Rename(d.path(from), d.path(to)) }

func (d directory) remove(name string) error { return os.Remove(d.path(name)) }

func (d directory) sync() error { return syncDirectory(string(d)) }

func syncDirectory(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// openDirectory makes the directory if need be, and locks it for this process.
// The lock ends with the process, however that ends.
func openDirectory(path string) (directory, *os.File, error) {
	if path == "" {
		return "", nil, fmt.Errorf("control: %w: no directory", ErrInvalid)
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return "", nil, fmt.Errorf("control: %w", err)
	}
	if err := syncDirectory(filepath.Dir(path)); err != nil {
		return "", nil, fmt.Errorf("control: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(path, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return "", nil, fmt.Errorf("control: %w", err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		lock.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return "", nil, fmt.Errorf("%w: %s", ErrLocked, path)
		}
		return "", nil, fmt.Errorf("control: lock %s: %w", path, err)
	}
	return directory(path), lock, nil
}
