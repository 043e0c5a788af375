package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestHugePages: the process asks for huge pages where it goes through memory at
// random, which are the memory tier and the memtables. Whether it gets them is up to
// the system.
func TestHugePages(t *testing.T) {
	t.Parallel()
	const rings, memtable = 48 << 20, 3 << 20 // at least, of what is configured
	s := startServer(t, "--memory-max-size", "64MiB")
	before := hugePages(t, s.cmd.Process.Pid)
	if before < rings {
		t.Errorf("huge pages were asked for %d bytes in the beginning, want %d or more", before, rings)
	}
	c := s.client()
	value := strings.Repeat("v", 16<<10)
	eventually(t, "huge pages for memtables", func() bool {
		pipe := c.Pipeline() // memtables begin small and grow with each that is full
		for i := range 100 {
			pipe.Set(t.Context(), fmt.Sprint("key:", i), value, 0)
		}
		if _, err := pipe.Exec(t.Context()); err != nil {
			t.Fatal(err)
		}
		return hugePages(t, s.cmd.Process.Pid) >= before+memtable
	})
}

// hugePages returns for how many bytes a process has asked for huge pages.
func hugePages(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps", pid))
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	var first, last int
	for line := range strings.Lines(string(text)) {
		var from, to int
		if n, _ := fmt.Sscanf(line, "%x-%x ", &from, &to); n == 2 {
			first, last = from, to // of a mapping, whose properties follow
		}
		flags, ok := strings.CutPrefix(line, "VmFlags:")
		if ok && strings.Contains(flags, " hg") {
			asked += last - first
		}
	}
	return asked
}
