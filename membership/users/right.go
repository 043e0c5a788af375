package users

// Right is a set of things one may do through the HTTP API, which has no
// commands. The names are Data Grid's.
type Right uint16

// The rights.
const (
	RightRead Right = 1 << iota
	RightWrite
	RightListen
	RightExecute
	RightBulkRead
	RightBulkWrite
	RightMonitor
	RightCreate // caches and templates
	RightAdmin  // users, members, the grid

	allRights = RightAdmin<<1 - 1
)

var rightNames = []string{"READ", "WRITE", "LISTEN", "EXEC", "BULK_READ", "BULK_WRITE", "MONITOR", "CREATE", "ADMIN"}

// Has reports whether r holds every right of want.
func (r Right) Has(want Right) bool { return r&want == want }

// Names lists the rights in r.
func (r Right) Names() []string {
	names := []string{}
	for i, name := range rightNames {
		if r&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}
