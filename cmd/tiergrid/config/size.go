package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes, written with a decimal (48GB = 48·10⁹) or a binary
// (48GiB = 48·2³⁰) unit or with none.
type Size int64

// units, the longest names first so that "GiB" is not taken for "B".
var units = []struct {
	name  string
	bytes int64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1},
}

// ParseSize reads a size as it is written in the configuration.
func ParseSize(text string) (Size, error) {
	number, unit := strings.TrimSpace(text), int64(1)
	for _, u := range units {
		if rest, ok := strings.CutSuffix(number, u.name); ok {
			number, unit = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	n, err := strconv.ParseFloat(number, 64)
	bytes := n * float64(unit)
	if err != nil || math.IsNaN(bytes) || bytes < 0 || bytes >= math.MaxInt64 {
		return 0, fmt.Errorf("%q is no size such as 48GB, 512MiB or 1048576", text)
	}
	return Size(bytes), nil
}

// String writes the size with the largest unit that shows it exactly.
func (s Size) String() string {
	best := strconv.FormatInt(int64(s), 10)
	for _, u := range units {
		if s != 0 && int64(s)%u.bytes == 0 {
			if text := strconv.FormatInt(int64(s)/u.bytes, 10) + u.name; len(text) < len(best) || u.bytes == 1 && best == strconv.FormatInt(int64(s), 10) {
				best = text
			}
		}
	}
	return best
}

// UnmarshalYAML implements the YAML library's interface.
func (s *Size) UnmarshalYAML(text []byte) error {
	parsed, err := ParseSize(strings.Trim(strings.TrimSpace(string(text)), `"'`))
	*s = parsed
	return err
}

// MarshalYAML implements the YAML library's interface.
func (s Size) MarshalYAML() ([]byte, error) { return []byte(s.String()), nil }
