package process

import (
	"os"
	"strings"
	"testing"
	"time"
)

const (
	goodStat   = "4711 (a (odd) name) S 1 4711 4711 0 -1 4194560 10 0 0 0 150 50 7 3 20 0 9 0 100 0 0\n"
	goodStat2  = "1 (x) R 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0\n"
	goodStatus = "Name:\tx\nVmPeak:\t  999 kB\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\nThreads:\t9\n"
)

func TestParseUsage(t *testing.T) {
	u, err := parseUsage([]byte(goodStat), []byte(goodStatus))
	want := Usage{CPU: 2100 * time.Millisecond, RSS: 1 << 20, PeakRSS: 2 << 20}
	if err != nil || u != want {
		t.Errorf("%+v, %v, want %+v", u, err, want)
	}
	if u, err := parseUsage([]byte(goodStat2), []byte(goodStatus)); err != nil || u.CPU != 0 {
		t.Errorf("%+v, %v", u, err)
	}
}

func TestParseUsageRefuses(t *testing.T) {
	for _, c := range []struct{ name, stat, status string }{
		{"empty", "", goodStatus},
		{"no name", strings.ReplaceAll(goodStat, ")", ""), goodStatus},
		{"short", "4711 (x) S 1 2 3", goodStatus},
		{"no number", strings.Replace(goodStat, "150", "1x0", 1), goodStatus},
		{"no RSS", goodStat, strings.Replace(goodStatus, "VmRSS", "VmOther", 1)},
		{"no peak", goodStat, strings.Replace(goodStatus, "VmHWM", "VmOther", 1)},
		{"another unit", goodStat, strings.Replace(goodStatus, "1024 kB", "1024 MB", 1)},
		{"no size", goodStat, strings.Replace(goodStatus, "1024 kB", "x kB", 1)},
	} {
		if u, err := parseUsage([]byte(c.stat), []byte(c.status)); err == nil {
			t.Errorf("%s: accepted as %+v", c.name, u)
		}
	}
}

func FuzzParseUsage(f *testing.F) {
	f.Add(goodStat, goodStatus)
	f.Add("1 () S", "VmRSS: kB")
	f.Fuzz(func(t *testing.T, stat, status string) {
		if u, err := parseUsage([]byte(stat), []byte(status)); err != nil && u != (Usage{}) {
			t.Errorf("an error came with %+v", u)
		}
	})
}

// TestReadUsageCountsWork reads this process, before and after it worked.
func TestReadUsageCountsWork(t *testing.T) {
	before, err := ReadUsage(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 64<<20)
	deadline := time.Now().Add(10 * time.Second)
	for round := byte(1); ; round++ {
		for i := range data {
			data[i] += round
		}
		now, err := ReadUsage(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		if now.CPU > before.CPU && now.PeakRSS > before.RSS+32<<20 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("before %+v, after %+v", before, now)
		}
	}
}

func TestReadUsageOfNobody(t *testing.T) {
	if _, err := ReadUsage(1 << 30); !os.IsNotExist(err) {
		t.Errorf("error %v", err)
	}
}
