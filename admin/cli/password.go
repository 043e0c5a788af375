package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"
)

const flagSecret = "new-password"

// maxPassword bounds what is read as a password, in bytes.
const maxPassword = 4096

// Terminal asks a person.
type Terminal struct {
	// Present says whether somebody can be asked.
	Present func() bool
	// Ask shows prompt and returns a line that was typed unseen.
	Ask func(prompt string) (string, error)
}

func (t Terminal) withDefaults() Terminal {
	if t.Present == nil {
		t.Present = func() bool { return term.IsTerminal(int(os.Stdin.Fd())) }
	}
	if t.Ask == nil {
		t.Ask = askOnTerminal
	}
	return t
}

func askOnTerminal(prompt string) (string, error) {
	fmt.Fprint(os.Stderr, prompt)
	b, err := term.ReadPassword(int(os.Stdin.Fd()))
	fmt.Fprintln(os.Stderr)
	return string(b), err
}

func secretFlag() cli.Flag {
	return &cli.StringFlag{Name: flagSecret, Aliases: []string{"p"},
		Usage: "`PASSWORD` of the user; - reads it from standard input, without the flag the terminal is asked"}
}

// secret returns the password that a user is to have.
func secret(c *cli.Context, t Terminal) (string, error) {
	switch given := c.String(flagSecret); {
	case given == "-":
		return readSecret(c.App.Reader)
	case c.IsSet(flagSecret):
		return given, nil
	}
	t = t.withDefaults()
	if !t.Present() {
		return "", usage("a password is needed: give -p PASSWORD, or -p - to read it from standard input")
	}
	return askTwice(t)
}

// readSecret takes the first line.
func readSecret(in io.Reader) (string, error) {
	b, err := io.ReadAll(io.LimitReader(in, maxPassword+1))
	if err != nil {
		return "", fmt.Errorf("password from standard input: %w", err)
	}
	if len(b) > maxPassword {
		return "", fmt.Errorf("password from standard input: longer than %d bytes", maxPassword)
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSuffix(line, "\r"), nil
}

func askTwice(t Terminal) (string, error) {
	first, err := t.Ask("Password: ")
	if err != nil {
		return "", fmt.Errorf("password: %w", err)
	}
	second, err := t.Ask("Again: ")
	if err != nil {
		return "", fmt.Errorf("password: %w", err)
	}
	if first != second {
		return "", errors.New("the two passwords differ; nothing was changed")
	}
	return first, nil
}
