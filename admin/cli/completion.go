package cli

import (
	_ "embed" // for the scripts
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// The scripts ask the binary itself what may come next; NAME stands for it.
var (
	//go:embed completion.bash
	bashScript string
	//go:embed completion.zsh
	zshScript string
	//go:embed completion.fish
	fishScript string
)

var completionScripts = map[string]string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}

// shells are those that there are scripts for.
var shells = []string{"bash", "zsh", "fish"}

// Completion returns the command "completion". The app must have
// EnableBashCompletion set, for all shells.
func Completion() *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print a script that completes commands and flags in a shell",
		ArgsUsage: strings.Join(shells, "|"),
		Description: "bash: source <(tiergrid completion bash)\n" +
			"zsh:  source <(tiergrid completion zsh)\n" +
			"fish: tiergrid completion fish | source",
		HideHelpCommand: true,
		OnUsageError:    onUsage,
		BashComplete: func(c *cli.Context) {
			fmt.Fprintln(c.App.Writer, strings.Join(shells, "\n"))
		},
		Action: printScript,
	}
}

func printScript(c *cli.Context) error {
	shell := c.Args().First()
	if c.NArg() != 1 || !slices.Contains(shells, shell) {
		return usage("name one shell of %s", strings.Join(shells, ", "))
	}
	_, err := fmt.Fprint(c.App.Writer, strings.ReplaceAll(completionScripts[shell], "NAME", c.App.Name))
	return err
}
