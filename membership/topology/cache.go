package topology

import "time"

// CacheID names a cache for ever: it is part of every row key on disk and is
// never given to another cache.
type CacheID uint32

// GroupID names a placement group for ever.
type GroupID uint32

// NoDatabase is the Database of a cache that SELECT cannot reach.
const NoDatabase = -1

// Databases is how many numbered databases SELECT knows, as in Redis's default
// configuration.
const Databases = 16

// The values a Policy's fields may take.
const (
	ModeDistributed = "distributed"
	ModeReplicated  = "replicated"

	ReplicationSync  = "sync"
	ReplicationAsync = "async"

	ReadsPrimary = "primary"
	ReadsAny     = "any"

	DurabilityAlways   = "always"
	DurabilityInterval = "interval"
	DurabilityNone     = "none"

	WhenFullRemove = "remove"
)

// Policy is how a cache keeps its entries. The YAML names are those of the
// configuration file and of the API.
type Policy struct {
	// Mode, Owners and Replication decide the placement group; they cannot be
	// altered while the cache holds entries.
	Mode        string `yaml:"mode" json:"mode"`
	Owners      int    `yaml:"owners" json:"owners"`
	Replication string `yaml:"replication" json:"replication"`

	Reads        string        `yaml:"reads" json:"reads"`
	Durability   string        `yaml:"durability" json:"durability"`
	SyncInterval time.Duration `yaml:"sync-interval" json:"sync-interval"`
	MinISR       int           `yaml:"min-isr" json:"min-isr"`
	WhenFull     string        `yaml:"when-full" json:"when-full"`
	// MaxEntrySize bounds one value, in bytes.
	MaxEntrySize int64 `yaml:"max-entry-size" json:"max-entry-size"`
	// TTL is given to entries written without one; 0 is none.
	TTL time.Duration `yaml:"ttl" json:"ttl"`
}

// DefaultPolicy is the policy of the template "default".
func DefaultPolicy() Policy {
	return Policy{
		Mode:         ModeDistributed,
		Owners:       2,
		Replication:  ReplicationSync,
		Reads:        ReadsPrimary,
		Durability:   DurabilityInterval,
		SyncInterval: 50 * time.Millisecond,
		MinISR:       1,
		WhenFull:     WhenFullRemove,
		MaxEntrySize: 64 << 20,
	}
}

// Cache is a named keyspace with its own policy.
type Cache struct {
	ID       CacheID
	Name     string
	Database int // NoDatabase, or the number SELECT knows it by
	Template string
	Group    GroupID
	Policy   Policy
}

// Group is a placement group: the caches of equal mode, owners and replication,
// which share ownership, ordering and replication.
type Group struct {
	ID          GroupID
	Mode        string
	Owners      int
	Replication string
	// Units has Partitions elements, indexed by partition.
	Units []Unit
}

// Unit is who owns one (placement group, partition).
type Unit struct {
	// Epoch rises at each change of the primary and at each registration of
	// its process; requests and mutations of another epoch are refused.
	Epoch uint32
	// Primary orders the unit's writes. It is the name of a member, and empty
	// while the unit has none.
	Primary string
	// Owners are the names of all members that hold a copy, the primary among
	// them; ISR are those of them that may take over.
	Owners []string
	ISR    []string
	// ISRVersion rises with every change of the ISR.
	ISRVersion uint64
}
