package users

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrUnknownRole is returned for a role that is none of Roles.
var ErrUnknownRole = errors.New("unknown role")

// Role is a named set of permissions. The command line calls roles groups.
type Role string

// The roles, from the most to the least that they allow.
const (
	// Admin may do everything.
	Admin Role = "admin"
	// Deployer may do what Application may, and configure and empty caches; it
	// cannot see or change users, nor stop or rewire members.
	Deployer Role = "deployer"
	// Application may read and write all data, with what clients and frameworks
	// ask of a server besides.
	Application Role = "application"
	// Observer may read all data and the statistics.
	Observer Role = "observer"
	// Monitor may read statistics and health, and no data.
	Monitor Role = "monitor"
)

// roles holds what each role allows, in the order of Roles.
var roles = [...]struct {
	role   Role
	rules  Rules
	rights Right
}{
	{Admin,
		Rules{Keys: "~*", Channels: "&*", Commands: "+@all"},
		allRights},
	{Deployer,
		Rules{Keys: "~*", Channels: "&*", Commands: "+@all -@admin" +
			" +config +client +latency +slowlog +monitor +lastsave +role +save +bgsave +bgrewriteaof"},
		allRights &^ RightAdmin},
	{Application,
		Rules{Keys: "~*", Channels: "&*", Commands: "+@all -@admin -@dangerous +info +keys +sort +sort_ro +restore"},
		RightRead | RightWrite | RightListen | RightExecute | RightBulkRead | RightMonitor},
	{Observer,
		Rules{Keys: "%R~*", Commands: "-@all +@read +@connection +@transaction +command +time +cluster" +
			" +acl|whoami +acl|cat +acl|help -@admin -@dangerous +info +keys +sort_ro"},
		RightRead | RightBulkRead | RightMonitor},
	{Monitor,
		Rules{Commands: "-@all +@connection -@admin -@dangerous +info +dbsize +command +time" +
			" +memory|stats +memory|doctor +memory|help +latency -latency|reset +slowlog|len +slowlog|help" +
			" +lastsave +role +cluster|info +acl|whoami +acl|cat +acl|help"},
		RightMonitor},
}

// Roles returns every role, from the most to the least that they allow.
func Roles() []Role {
	list := make([]Role, len(roles))
	for i := range roles {
		list[i] = roles[i].role
	}
	return list
}

// ParseRoles returns the roles of these names, each once and in the order of
// Roles. The error for an unknown name lists the known ones.
func ParseRoles(names []string) ([]Role, error) {
	var set roleSet
	for _, name := range names {
		i := slices.Index(Roles(), Role(name))
		if i < 0 {
			return nil, fmt.Errorf("%w %q: the roles are %s", ErrUnknownRole, name, listRoles())
		}
		set |= 1 << i
	}
	return set.roles(), nil
}

func listRoles() string {
	names := make([]string, len(roles))
	for i := range roles {
		names[i] = string(roles[i].role)
	}
	return strings.Join(names, ", ")
}

// roleSet is a set of roles: bit i stands for roles[i].
type roleSet uint8

// setOf ignores names that this build does not know: they grant nothing.
func setOf(names []string) (set roleSet) {
	for i := range roles {
		if slices.Contains(names, string(roles[i].role)) {
			set |= 1 << i
		}
	}
	return set
}

func (s roleSet) roles() []Role {
	var list []Role
	for i := range roles {
		if s&(1<<i) != 0 {
			list = append(list, roles[i].role)
		}
	}
	return list
}
