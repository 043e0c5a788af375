package cli

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// FlagsFirst returns args with the flags of the command they name moved in front
// of its arguments, as the command line parser stops at the first argument. Flags
// that it does not know stay where the parser will refuse them. What follows
// "--" is never a flag. Where a flag asks for help, arguments are left out: the
// parser would take them for topics. args[0] is the program.
func FlagsFirst(app *cli.App, args []string) []string {
	if len(args) == 0 || args[len(args)-1] == "--generate-bash-completion" {
		return args
	}
	out := []string{args[0]}
	flags, commands := app.Flags, app.Commands
	rest := args[1:]
	for {
		var head []string
		head, rest = leading(rest, flags)
		out = append(out, head...)
		if len(rest) == 0 {
			return out
		}
		cmd := named(commands, rest[0])
		if cmd == nil {
			return append(out, reorder(rest, flags)...)
		}
		out = append(out, rest[0])
		flags, commands, rest = cmd.Flags, cmd.Subcommands, rest[1:]
	}
}

func named(commands []*cli.Command, name string) *cli.Command {
	for _, c := range commands {
		if c.HasName(name) {
			return c
		}
	}
	return nil
}

// leading splits args after the flags, with their values, that they begin with.
func leading(args []string, flags []cli.Flag) (head, rest []string) {
	n := 0
	for n < len(args) && isFlag(args[n]) {
		n += width(args[n:], flags)
	}
	return args[:n], args[n:]
}

// reorder puts the flags of a command in front of its arguments.
func reorder(args []string, flags []cli.Flag) []string {
	var front, back []string
	dashed := false // an argument looks like a flag
	for len(args) > 0 {
		switch {
		case args[0] == "--":
			back = append(back, args[1:]...)
			dashed, args = true, nil
		case isFlag(args[0]):
			n := width(args, flags)
			front, args = append(front, args[:n]...), args[n:]
		default:
			back, args = append(back, args[0]), args[1:]
		}
	}
	if asksHelp(front, flags) {
		return front
	}
	if dashed {
		front = append(front, "--")
	}
	return append(front, back...)
}

// asksHelp says that one of the words is the parser's own flag for help and not
// one of the command, nor the value of one.
func asksHelp(words []string, flags []cli.Flag) bool {
	for len(words) > 0 {
		name := strings.TrimLeft(words[0], "-")
		if (name == "help" || name == "h") && !defined(name, flags) {
			return true
		}
		words = words[width(words, flags):]
	}
	return false
}

func defined(name string, flags []cli.Flag) bool {
	return slices.ContainsFunc(flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
}

// isFlag says that the parser would take arg for a flag.
func isFlag(arg string) bool {
	return len(arg) > 1 && arg[0] == '-' && arg != "--"
}

// width is how many of args, the first of which is a flag, belong together.
func width(args []string, flags []cli.Flag) int {
	if len(args) == 1 || strings.Contains(args[0], "=") || !takesValue(strings.TrimLeft(args[0], "-"), flags) {
		return 1
	}
	return 2
}

// takesValue says that a value follows the flag of that name.
func takesValue(name string, flags []cli.Flag) bool {
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			d, ok := f.(cli.DocGenerationFlag)
			return ok && d.TakesValue()
		}
	}
	return false
}
