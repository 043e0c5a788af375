// Package ssd is the bottom tier: all rows, ordered, on disk, in Pebble.
//
// # Main types
//
// [Open] returns a [Store], which implements tiers.Store; [Config] says where
// it stands and what it may use; an [Event] reports what happens inside.
//
// # Files
//
// A store is a directory of its own: the marker STORE (format version and store
// id, see directory.go), LOCK, the ballast, and Pebble's files under pebble/.
// Values of 4 KiB and more stand in value files beside the tables, so
// compactions move only their handles.
//
// # Space
//
// Room refuses growth before the file system does, with a reserve large enough
// for everything Pebble still has to write for what it has accepted. Should
// others fill the disk anyway, deleting idle logs and then the ballast file
// gives Pebble the space to finish the write at hand. Both recover by
// themselves; see space.go.
//
// While space is short a goroutine compacts what deletes and overwrites have
// left, in small chunks and with rests, and value files are rewritten for less
// garbage than usual: a full store accepts growth again seconds after a tenth
// of it was deleted; see reclaim.go.
//
// # Failure
//
// A failed write or fsync is never retried: what the disk holds is unknown
// afterwards. Config.OnFatal is called and must end the process; by default it
// exits with ExitCode. A damaged block does not end anything: reads of it
// return an error and an event tells. A store that cannot be opened returns an
// error that names the cure and changes nothing on disk.
//
// # Concurrency
//
// All methods may be called from any goroutine. Close waits for calls and
// iterators under way; calls that begin later return tiers.ErrClosed. Events
// are reported from Pebble's goroutines, some under its locks: the callback
// must return at once and must not call the store.
//
// # What it does not do
//
// It knows nothing of records, units or caches. No Pebble type leaves the
// package, except through Config.FS, which is for tests.
package ssd
