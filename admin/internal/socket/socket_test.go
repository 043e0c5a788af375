package socket

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func listen(t *testing.T, path string) net.Listener {
	t.Helper()
	ln, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	return ln
}

func TestOnlyTheOwnerMayConnect(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	path := Path(t.TempDir())
	listen(t, path)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

func TestCloseRemovesTheFile(t *testing.T) {
	path := Path(t.TempDir())
	listen(t, path).Close()
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("stat: %v", err)
	}
}

// TestFileOfAKilledProcess leaves the file as a killed process does.
func TestFileOfAKilledProcess(t *testing.T) {
	path := Path(t.TempDir())
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close()
	listen(t, path)
	c, err := Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

func TestLivingProcessKeepsItsSocket(t *testing.T) {
	path := Path(t.TempDir())
	listen(t, path)
	if _, err := Listen(path); !errors.Is(err, ErrInUse) {
		t.Errorf("a second Listen: %v", err)
	}
	c, err := Dial(t.Context(), path)
	if err != nil {
		t.Fatalf("the first listener is gone: %v", err)
	}
	c.Close()
}

func TestOtherFilesStay(t *testing.T) {
	path := Path(t.TempDir())
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(path); !errors.Is(err, ErrNotSocket) {
		t.Errorf("Listen: %v", err)
	}
	if b, _ := os.ReadFile(path); string(b) != "mine" {
		t.Error("the file was touched")
	}
}

func TestLongPaths(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long/", 30))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := Path(dir)
	ln := listen(t, path)
	c, err := Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	ln.Close()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file stays: %v", err)
	}
}

func TestMissingDirectory(t *testing.T) {
	for _, dir := range []string{"no", strings.Repeat("no/", 50)} {
		path := Path(filepath.Join(t.TempDir(), dir))
		if _, err := Listen(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Listen: %v", err)
		}
		if _, err := Dial(context.Background(), path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Dial: %v", err)
		}
	}
}
