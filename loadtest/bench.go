package loadtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/tiergrid/tiergrid/loadtest/compare"
	"github.com/tiergrid/tiergrid/loadtest/footprint"
	"github.com/tiergrid/tiergrid/loadtest/report"
	"github.com/tiergrid/tiergrid/loadtest/suites"
)

// outputFlags say where servers work and where reports go.
func outputFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "dir", Value: "/var/tmp", Usage: "the servers' data goes below `DIR`, which must be on a disk"},
		&cli.StringFlag{Name: "markdown", Usage: "also write the report to `FILE`, such as docs/benchmarks/small-values.md"},
		&cli.StringFlag{Name: "json", Usage: "also write every run to `FILE`"},
	}
}

func benchCommand() *cli.Command {
	return &cli.Command{
		Name:  "bench",
		Usage: "speed and memory of a server next to redis-server; fails when a requirement is missed",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "tiergrid", Usage: "`BINARY` to measure", DefaultText: "this one"},
			&cli.StringFlag{Name: "redis", Value: "redis-server", Usage: "`BINARY` to measure against"},
			&cli.BoolFlag{Name: "quick", Usage: "about three minutes in place of fifteen: fewer, shorter runs and less data"},
			&cli.IntFlag{Name: "pairs", Usage: "how often the servers alternate in each test", DefaultText: "5, quick 3"},
			&cli.StringFlag{Name: "only", Usage: "only what has `WORDS` in its name, such as \"GET 100 B\" or idle"},
		}, outputFlags()...),
		Action: action(bench),
	}
}

func bench(ctx context.Context, c *cli.Context) error {
	programs := suites.Programs{Tiergrid: c.String("tiergrid"), Redis: c.String("redis")}
	if programs.Tiergrid == "" {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		programs.Tiergrid = self
	}
	s := suites.NewServer(programs, c.Bool("quick"))
	if n := c.Int("pairs"); n > 0 {
		s.Compare.Pairs = n
	}
	if s = s.Only(c.String("only")); s.Empty() {
		return fmt.Errorf("nothing to measure has %q in its name", c.String("only"))
	}
	rep := newReport("One server next to redis-server", s.Compare.Pairs)
	if err := versions(ctx, rep, programs); err != nil {
		return err
	}
	return measured(c, rep, func(dir string) error { return runServer(ctx, c, s, dir, rep) })
}

// versions asks the programs who they are; it also finds a missing one before
// anything was measured.
func versions(ctx context.Context, rep *report.Report, p suites.Programs) error {
	for _, program := range [][]string{{p.Tiergrid, "version"}, {p.Redis, "--version"}, {"redis-benchmark", "--version"}} {
		v, err := report.Version(ctx, program[0], program[1:]...)
		if err != nil {
			return err
		}
		rep.Programs = append(rep.Programs, v)
	}
	return nil
}

// runServer runs all of the suite and keeps what was measured up to an error.
func runServer(ctx context.Context, c *cli.Context, s suites.Server, dir string, rep *report.Report) (err error) {
	if len(s.Compare.Groups) > 0 {
		if rep.Results, err = compare.Run(ctx, s.Compare, compare.Options{Dir: dir, Progress: c.App.ErrWriter}); err != nil {
			return err
		}
	}
	keep := func(res footprint.Result, err error) error {
		if err == nil {
			rep.Footprints = append(rep.Footprints, res)
			fmt.Fprintf(c.App.ErrWriter, "%s: %d %s\n", res.Name, res.Got, res.Unit)
		}
		return err
	}
	for _, h := range s.Holding {
		if err := keep(h.Run(ctx, dir)); err != nil {
			return err
		}
	}
	for _, i := range s.Idling {
		if err := keep(i.Run(ctx, dir)); err != nil {
			return err
		}
	}
	return nil
}

func newReport(title string, pairs int) *report.Report {
	return &report.Report{
		Title: title, Taken: time.Now(), Machine: report.ThisMachine(),
		Method: fmt.Sprintf("The servers took turns, %d times in each test, with every key written before; "+
			"numbers are medians with the least and greatest run, and a ratio is that of neighbouring runs.", pairs),
	}
}

// measured runs do in a new folder, removes it, and writes the report, also one
// that an error cut short. A missed requirement is an error.
func measured(c *cli.Context, rep *report.Report, do func(dir string) error) error {
	if err := onDisk(c.String("dir")); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(c.String("dir"), "tiergrid-loadtest-")
	if err != nil {
		return err
	}
	err = errors.Join(do(dir), os.RemoveAll(dir))
	if err = errors.Join(err, write(c, rep)); err != nil {
		return err
	}
	if missed := rep.Missed(); len(missed) > 0 {
		return fmt.Errorf("missed: %s", strings.Join(missed, "; "))
	}
	return nil
}

// write prints the report and writes the files that were asked for.
func write(c *cli.Context, rep *report.Report) error {
	errs := []error{rep.Text(c.App.Writer)}
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{c.String("markdown"), rep.Markdown},
		{c.String("json"), rep.JSON},
	} {
		if f.name != "" {
			errs = append(errs, writeFile(f.name, f.write))
		}
	}
	return errors.Join(errs...)
}

func writeFile(name string, write func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
