package server

import (
	"fmt"
	"runtime/debug"

	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/node/command"
	"github.com/tiergrid/tiergrid/node/exec"
	"github.com/tiergrid/tiergrid/node/record"
	"github.com/tiergrid/tiergrid/node/resp"
	"github.com/tiergrid/tiergrid/node/unit"
	"github.com/tiergrid/tiergrid/node/wire"
)

// readAttempts is how often a command that reads is run without locks before it
// takes those of its units.
const readAttempts = 3

// run is one batch being run. It is pooled.
type run struct {
	server *Server
	batch  *wire.Batch
	txn    *unit.Txn
	call   exec.Call
	clock  clock

	keys  []command.KeyRef
	units []*unit.Unit

	at int // the request under way
	// held are the replies that may not leave yet, because what they tell is not
	// committed. The last are those of the batch under way.
	held []replies
	// refused are batches that stopped because a unit was not free.
	refused []*wire.Batch
}

// replies are those to the requests of a batch from first on. They begin at mark.
type replies struct {
	batch *wire.Batch
	first int
	mark  resp.Mark
}

func (r *run) begin(table *topology.Table) {
	r.txn = r.server.units.Begin(table)
	r.clock.start()
}

// enter turns to a batch.
func (r *run) enter(b *wire.Batch) {
	r.batch = b
	r.call = exec.Call{Table: b.Table, View: r.txn, Out: b.Out}
	r.held = append(r.held, replies{batch: b, first: b.Done, mark: b.Out.Mark()})
}

func (r *run) end() {
	r.txn.End()
	r.batch, r.txn, r.call = nil, nil, exec.Call{}
	clear(r.held)
	clear(r.refused)
	r.held, r.refused = r.held[:0], r.refused[:0]
	clear(r.units[:cap(r.units)])
	r.server.runs.Put(r)
}

// pipeline runs the requests one after the other. Their changes reach the tiers
// together where they can.
func (r *run) pipeline() error {
	for i := range r.batch.Requests {
		req := &r.batch.Requests[i]
		r.at = i
		if err := r.request(req); err != nil {
			r.failed(i, err)
		} else if err := r.settle(i); err != nil {
			r.failed(i, err)
		}
		req.Elapsed = r.clock.lap()
		if r.batch.Out.Due() {
			if err := r.flush(i); err != nil {
				return err
			}
		}
	}
	if err := r.txn.Commit(); err != nil {
		r.failed(len(r.batch.Requests)-1, err)
	}
	return nil
}

// settle commits where the next command must not run before.
func (r *run) settle(i int) error {
	if !r.txn.Full() && !r.txn.Alone() {
		return nil
	}
	if err := r.txn.Commit(); err != nil {
		return err
	}
	r.opened(i)
	return nil
}

// opened notes that all replies up to that to request i may leave.
func (r *run) opened(i int) {
	r.held = append(r.held[:0], replies{batch: r.batch, first: i + 1, mark: r.batch.Out.Mark()})
}

// flush writes the replies so far to the client, with no lock held.
func (r *run) flush(i int) error {
	if err := r.txn.Commit(); err != nil {
		r.failed(i, err)
	}
	err := r.batch.Out.Flush()
	r.opened(i)
	return err
}

// failed answers an error to all requests whose replies could not leave yet, up
// to request i: their changes are gone.
func (r *run) failed(i int, err error) {
	r.server.logger.Error("a command failed in the storage", "error", err)
	r.txn.Abort()
	text := string(command.StorageFailed(err))
	for n := range r.held {
		h := &r.held[n]
		answered := h.batch.Done
		if h.batch == r.batch {
			answered = i + 1
		}
		h.batch.Out.Truncate(h.mark)
		for k := h.first; k < answered; k++ {
			h.batch.Requests[k].Error = text
			h.batch.Out.Error(text)
		}
	}
	r.opened(i)
}

// request runs one command and appends its reply.
func (r *run) request(req *wire.Request) error {
	f := r.prepare(req)
	if f == nil {
		return nil
	}
	if req.Cmd.Flags&command.Write != 0 {
		return r.write(req, f)
	}
	return r.read(req, f)
}

// prepare makes the call ready. It answers an error itself and returns nil where
// the command cannot be run.
func (r *run) prepare(req *wire.Request) exec.Func {
	r.call.Cmd, r.call.Args = req.Cmd, req.Args
	if r.call.Cache = r.batch.Table.Database(req.Database); r.call.Cache == nil {
		r.refuse(req, command.ErrDatabaseRange)
		return nil
	}
	f := exec.Lookup(req.Cmd)
	if f == nil {
		r.refuse(req, command.NotBuilt(req.Cmd))
	}
	return f
}

// refuse answers a request that is not run.
func (r *run) refuse(req *wire.Request, err command.Error) {
	req.Error = string(err)
	r.batch.Out.Error(req.Error)
}

// read runs a command that changes nothing: without locks, and under those of its
// units when that failed or an expired entry must be deleted first.
func (r *run) read(req *wire.Request, f exec.Func) error {
	switch {
	case !r.txn.Written():
	case req.Cmd.First == 0:
		// It looks at the whole of a cache: it must find what this run wrote.
		if err := r.txn.Commit(); err != nil {
			return err
		}
		r.opened(r.at - 1)
	default:
		// It must not see its keys as they were before what this run wrote
		// and has not committed (R22): they are held until then as well.
		return r.locked(req, f)
	}
	mark := r.batch.Out.Mark()
	for range readAttempts {
		r.txn.StartRead()
		r.invoke(req, f)
		ok, err := r.txn.FinishRead()
		if ok || err != nil {
			r.noteSent()
			return err
		}
		r.batch.Out.Truncate(mark)
	}
	return r.locked(req, f)
}

// noteSent notes that a command has sent its reply.
func (r *run) noteSent() {
	if r.txn.Sent() {
		r.opened(r.at)
	}
}

// write runs a command that may change its keys.
func (r *run) write(req *wire.Request, f exec.Func) error {
	if req.Cmd.Flags&command.DenyOOM != 0 {
		if err := r.server.units.Room(argBytes(req.Args)); err != nil {
			r.refuse(req, command.ErrOOM)
			return nil
		}
	}
	return r.locked(req, f)
}

func (r *run) locked(req *wire.Request, f exec.Func) error {
	r.units = r.unitsOf(r.units[:0], req)
	commits := r.txn.Commits()
	if err := r.txn.Acquire(r.units...); err != nil {
		return err
	}
	if r.txn.Commits() != commits {
		r.opened(r.at - 1)
	}
	mark := r.batch.Out.Mark()
	r.txn.StartWrite()
	r.invoke(req, f)
	if err := r.txn.FinishWrite(); err != nil {
		r.batch.Out.Truncate(mark)
		return err
	}
	return nil
}

// invoke calls the command function. A panic of it is a bug, which must not take
// other clients down: the caller sees it as a failure of the storage and drops
// the changes.
func (r *run) invoke(req *wire.Request, f exec.Func) {
	defer func() {
		if v := recover(); v != nil {
			r.server.logger.Error("a command panicked", "command", req.Cmd.Name, "panic", v, "stack", string(debug.Stack()))
			r.txn.Fail(fmt.Errorf("internal error in %s", req.Cmd.Name))
		}
	}()
	r.call.Now = r.txn.Now()
	r.batch.Out.ResetError()
	f(&r.call)
	req.Error = r.batch.Out.LastError()
}

// unitsOf appends the units of all keys of a request; for a command without keys
// those of the whole cache, or of all caches that SELECT reaches. Arguments whose
// keys cannot be told have none: the command itself answers what is wrong.
func (r *run) unitsOf(dst []*unit.Unit, req *wire.Request) []*unit.Unit {
	keys, err := req.Cmd.AppendKeys(r.keys[:0], req.Args)
	r.keys = keys
	if err != nil {
		return dst
	}
	cache := r.batch.Table.Database(req.Database)
	if len(keys) == 0 {
		return r.wholeUnits(dst, req, cache)
	}
	first, several := uint16(0), false
	for i := range keys {
		key := record.Key{Cache: cache.ID, Slot: topology.Slot(req.Args[keys[i].Index])}
		if i == 0 {
			first = key.Slot
		}
		several = several || key.Slot != first
		dst = append(dst, r.txn.UnitOf(&key))
		if betweenDatabases[req.Cmd.Name] {
			dst = r.inEveryDatabase(dst, &key)
		}
	}
	if several {
		r.server.crossSlot.Add(1)
	}
	return dst
}

// betweenDatabases are the commands that name a second database.
var betweenDatabases = map[string]bool{"move": true, "copy": true}

// inEveryDatabase appends the units of a key's slot in all caches that have a
// number: one unit, unless these caches are of several placement groups.
func (r *run) inEveryDatabase(dst []*unit.Unit, key *record.Key) []*unit.Unit {
	for n := range topology.Databases {
		if cache := r.batch.Table.Database(n); cache != nil {
			key := record.Key{Cache: cache.ID, Slot: key.Slot}
			dst = append(dst, r.txn.UnitOf(&key))
		}
	}
	return dst
}

// wholeUnits appends all units of the caches that a command without keys is about.
func (r *run) wholeUnits(dst []*unit.Unit, req *wire.Request, cache *topology.Cache) []*unit.Unit {
	if req.Cmd.Name != "flushall" {
		return r.txn.UnitsOf(dst, cache.ID)
	}
	for n := range topology.Databases {
		if cache := r.batch.Table.Database(n); cache != nil {
			dst = r.txn.UnitsOf(dst, cache.ID)
		}
	}
	return dst
}

func argBytes(args [][]byte) int {
	n := 0
	for _, arg := range args {
		n += len(arg)
	}
	return n
}
