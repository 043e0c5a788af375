package loadtest

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/tiergrid/tiergrid/loadtest/load"
)

// Command returns the command "loadtest".
func Command() *cli.Command {
	return &cli.Command{
		Name:  "loadtest",
		Usage: "measure speed and memory, and compare servers",
		Subcommands: []*cli.Command{
			benchCommand(), compareCommand(), fillCommand(), idleCommand(),
		},
	}
}

// action runs do with a context that ends at an interrupt, so that servers which
// were started are ended in order.
func action(do func(ctx context.Context, c *cli.Context) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		ctx, stop := signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM)
		defer stop()
		return do(ctx, c)
	}
}

func addrFlag() cli.Flag {
	return &cli.StringFlag{Name: "addr", Value: "127.0.0.1:6379", Usage: "RESP `ADDRESS` of a running server"}
}

func keysFlag(value int) cli.Flag {
	return &cli.IntFlag{Name: "keys", Aliases: []string{"r"}, Value: value, Usage: "number of keys"}
}

func valueFlag(value int) cli.Flag {
	return &cli.IntFlag{Name: "value", Aliases: []string{"d"}, Value: value, Usage: "`BYTES` of a value"}
}

func fillCommand() *cli.Command {
	return &cli.Command{
		Name:  "fill",
		Usage: "write every key that redis-benchmark -r reads",
		Flags: []cli.Flag{addrFlag(), keysFlag(100_000), valueFlag(100),
			&cli.BoolFlag{Name: "check", Usage: "then read as many at random and compare"}},
		Action: action(fill),
	}
}

func fill(ctx context.Context, c *cli.Context) error {
	cfg := load.FillConfig{Addr: c.String("addr"), Keys: c.Int("keys"), Value: c.Int("value")}
	start := time.Now()
	if err := load.Fill(ctx, cfg); err != nil {
		return err
	}
	rate(c, "wrote", cfg.Keys, start)
	if !c.Bool("check") {
		return nil
	}
	start = time.Now()
	if err := load.Read(ctx, cfg, cfg.Keys); err != nil {
		return err
	}
	rate(c, "read and compared", cfg.Keys, start)
	return nil
}

func rate(c *cli.Context, what string, n int, start time.Time) {
	took := time.Since(start).Seconds()
	fmt.Fprintf(c.App.Writer, "%s %d keys in %.1f s, %.0f/s\n", what, n, took, float64(n)/took)
}

func idleCommand() *cli.Command {
	return &cli.Command{
		Name:  "idle",
		Usage: "hold connections that do nothing",
		Flags: []cli.Flag{addrFlag(),
			&cli.IntFlag{Name: "connections", Aliases: []string{"c"}, Value: 10_000, Usage: "how many"},
			&cli.DurationFlag{Name: "hold", Value: 30 * time.Second, Usage: "how long"}},
		Action: action(idle),
	}
}

func idle(ctx context.Context, c *cli.Context) error {
	conns, err := load.OpenIdle(ctx, c.String("addr"), c.Int("connections"))
	if err != nil {
		return err
	}
	defer conns.Close()
	fmt.Fprintf(c.App.Writer, "%d connections are open for %v\n", conns.Len(), c.Duration("hold"))
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(c.Duration("hold")):
		return conns.Check()
	}
}
