package resp

import (
	"fmt"
	"math"
)

// Redis's own limits, used for the fields of Limits that are zero.
const (
	DefaultMaxBulk    = 512 << 20
	DefaultMaxArgs    = 1 << 20
	DefaultMaxInline  = 64 << 10
	DefaultMaxCommand = 1 << 30

	maxBulkBeforeLogin = 16 << 10
	maxArgsBeforeLogin = 10
)

// Limits bounds what one command may make the Reader hold. A zero field means
// Redis's default.
type Limits struct {
	MaxBulk    int // bytes of one argument
	MaxArgs    int // arguments of one command in array form
	MaxInline  int // bytes of an inline command, and of any length header
	MaxCommand int // bytes of all arguments of one command, with 32 for each
	// Unauthenticated says that these are limits before login: exceeding
	// MaxBulk or MaxArgs is then reported with the texts Redis keeps for it.
	Unauthenticated bool
}

// BeforeLogin returns the limits that hold until a client has logged in.
func BeforeLogin() Limits {
	return Limits{MaxBulk: maxBulkBeforeLogin, MaxArgs: maxArgsBeforeLogin, Unauthenticated: true}
}

func (l Limits) withDefaults() Limits {
	l.MaxBulk = limitOr(l.MaxBulk, DefaultMaxBulk)
	l.MaxArgs = min(limitOr(l.MaxArgs, DefaultMaxArgs), math.MaxInt32)
	l.MaxInline = limitOr(l.MaxInline, DefaultMaxInline)
	l.MaxCommand = limitOr(l.MaxCommand, DefaultMaxCommand)
	return l
}

func limitOr(n, byDefault int) int {
	if n <= 0 {
		return byDefault
	}
	return n
}

// ProtocolError reports input that is not RESP or breaks a limit. The client
// gets Text behind "-ERR " and the connection must be closed.
type ProtocolError struct{ Text string }

// Error returns Redis's text.
func (e *ProtocolError) Error() string { return e.Text }

var (
	errMultibulkLength     = &ProtocolError{"Protocol error: invalid multibulk length"}
	errBulkLength          = &ProtocolError{"Protocol error: invalid bulk length"}
	errMultibulkUnauth     = &ProtocolError{"Protocol error: unauthenticated multibulk length"}
	errBulkUnauth          = &ProtocolError{"Protocol error: unauthenticated bulk length"}
	errMultibulkHeaderSize = &ProtocolError{"Protocol error: too big mbulk count string"}
	errBulkHeaderSize      = &ProtocolError{"Protocol error: too big bulk count string"}
	errInlineSize          = &ProtocolError{"Protocol error: too big inline request"}
	errQuotes              = &ProtocolError{"Protocol error: unbalanced quotes in request"}
	errCommandSize         = &ProtocolError{"Protocol error: too big request"}
)

func errExpectedBulk(got byte) *ProtocolError {
	return &ProtocolError{fmt.Sprintf("Protocol error: expected '$', got '%s'", []byte{got})}
}
