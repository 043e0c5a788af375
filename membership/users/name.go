package users

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ErrBadName and ErrBadPassword are returned for what cannot be a user name or a
// password; the text around them says why.
var (
	ErrBadName     = errors.New("invalid user name")
	ErrBadPassword = errors.New("invalid password")
)

// MaxName and MaxPassword bound names and passwords, in bytes.
const (
	MaxName     = 64
	MaxPassword = 512
)

// CheckName admits what can stand in an ACL line, in HTTP Basic and in a log: 1
// to MaxName bytes of UTF-8 without spaces, control characters and colons.
func CheckName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: it is empty", ErrBadName)
	case len(name) > MaxName:
		return fmt.Errorf("%w: it has %d bytes, at most %d are allowed", ErrBadName, len(name), MaxName)
	case !utf8.ValidString(name):
		return fmt.Errorf("%w: it is not UTF-8", ErrBadName)
	case strings.ContainsFunc(name, unprintable) || strings.ContainsFunc(name, unicode.IsSpace):
		return fmt.Errorf("%w %q: spaces and control characters are not allowed", ErrBadName, name)
	case strings.Contains(name, ":"):
		return fmt.Errorf("%w %q: a colon is not allowed, as HTTP Basic could not carry it", ErrBadName, name)
	}
	return nil
}

// CheckPassword admits 1 to MaxPassword bytes of UTF-8 without control
// characters.
func CheckPassword(password []byte) error {
	switch {
	case len(password) == 0:
		return fmt.Errorf("%w: it is empty", ErrBadPassword)
	case len(password) > MaxPassword:
		return fmt.Errorf("%w: it has %d bytes, at most %d are allowed", ErrBadPassword, len(password), MaxPassword)
	case !utf8.Valid(password):
		return fmt.Errorf("%w: it is not UTF-8", ErrBadPassword)
	case strings.ContainsFunc(string(password), unprintable):
		return fmt.Errorf("%w: control characters are not allowed", ErrBadPassword)
	}
	return nil
}

func unprintable(r rune) bool { return unicode.IsControl(r) }
