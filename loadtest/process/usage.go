package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// Usage is what a process has used.
type Usage struct {
	// CPU is the processor time of all its threads, and of its children that
	// ended: a server may leave work to a forked copy of itself.
	CPU time.Duration
	// RSS and PeakRSS are bytes of memory in use now and at most so far.
	RSS, PeakRSS int64
}

// tick is the unit of processor times in /proc, the same on every Linux.
const tick = 10 * time.Millisecond

// ReadUsage reads the usage of a process.
func ReadUsage(pid int) (Usage, error) {
	dir := "/proc/" + strconv.Itoa(pid)
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return Usage{}, err
	}
	status, err := os.ReadFile(dir + "/status")
	if err != nil {
		return Usage{}, err
	}
	u, err := parseUsage(stat, status)
	if err != nil {
		return Usage{}, fmt.Errorf("read %s: %w", dir, err)
	}
	return u, nil
}

func parseUsage(stat, status []byte) (u Usage, err error) {
	if u.CPU, err = parseStat(stat); err != nil {
		return Usage{}, err
	}
	if u.RSS, err = statusBytes(status, "VmRSS:"); err != nil {
		return Usage{}, err
	}
	if u.PeakRSS, err = statusBytes(status, "VmHWM:"); err != nil {
		return Usage{}, err
	}
	return u, nil
}

// parseStat adds up fields 14 to 17 of /proc/PID/stat: user and system time of
// the process and of its waited-for children. Field 2 is the name in parentheses
// and may itself hold blanks and parentheses, so counting begins after the last.
func parseStat(stat []byte) (time.Duration, error) {
	const first, last, afterName = 14, 17, 3
	end := bytes.LastIndexByte(stat, ')')
	fields := bytes.Fields(stat[end+1:])
	if end < 0 || len(fields) <= last-afterName {
		return 0, fmt.Errorf("stat has %d fields after the name", len(fields))
	}
	var sum time.Duration
	for _, f := range fields[first-afterName : last-afterName+1] {
		n, err := strconv.ParseInt(string(f), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("stat: %w", err)
		}
		sum += time.Duration(n) * tick
	}
	return sum, nil
}

// statusBytes returns the value of a line of /proc/PID/status that is in kB.
func statusBytes(status []byte, name string) (int64, error) {
	for line := range bytes.Lines(status) {
		rest, ok := bytes.CutPrefix(line, []byte(name))
		if !ok {
			continue
		}
		kb, isKB := bytes.CutSuffix(bytes.TrimSpace(rest), []byte(" kB"))
		n, err := strconv.ParseInt(string(kb), 10, 64)
		if err != nil || !isKB {
			return 0, fmt.Errorf("status: %q", line)
		}
		return n << 10, nil
	}
	return 0, fmt.Errorf("status has no line %s", name)
}
