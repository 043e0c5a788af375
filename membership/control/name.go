package control

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tiergrid/tiergrid/membership/topology"
)

// checkName admits what can stand in a path, a metric label and a shell line
// without quotes.
func checkName(what, name string) error {
	if name == "" || len(name) > MaxName {
		return fmt.Errorf("%s name %q: %w: it must have 1 to %d characters", what, name, ErrInvalid, MaxName)
	}
	for i := range len(name) {
		if !plain(name[i]) {
			return fmt.Errorf("%s name %q: %w: only letters, digits, '.', '_' and '-' are allowed", what, name, ErrInvalid)
		}
	}
	return nil
}

func plain(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return c == '.' || c == '_' || c == '-'
}

// checkCacheName also keeps names that read as numbers for the databases.
func checkCacheName(name string) error {
	if err := checkName("cache", name); err != nil {
		return err
	}
	if strings.Trim(name, "0123456789") != "" {
		return nil
	}
	n, err := strconv.Atoi(name)
	if err != nil || n >= topology.Databases || name != strconv.Itoa(n) {
		return fmt.Errorf("cache name %q: %w: a number can only name a database, 0 to %d", name, ErrInvalid, topology.Databases-1)
	}
	return nil
}

func checkDatabase(n int) error {
	if n < 0 || n >= topology.Databases {
		return fmt.Errorf("database %d: %w: it must be 0 to %d", n, ErrInvalid, topology.Databases-1)
	}
	return nil
}
