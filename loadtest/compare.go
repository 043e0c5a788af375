package loadtest

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/sys/unix"

	"github.com/tiergrid/tiergrid/loadtest/compare"
	"github.com/tiergrid/tiergrid/loadtest/process"
)

func compareCommand() *cli.Command {
	return &cli.Command{
		Name:  "compare",
		Usage: "set two servers against each other with redis-benchmark",
		Description: "COMMAND is a program and its arguments, split at blanks; {port}, {http} and {dir} in it\n" +
			"stand for two free loopback ports and a folder of its own. For example:\n" +
			"  tiergrid loadtest compare -t set,get -d 1000 -P 16 \\\n" +
			"    --a 'tiergrid server --data {dir} --resp-bind 127.0.0.1:{port} --http-bind 127.0.0.1:{http}' \\\n" +
			"    --b 'redis-server --port {port} --dir {dir} --appendonly yes'",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "a", Required: true, Usage: "`COMMAND` of the first server"},
			&cli.StringFlag{Name: "b", Required: true, Usage: "`COMMAND` of the second server"},
			&cli.StringFlag{Name: "tests", Aliases: []string{"t"}, Value: "set,get", Usage: "tests of redis-benchmark -t"},
			valueFlag(100), keysFlag(100_000),
			&cli.IntFlag{Name: "pipeline", Aliases: []string{"P"}, Value: 1, Usage: "commands sent at once"},
			&cli.IntFlag{Name: "clients", Aliases: []string{"c"}, Value: 50, Usage: "connections"},
			&cli.IntFlag{Name: "requests", Aliases: []string{"n"}, Usage: "requests of a run", DefaultText: "as many as take --time"},
			&cli.DurationFlag{Name: "time", Value: 3 * time.Second, Usage: "length of a run of the slower server"},
			&cli.IntFlag{Name: "pairs", Value: 5, Usage: "how often the servers alternate in each test"},
			&cli.Float64Flag{Name: "need", Usage: "least ratio of a to b that passes"},
		}, outputFlags()...),
		Action: action(compareServers),
	}
}

func compareServers(ctx context.Context, c *cli.Context) error {
	s := compareSuite(c)
	if err := s.Validate(); err != nil {
		return err
	}
	rep := newReport(s.Groups[0].A.Name+" next to "+s.Groups[0].B.Name, s.Pairs)
	return measured(c, rep, func(dir string) (err error) {
		rep.Results, err = compare.Run(ctx, s, compare.Options{Dir: dir, Progress: c.App.ErrWriter})
		return err
	})
}

func compareSuite(c *cli.Context) compare.Suite {
	g := compare.Group{Name: "compare", A: contestant("a", c.String("a")), B: contestant("b", c.String("b")),
		Value: c.Int("value"), Keys: c.Int("keys")}
	for name := range strings.SplitSeq(c.String("tests"), ",") {
		g.Tests = append(g.Tests, compare.Test{
			Name:    fmt.Sprintf("%s %d B, P%d", strings.ToUpper(name), g.Value, c.Int("pipeline")),
			Command: strings.ToLower(name), Pipeline: c.Int("pipeline"), Clients: c.Int("clients"),
			Requests: c.Int("requests"), Need: c.Float64("need"),
		})
	}
	return compare.Suite{Name: "compare", Groups: []compare.Group{g}, Pairs: c.Int("pairs"), RunTime: c.Duration("time")}
}

// contestant names a server by its side and program.
func contestant(side, command string) process.Config {
	args := strings.Fields(command)
	name := side
	if len(args) > 0 {
		name += ": " + args[0][strings.LastIndexByte(args[0], '/')+1:]
	}
	return process.Config{Name: name, Args: args}
}

// onDisk refuses a folder in memory: writing there costs nothing, and the
// comparison would be of something else.
func onDisk(dir string) error {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	if st.Type == unix.TMPFS_MAGIC || st.Type == unix.RAMFS_MAGIC {
		return fmt.Errorf("%s is in memory: name a folder on a disk with --dir", dir)
	}
	return nil
}
