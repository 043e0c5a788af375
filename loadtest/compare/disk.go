package compare

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncDisk writes out what the file system of dir holds back, so that one run
// does not pay for the writes of the run before it.
func syncDisk(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Syncfs(int(f.Fd()))
}
