package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/tiergrid/tiergrid/admin/api"
	"github.com/tiergrid/tiergrid/admin/client"
)

// Exit codes of the commands, for scripts.
const (
	ExitFailed      = 1
	ExitUsage       = 2
	ExitRefused     = 3 // the user exists, or does not
	ExitUnreachable = 4
	ExitLogin       = 5
)

// exitError is an error with an exit code. It wraps the error it came from.
type exitError struct {
	error
	code int
}

// ExitCode makes it a cli.ExitCoder.
func (e *exitError) ExitCode() int { return e.code }

// Unwrap returns the error without its code.
func (e *exitError) Unwrap() error { return e.error }

var _ cli.ExitCoder = (*exitError)(nil)

// usage is an error in how a command was written.
func usage(format string, args ...any) error {
	return &exitError{fmt.Errorf(format, args...), ExitUsage}
}

// onUsage is what commands do about flags that cannot be parsed.
func onUsage(c *cli.Context, err error, _ bool) error {
	return usage("%w; see %s --help", err, c.Command.HelpName)
}

// exitCodes is searched from the top.
var exitCodes = []struct {
	err  error
	code int
}{
	{client.ErrUnreachable, ExitUnreachable},
	{api.ErrUserExists, ExitRefused},
	{api.ErrNoUser, ExitRefused},
	{api.ErrUnknownGroup, ExitUsage},
	{api.ErrBadRequest, ExitUsage},
	{api.ErrLogin, ExitLogin},
	{api.ErrForbidden, ExitLogin},
	{api.ErrLocalOnly, ExitLogin},
}

// withCode gives an error its exit code; nil stays nil.
func withCode(err error) error {
	var coded *exitError
	if err == nil || errors.As(err, &coded) {
		return err
	}
	for _, e := range exitCodes {
		if errors.Is(err, e.err) {
			return &exitError{err, e.code}
		}
	}
	return &exitError{err, ExitFailed}
}

// explained says the same as the error beneath it in better words.
type explained struct {
	text string
	err  error
}

// Error is the text for people.
func (e *explained) Error() string { return e.text }

// Unwrap returns what the text stands for.
func (e *explained) Unwrap() error { return e.err }

// explain adds the cure to an error about the user called name.
func explain(err error, name string) error {
	text := ""
	switch {
	case errors.Is(err, api.ErrUserExists):
		text = fmt.Sprintf("user %s exists; use passwd or groups to change it", name)
	case errors.Is(err, api.ErrNoUser):
		text = fmt.Sprintf("there is no user %s; see the command ls", name)
	default:
		return err
	}
	return &explained{text, err}
}

// explain adds the cure to an error of reaching the target.
func (t *target) explain(err error) error {
	text := ""
	switch {
	case errors.Is(err, api.ErrLogin) && t.login == "":
		text = fmt.Sprintf("%s asks for a login: give --user and --password of an admin, or --data DIR on the machine of the server", t.place)
	case errors.Is(err, api.ErrLogin):
		text = fmt.Sprintf("%s refuses the login of %s: user or password is wrong", t.place, t.login)
	case errors.Is(err, client.ErrUnreachable):
		reason := strings.TrimPrefix(err.Error(), client.ErrUnreachable.Error()+" at "+t.place+": ")
		text = fmt.Sprintf("no server answers at %s (%s); start it, or give --data DIR to work offline", t.place, reason)
	default:
		return err
	}
	return &explained{text, err}
}
