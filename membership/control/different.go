package control

import (
	"fmt"
	"strings"
)

// Difference is one value in which an existing cache is not the one asked for.
type Difference struct {
	Setting string
	Have    string
	Asked   string
}

func (d Difference) String() string {
	return fmt.Sprintf("%s is %s, not %s", d.Setting, d.Have, d.Asked)
}

// DifferentError says that a cache exists, with other values than those asked
// for. It matches ErrDifferent.
type DifferentError struct {
	Cache       string
	Differences []Difference
}

// Error lists every difference.
func (e *DifferentError) Error() string {
	list := make([]string, len(e.Differences))
	for i, d := range e.Differences {
		list[i] = d.String()
	}
	return fmt.Sprintf("cache %s %v: %s", e.Cache, ErrDifferent, strings.Join(list, "; "))
}

// Is makes errors.Is(err, ErrDifferent) hold.
func (e *DifferentError) Is(target error) bool { return target == ErrDifferent }
