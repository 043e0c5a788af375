package compare

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// benchmark is one call of redis-benchmark.
type benchmark struct {
	program  string
	addr     string
	test     Test
	value    int
	keys     int
	requests int
	within   time.Duration // after that it is killed
}

func (b benchmark) args() ([]string, error) {
	host, port, err := net.SplitHostPort(b.addr)
	if err != nil {
		return nil, err
	}
	n := strconv.Itoa
	return []string{"--csv", "-h", host, "-p", port, "-t", b.test.Command, "-d", n(b.value),
		"-P", n(b.test.Pipeline), "-c", n(b.test.Clients), "-r", n(b.keys), "-n", n(b.requests)}, nil
}

// run returns the one line of the one test.
func (b benchmark) run(ctx context.Context) (Row, error) {
	args, err := b.args()
	if err != nil {
		return Row{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, b.within)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.program, args...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		return Row{}, fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, tail(errOut.String()+out.String()))
	}
	rows, err := ParseCSV(&out)
	switch {
	case err != nil:
		return Row{}, fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, tail(errOut.String()))
	case len(rows) != 1:
		return Row{}, fmt.Errorf("%w: %d tests in place of one", ErrCSV, len(rows))
	case rows[0].RPS == 0:
		return Row{}, fmt.Errorf("%w: no requests per second", ErrCSV)
	}
	return rows[0], nil
}

// tail keeps the end of what a program printed.
func tail(s string) string {
	const keep = 500
	s = strings.TrimSpace(s)
	return s[max(0, len(s)-keep):]
}
