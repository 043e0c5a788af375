package footprint

import (
	"errors"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/tiergrid/tiergrid/loadtest/internal/fakeserver"
	"github.com/tiergrid/tiergrid/loadtest/process"
)

func TestMain(m *testing.M) {
	fakeserver.Main()
	goleak.VerifyTestMain(m)
}

var fake = process.Config{Name: "fake", Args: fakeserver.Args("")}

// TestHolding measures a server that keeps everything in memory.
func TestHolding(t *testing.T) {
	dir := t.TempDir()
	h := Holding{Name: "h", Server: fake, Value: 10_000, Keys: 2000, Reads: 500, Limit: 20_000_000}
	res, err := h.Run(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if res.Got < 20_000_000 || res.Pass() || res.Peak < res.Got {
		t.Errorf("20 MB of values in memory: %+v", res)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("%s was left behind", left[0].Name())
	}
}

func TestIdling(t *testing.T) {
	i := Idling{Name: "i", Server: fake, Connections: 500, Limit: 1_000_000}
	res, err := i.Run(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if res.Got < 2_000 || !res.Pass() {
		t.Errorf("two buffers of 4 kB a connection: %+v", res)
	}
}

func TestServerThatEnds(t *testing.T) {
	gone := process.Config{Name: "gone", Args: fakeserver.Args("exit")}
	if _, err := (Holding{Server: gone, Keys: 1}).Run(t.Context(), t.TempDir()); !errors.Is(err, process.ErrEnded) {
		t.Errorf("holding: %v", err)
	}
	if _, err := (Idling{Server: gone, Connections: 1}).Run(t.Context(), t.TempDir()); !errors.Is(err, process.ErrEnded) {
		t.Errorf("idling: %v", err)
	}
}
