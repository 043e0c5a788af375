package ssd

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/tiergrid/tiergrid/tiers"
)

// The names in a store's directory.
const (
	markerName  = "STORE"
	markerTemp  = "STORE.tmp"
	lockName    = "LOCK"
	ballastName = "BALLAST"
	pebbleName  = "pebble"
)

// formatVersion is the version of the directory's layout. It only rises.
const formatVersion = 1

// StoreID names one life of a data directory: 128 random bits, drawn when the
// store is created and never changed.
type StoreID [16]byte

// String is the id in hexadecimal, as in the marker file.
func (id StoreID) String() string { return hex.EncodeToString(id[:]) }

// markerFormat is the text of the marker file.
const markerFormat = "tiergrid store\nformat %d\nid %s\n"

func encodeMarker(id StoreID) string { return fmt.Sprintf(markerFormat, formatVersion, id) }

// decodeMarker reads a marker. Whatever doesn't begin like one is foreign.
func decodeMarker(text string) (StoreID, error) {
	var id StoreID
	lines := strings.Split(text, "\n")
	if lines[0] != "tiergrid store" {
		return id, fmt.Errorf("%w: its file %s is none of ours", tiers.ErrForeign, markerName)
	}
	var format int
	var digits string
	if _, err := fmt.Sscanf(text, markerFormat, &format, &digits); err != nil {
		return id, fmt.Errorf("%w: its file %s cannot be read", tiers.ErrDamaged, markerName)
	}
	if format != formatVersion {
		return id, fmt.Errorf("%w: version %d, this program writes %d; use the newer program", tiers.ErrFormat, format, formatVersion)
	}
	raw, err := hex.DecodeString(digits)
	if err == nil && len(raw) == len(id) {
		id = StoreID(raw)
	}
	if encodeMarker(id) != text {
		return StoreID{}, fmt.Errorf("%w: its file %s cannot be read", tiers.ErrDamaged, markerName)
	}
	return id, nil
}

// directory is the locked directory of an open store.
type directory struct {
	fs   vfs.FS
	path string
	id   StoreID
	lock io.Closer
}

// openDirectory locks dir and reads its marker, or makes a new store of it if
// it is empty. Nothing in a foreign or damaged directory is changed.
func openDirectory(fs vfs.FS, dir string) (*directory, error) {
	d := &directory{fs: fs, path: dir}
	names, err := d.list()
	if err != nil {
		return nil, err
	}
	if err := d.refuseForeign(names); err != nil {
		return nil, err
	}
	if err := d.acquire(); err != nil {
		return nil, err
	}
	if err := d.readOrCreate(); err != nil {
		return nil, errors.Join(err, d.lock.Close())
	}
	return d, nil
}

func (d *directory) file(name string) string { return d.fs.PathJoin(d.path, name) }

func (d *directory) list() ([]string, error) {
	if err := d.makePath(); err != nil {
		return nil, fmt.Errorf("ssd: %w", err)
	}
	names, err := d.fs.List(d.path)
	if err != nil {
		return nil, fmt.Errorf("ssd: %w", err)
	}
	return names, nil
}

// refuseForeign accepts a directory with a marker, and one without that holds
// nothing but what a creation that was cut short leaves.
func (d *directory) refuseForeign(names []string) error {
	if slices.Contains(names, markerName) {
		return nil
	}
	for _, name := range names {
		if name != lockName && name != markerTemp && name != "lost+found" {
			return fmt.Errorf("ssd: %s: %w: no %s, but %s; give the node an empty directory", d.path, tiers.ErrForeign, markerName, name)
		}
	}
	return nil
}

func (d *directory) acquire() error {
	lock, err := d.fs.Lock(d.file(lockName))
	if _, isPath := err.(*fs.PathError); isPath {
		return fmt.Errorf("ssd: %w", err)
	}
	if err != nil {
		return fmt.Errorf("ssd: %s: %w by another process", d.path, tiers.ErrLocked)
	}
	d.lock = lock
	return nil
}

func (d *directory) readOrCreate() error {
	f, err := d.fs.Open(d.file(markerName))
	if errors.Is(err, fs.ErrNotExist) {
		return d.create()
	}
	if err != nil {
		return fmt.Errorf("ssd: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return fmt.Errorf("ssd: %w", err)
	}
	d.id, err = decodeMarker(string(text))
	if err != nil {
		return fmt.Errorf("ssd: %s: %w", d.path, err)
	}
	return nil
}

// create writes the marker so that it is there as a whole or not at all.
func (d *directory) create() error {
	if _, err := rand.Read(d.id[:]); err != nil {
		return err
	}
	temp := d.file(markerTemp)
	if err := writeSynced(d.fs, temp, encodeMarker(d.id)); err != nil {
		return fmt.Errorf("ssd: %w", err)
	}
	if err := d.fs.Rename(temp, d.file(markerName)); err != nil {
		return fmt.Errorf("ssd: %w", err)
	}
	for _, path := range []string{d.path, d.fs.PathDir(d.path)} {
		if err := syncDir(d.fs, path); err != nil {
			return fmt.Errorf("ssd: %w", err)
		}
	}
	return nil
}

func writeSynced(fs vfs.FS, path, text string) error {
	f, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text)
	return errors.Join(err, f.Sync(), f.Close())
}

// makePath creates the directory and what is missing above it, durably: each
// new directory is an entry of its parent, which has to be fsynced.
func (d *directory) makePath() error {
	var parents []string
	for path := d.path; ; path = d.fs.PathDir(path) {
		if _, err := d.fs.Stat(path); err == nil {
			break
		}
		parent := d.fs.PathDir(path)
		if parent == path {
			break
		}
		parents = append(parents, parent)
	}
	if err := d.fs.MkdirAll(d.path, 0o750); err != nil {
		return err
	}
	for _, parent := range parents {
		if err := syncDir(d.fs, parent); err != nil {
			return err
		}
	}
	return nil
}

func syncDir(fs vfs.FS, path string) error {
	dir, err := fs.OpenDir(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
