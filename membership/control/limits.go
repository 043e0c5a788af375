package control

// What the state may hold. An entry that would go beyond is refused with
// ErrFull, so snapshots, tables and memory stay small.
const (
	MaxUsers     = 10_000
	MaxCaches    = 4_096
	MaxTemplates = 1_024
	MaxMembers   = 4_096
	MaxGroups    = 256
	MaxRoles     = 16 // of one user

	// MaxName bounds the names of caches, templates, members and clusters.
	MaxName = 128
	// MaxEntry bounds one encoded entry, in bytes.
	MaxEntry = 64 << 10
	// MaxSnapshot bounds one encoded state, in bytes.
	MaxSnapshot = 64 << 20
	// MaxEpoch is the last epoch a unit can have: a record's version keeps 24
	// bits of it.
	MaxEpoch = 1<<24 - 1
)
