package report

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Machine is what the numbers were taken on.
type Machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Memory int64  `json:"memory_bytes"`
	Kernel string `json:"kernel"`
}

func (m Machine) String() string {
	return fmt.Sprintf("%d cores of %s, %.0f GB of memory, Linux %s", m.Cores, m.CPU, float64(m.Memory)/1e9, m.Kernel)
}

// ThisMachine reads what /proc tells; what it does not tell stays empty.
func ThisMachine() Machine {
	return Machine{
		CPU:    procValue("/proc/cpuinfo", "model name"),
		Cores:  runtime.NumCPU(),
		Memory: kiloBytes(procValue("/proc/meminfo", "MemTotal")),
		Kernel: strings.TrimSpace(string(readAll("/proc/sys/kernel/osrelease"))),
	}
}

func readAll(name string) []byte {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	return b
}

// procValue finds the first line "name : value".
func procValue(file, name string) string {
	for line := range bytes.Lines(readAll(file)) {
		key, value, ok := strings.Cut(string(line), ":")
		if ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func kiloBytes(s string) int64 {
	n, err := strconv.ParseInt(strings.TrimSuffix(s, " kB"), 10, 64)
	if err != nil {
		return 0
	}
	return n << 10
}

// Version is the first line that a program prints about its version, when called
// with the given arguments.
func Version(ctx context.Context, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, args...).Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", program, strings.Join(args, " "), err)
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return first, nil
}
