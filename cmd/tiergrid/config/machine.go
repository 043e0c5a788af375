package config

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// machineMemory is the memory of the control group this process is in, or of the
// machine where that is less, in bytes.
func machineMemory() (int64, error) {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0, err
	}
	total := int64(info.Totalram) * int64(info.Unit)
	if limit, ok := controlGroupLimit(); ok {
		total = min(total, limit)
	}
	return total, nil
}

// controlGroupLimit reads the limit of a unified control group; other kinds and
// no limit are not ok.
func controlGroupLimit() (int64, bool) {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return 0, false
	}
	_, path, found := strings.Cut(strings.TrimSpace(string(own)), "0::")
	if !found {
		return 0, false
	}
	text, err := os.ReadFile(filepath.Join("/sys/fs/cgroup", path, "memory.max"))
	if err != nil {
		return 0, false
	}
	limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return limit, err == nil
}

// diskSize is the size of the file system that a directory is on, or will be.
func diskSize(dir string) (int64, error) {
	var stat unix.Statfs_t
	err := unix.Statfs(dir, &stat)
	for errors.Is(err, unix.ENOENT) && dir != "." && dir != "/" {
		dir = filepath.Dir(dir)
		err = unix.Statfs(dir, &stat)
	}
	return int64(stat.Blocks) * stat.Bsize, err
}
