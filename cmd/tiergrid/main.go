// Command tiergrid is the one binary: the server, and the tools that talk to it.
//
// Here everything is joined: flags become a configuration, the configuration a
// server, and the parts, which do not know each other, get the interfaces they
// ask for. Nothing else in the tree imports this package.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/urfave/cli/v2"

	admincli "github.com/tiergrid/tiergrid/admin/cli"
	"github.com/tiergrid/tiergrid/loadtest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	tiergrid := app()
	err := tiergrid.RunContext(ctx, admincli.FlagsFirst(tiergrid, os.Args))
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "tiergrid: %v\n", err)
		os.Exit(exitCode(err))
	}
}

// exitCode is that of a command which failed: its own, or 1.
func exitCode(err error) int {
	if coded, ok := errors.AsType[cli.ExitCoder](err); ok {
		return coded.ExitCode()
	}
	return 1
}

// app is the command line. A signal ends the context of a command.
func app() *cli.App {
	users := admincli.Config{Data: defaultData, Offline: openOffline}
	return &cli.App{
		Name:                 "tiergrid",
		Usage:                "a Redis-compatible proxy tier over a storage grid",
		Version:              buildVersion(),
		HideVersion:          true,
		EnableBashCompletion: true,
		ExitErrHandler:       func(*cli.Context, error) {},
		OnUsageError:         onUsage,
		Action:               noCommand,
		Commands: []*cli.Command{
			serverCommand(),
			admincli.User(users),
			configCommand(),
			loadtest.Command(),
			versionCommand(),
			admincli.Completion(),
		},
	}
}

// onUsage is what is said about flags that cannot be parsed.
func onUsage(c *cli.Context, err error, _ bool) error {
	return fmt.Errorf("%w; see %s --help", err, c.Command.HelpName)
}

// noCommand is what a command does that only has others beneath it.
func noCommand(c *cli.Context) error {
	if c.Args().Present() {
		return fmt.Errorf("there is no command %q; see %s --help", c.Args().First(), c.Command.HelpName)
	}
	return cli.ShowSubcommandHelp(c)
}

// noArguments is an action that takes flags only. An argument may be a mistyped
// flag, which must not be passed over.
func noArguments(action cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		if c.Args().Present() {
			return fmt.Errorf("%q is one argument too many; see %s --help", c.Args().First(), c.Command.HelpName)
		}
		return action(c)
	}
}
