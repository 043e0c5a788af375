package api

import (
	"fmt"
	"slices"
	"strings"
)

// The roles that a group can name, with the strongest first.
const (
	Admin       = "admin"
	Deployer    = "deployer"
	Application = "application"
	Observer    = "observer"
	Monitor     = "monitor"
)

// KnownGroups are the groups that a user can be given.
var KnownGroups = []string{Admin, Deployer, Application, Observer, Monitor}

// CheckGroups refuses groups that do not exist, and names those that do.
func CheckGroups(groups []string) error {
	for _, g := range groups {
		if !slices.Contains(KnownGroups, g) {
			return fmt.Errorf("%w %q; known groups: %s", ErrUnknownGroup, g, strings.Join(KnownGroups, ", "))
		}
	}
	return nil
}
