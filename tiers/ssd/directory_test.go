package ssd

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tiergrid/tiergrid/tiers"
)

// TestMarkerGolden: the marker of format 1 reads and is written like this for
// ever.
func TestMarkerGolden(t *testing.T) {
	text, err := os.ReadFile("testdata/marker-1")
	if err != nil {
		t.Fatal(err)
	}
	var id StoreID
	for i := range id {
		id[i] = byte(i)
	}
	if got := encodeMarker(id); got != string(text) {
		t.Errorf("written as %q, want %q", got, text)
	}
	if got, err := decodeMarker(string(text)); err != nil || got != id {
		t.Errorf("read as %v, %v", got, err)
	}
}

func TestDecodeMarkerErrors(t *testing.T) {
	const id = "000102030405060708090a0b0c0d0e0f"
	for text, want := range map[string]error{
		"":                         tiers.ErrForeign,
		"another program's file\n": tiers.ErrForeign,
		"tiergrid store\nformat 2\nid " + id + "\n":     tiers.ErrFormat,
		"tiergrid store\nformat 1\nid 0001\n":           tiers.ErrDamaged,
		"tiergrid store\nformat 1\nid " + id + "\nmore": tiers.ErrDamaged,
		"tiergrid store\nformat x":                      tiers.ErrDamaged,
		"tiergrid store":                                tiers.ErrDamaged,
	} {
		if _, err := decodeMarker(text); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
}

func FuzzDecodeMarker(f *testing.F) {
	f.Add(encodeMarker(StoreID{1, 2, 3}))
	f.Add("tiergrid store\nformat 1\nid zz\n")
	f.Fuzz(func(t *testing.T, text string) {
		id, err := decodeMarker(text)
		if err == nil && encodeMarker(id) != text {
			t.Errorf("%q was accepted as %v", text, id)
		}
	})
}

func openError(t *testing.T, c Config) error {
	t.Helper()
	c.Logger = quiet
	s, err := Open(c)
	if err == nil {
		_ = s.Close()
		t.Fatal("the store was opened")
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("the error has more than one line: %q", err)
	}
	return err
}

func TestForeignDirectoryIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "thesis.txt")
	if err := os.WriteFile(file, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := openError(t, Config{Dir: dir}); !errors.Is(err, tiers.ErrForeign) || !strings.Contains(err.Error(), "thesis.txt") {
		t.Errorf("error %v", err)
	}
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != 1 {
		t.Errorf("the directory now has %v, %v", names, err)
	}
}

func TestUnusableDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := openError(t, Config{Dir: filepath.Join(file, "store")}); errors.Is(err, tiers.ErrDamaged) {
		t.Errorf("a path through a file is called damage: %v", err)
	}
}

func TestLockedBySameProcess(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	if err := openError(t, Config{Dir: dir}); !errors.Is(err, tiers.ErrLocked) {
		t.Errorf("error %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := open(t, Config{Dir: dir}).Close(); err != nil {
		t.Errorf("the lock wasn't released: %v", err)
	}
}

// TestLockedByOtherProcess runs this test once more as the other process, and
// kills it: the lock goes with it, its rows stay.
func TestLockedByOtherProcess(t *testing.T) {
	if dir := os.Getenv("TIERGRID_TEST_HOLD"); dir != "" {
		s := open(t, Config{Dir: dir})
		mustApply(t, s, true, func(b *tiers.Batch) { b.Set([]byte("k"), []byte("v")) })
		_, _ = os.Stdout.WriteString("holding")
		select {}
	}
	dir := t.TempDir()
	other := exec.Command(os.Args[0], "-test.run=^TestLockedByOtherProcess$")
	other.Env = append(os.Environ(), "TIERGRID_TEST_HOLD="+dir)
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	if n, err := out.Read(make([]byte, 7)); err != nil {
		t.Errorf("read %d bytes from the other process: %v", n, err)
	}
	if err := openError(t, Config{Dir: dir}); !errors.Is(err, tiers.ErrLocked) {
		t.Errorf("error %v", err)
	}
	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = other.Wait() // it was killed
	s := open(t, Config{Dir: dir})
	defer s.Close()
	if _, found := read(t, s, "k"); !found {
		t.Error("a durable row is gone after a kill")
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []Config{
		{}, {Dir: "d", MaxSize: -1}, {Dir: "d", MemTable: 1000}, {Dir: "d", MemTables: 1},
	} {
		if _, err := Open(c); err == nil {
			t.Errorf("%+v was opened", c)
		}
	}
}
