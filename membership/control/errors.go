package control

import "errors"

// What a proposal or Open may fail with. Refusals leave the state as it was.
var (
	// ErrLocked is returned by Open while another process has the directory.
	ErrLocked = errors.New("control: the data directory is in use by another process")
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("control: closed")
	// ErrLogFailed is returned once an fsync of the log has failed. It is never
	// retried: the process must end, and whether the entry at hand is durable
	// shows when the log is opened again.
	ErrLogFailed = errors.New("control: the log cannot be written any more")
	// ErrDamaged is returned by Open when the log or the snapshot is damaged
	// somewhere that no crash can explain.
	ErrDamaged = errors.New("control: damaged")
	// ErrNewer is returned for a file or an entry of a version this build does
	// not know and may not skip.
	ErrNewer = errors.New("control: written by a newer version")
	// ErrBadEntry is returned for an entry that cannot be decoded.
	ErrBadEntry = errors.New("control: malformed entry")

	// ErrInvalid refuses a name or a value that is out of range.
	ErrInvalid = errors.New("invalid")
	// ErrFull refuses an entry that would go beyond a limit of the state.
	ErrFull = errors.New("limit reached")
	// ErrNotFound refuses to change what does not exist.
	ErrNotFound = errors.New("not found")
	// ErrExists refuses to create what exists.
	ErrExists = errors.New("exists already")
	// ErrDifferent refuses to take an existing cache for the one asked for. The
	// error is a *DifferentError, which lists the differences.
	ErrDifferent = errors.New("exists with other values")
	// ErrHoldsEntries refuses to alter mode, owners or replication of a cache
	// that holds entries.
	ErrHoldsEntries = errors.New("holds entries")
	// ErrDatabaseTaken refuses a database number that a configured cache has.
	ErrDatabaseTaken = errors.New("database number is taken")
	// ErrAutomatic refuses to remove one of the databases 0 to 15.
	ErrAutomatic = errors.New("cannot be removed")
	// ErrBootstrapped refuses a second bootstrap.
	ErrBootstrapped = errors.New("bootstrapped already")
	// ErrNotBootstrapped refuses what needs a cluster id first.
	ErrNotBootstrapped = errors.New("not bootstrapped")
	// ErrForeignStore refuses a member whose data directory is not the one it
	// had, or is another member's.
	ErrForeignStore = errors.New("foreign data directory")
)

// errUnchanged is what an entry's apply answers when the state is already what
// the entry asks for. Such an entry succeeds and is not logged.
var errUnchanged = errors.New("unchanged")
