// Package exec holds the command functions, a file for each family: arguments
// and a view of the keyspace in, a reply and a mutation out.
//
// A function does no I/O of its own: it reads and changes entries through the
// View it is given, which is one moment of the keyspace and collects the changes
// into a mutation. Time is passed in. A function first checks everything that can
// fail and only then changes anything, for a command has no half effect. It runs
// in the goroutine of its caller and keeps nothing after it returned; arguments
// and whatever a View returned die with the call.
//
// A function answers exactly one reply. When the View meets an error of the
// storage it answers as if the key were missing and remembers the error; the
// caller then discards reply and changes, so functions need not look.
//
// Limits: no string grows over its cache's max-entry-size; KEYS answers at most
// 64 MiB of names and SCAN 1 MiB a page; BITCOUNT, BITPOS and BITOP hold one
// window of a source at a time; LCS takes strings up to Redis's bound, with a bit
// where Redis has four bytes. Which replies differ from Redis's, and why, stands
// in testdata/differences.txt and in the blocks marked "here" of the conversations
// beside it.
//
// The package knows no units, no locks and no permissions, and does not check
// that the keys of a command may be reached together, but for those in another
// database.
package exec

import (
	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/node/command"
	"github.com/tiergrid/tiergrid/node/record"
	"github.com/tiergrid/tiergrid/node/resp"
)

// View is the keyspace as one command sees and changes it. Entries past their
// deadline are absent. Changes are seen by later reads through the same View.
type View interface {
	// Head returns what is known of an entry without reading a split payload.
	Head(k *record.Key) (record.Head, bool)
	// Load returns an entry's head and whole payload.
	Load(k *record.Key) (record.Head, Payload, bool)
	// Send is Load for a command that answers a string. A large payload is written
	// to out at once, from where it lies, if nothing speaks against it; sent says
	// that this was the reply, and then there is no payload.
	Send(k *record.Key, out *resp.Writer) (h record.Head, p Payload, found, sent bool)
	// Range returns the bytes [from, to) of the payload of an entry whose head
	// h was read through this View; it reads only the rows it needs. The bounds
	// must lie within the payload. The bytes are good until the next Range, so
	// that a walk through a large payload takes the memory of one window.
	Range(k *record.Key, h *record.Head, from, to int64) []byte

	// Alloc returns n bytes of memory, not zeroed, that live until the changes
	// are applied: for payloads that a command builds.
	Alloc(n int) []byte
	// Keep takes over a payload read through this View, so that it lives until
	// the changes are applied: for payloads that are written again elsewhere.
	Keep(p *Payload)

	// Put writes a whole entry in place of whatever the key held. Version and
	// length of the head are filled in. payload is not copied: it must be an
	// argument of the command, memory of Alloc, or a payload given to Keep.
	Put(k *record.Key, h record.Head, payload []byte)
	// PutHead changes flags and deadline of an entry and leaves its payload.
	PutHead(k *record.Key, h record.Head)
	// Patch writes data at an offset of the payload of an existing entry whose
	// head h was read through this View, with zeros up to the offset where the
	// payload was shorter. Flags and deadline are taken from h. It rewrites only
	// the rows it touches.
	Patch(k *record.Key, h record.Head, at int64, data []byte)
	// Delete removes an entry and tells whether there was one.
	Delete(k *record.Key) bool

	// Entries is the exact number of entries of a cache.
	Entries(cache topology.CacheID) int64
	// Walk visits the entries of a cache in the order of (slot, hash) from a
	// cursor on. It stops after the (slot, hash) in which visit returned false,
	// never within one, and returns the cursor to go on from; 0 is the end.
	// name is valid only during the visit.
	Walk(cache topology.CacheID, cursor uint64, visit func(name []byte, h *record.Head) bool) uint64
	// Random returns the name of a random entry.
	Random(cache topology.CacheID) ([]byte, bool)
	// Clear removes all entries of a cache.
	Clear(cache topology.CacheID)
}

// Payload is the payload of an entry. A large one lies in a pooled buffer, which
// whoever takes it must release or pass on.
type Payload struct {
	B   []byte
	Buf *resp.Buffer // nil where B lies in memory of the View
}

// Release gives back the pooled buffer, if there is one.
func (p *Payload) Release() {
	if p.Buf != nil {
		p.Buf.Release()
		p.Buf = nil
	}
}

// Call is one command in execution.
type Call struct {
	Cmd  *command.Command
	Args [][]byte // Args[0] is the name of the command
	// Table is the snapshot that the command runs under, Cache the cache that
	// the session's database number reaches in it.
	Table *topology.Table
	Cache *topology.Cache
	// Now is the time of the units involved, in Unix milliseconds.
	Now  int64
	View View
	Out  *resp.Writer

	// keys is where key and keyIn build, and read is a copy of the head that
	// payload reads by: what a View is pointed to must not be allocated anew
	// for each command.
	keys [2]record.Key
	read record.Head
}

// Func runs one command.
type Func func(*Call)

// Lookup returns the function of a command, or nil where it is not built.
func Lookup(cmd *command.Command) Func {
	if cmd.ID < len(funcs) {
		return funcs[cmd.ID]
	}
	return nil
}

// funcs is indexed by the command's ID.
var funcs = indexed(families()...)

func indexed(families ...map[string]Func) []Func {
	table := make([]Func, command.Count())
	for _, family := range families {
		for name, f := range family {
			cmd := command.LookupFull([]byte(name))
			if cmd == nil || table[cmd.ID] != nil {
				panic("exec: unknown or repeated command " + name)
			}
			table[cmd.ID] = f
		}
	}
	return table
}

// Key is the key that stands at an argument, in the session's cache.
func (c *Call) Key(i int) record.Key {
	return record.MakeKey(&c.Table.HashKey, c.Cache.ID, c.Args[i])
}

// KeyIn is a key of another cache.
func (c *Call) KeyIn(cache *topology.Cache, name []byte) record.Key {
	return record.MakeKey(&c.Table.HashKey, cache.ID, name)
}

// Deadline is the one that an entry gets when it is written without one, by the
// policy of the cache: 0 for none.
func (c *Call) Deadline() int64 {
	if c.Cache.Policy.TTL <= 0 {
		return 0
	}
	return c.Now + c.Cache.Policy.TTL.Milliseconds()
}

// Fail answers an error.
func (c *Call) Fail(err command.Error) { c.Out.Error(string(err)) }
