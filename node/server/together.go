package server

import (
	"time"

	"github.com/tiergrid/tiergrid/membership/topology"
	"github.com/tiergrid/tiergrid/node/command"
	"github.com/tiergrid/tiergrid/node/exec"
	"github.com/tiergrid/tiergrid/node/wire"
)

const (
	// maxBriskBytes is how long the arguments of a brisk request may be, and
	// maxBriskKeys how many it may have.
	maxBriskBytes = 16 << 10
	maxBriskKeys  = 32
)

// brisk are the commands, by their ID, that are run together with those of other
// sessions: single small steps, as long as their keys are in memory.
var brisk = func() []bool {
	list := make([]bool, command.Count())
	for _, cmd := range command.Commands() {
		list[cmd.ID] = cmd.Flags&command.Fast != 0 && cmd.First != 0 && exec.Lookup(cmd) != nil
	}
	for _, name := range []string{"set", "setex", "psetex", "getset", "mset", "del", "incrbyfloat"} {
		list[command.Lookup([]byte(name)).ID] = true
	}
	return list
}()

// together runs each batch up to its first request that has to wait. Those that only
// read come first: nothing they look at is locked then by what the others wrote, and
// they do not fail with them.
func (r *run) together(batches []*wire.Batch) {
	r.txn.Brisk()
	for _, reads := range [...]bool{true, false} {
		entered := false
		for _, b := range batches {
			if onlyReads(b) == reads {
				r.enter(b)
				r.briskly()
				entered = true
			}
		}
		if entered {
			r.commit()
		}
	}
	// Another worker has held the units of some, and is done with them by now.
	if len(r.refused) == 0 {
		return
	}
	for _, b := range r.refused {
		r.enter(b)
		r.briskly()
	}
	r.commit()
}

func (r *run) commit() {
	if err := r.txn.Commit(); err != nil {
		r.failed(r.batch.Done-1, err)
	}
	r.opened(r.batch.Done - 1)
}

func onlyReads(b *wire.Batch) bool {
	for i := range b.Requests {
		if b.Requests[i].Cmd.Flags&command.Write != 0 {
			return false
		}
	}
	return true
}

// briskly runs requests of the current batch, from the first that was not answered
// on, until one has to wait. They share the time that they took.
func (r *run) briskly() {
	b, from := r.batch, r.batch.Done
	r.untilOneWaits()
	if n := b.Done - from; n > 0 {
		each := r.clock.lap() / time.Duration(n)
		for i := from; i < b.Done; i++ {
			b.Requests[i].Elapsed = each
		}
	}
}

func (r *run) untilOneWaits() {
	for b := r.batch; b.Done < len(b.Requests) && !b.Out.Due(); b.Done++ {
		i, req := b.Done, &b.Requests[b.Done]
		if !r.mayRun(req) {
			return
		}
		r.at = i
		done, err := r.briskRequest(req)
		if done {
			err = r.settle(i)
		}
		switch {
		case err != nil:
			r.failed(i, err)
		case !done:
			return
		}
	}
}

// mayRun tells whether a request is worth a try.
func (r *run) mayRun(req *wire.Request) bool {
	if !brisk[req.Cmd.ID] || len(req.Args) > 2*maxBriskKeys || argBytes(req.Args) > maxBriskBytes {
		return false
	}
	cache := r.batch.Table.Database(req.Database)
	if cache == nil || cache.Policy.Durability == topology.DurabilityAlways {
		return false
	}
	return req.Cmd.Flags&command.Write == 0 || !r.server.units.Stalled()
}

// briskRequest is request without waiting. False means that nothing has happened: it
// would have to wait, or failed, and then it fails again where it spoils nobody else's
// requests. An error is that of a commit.
func (r *run) briskRequest(req *wire.Request) (bool, error) {
	f := r.prepare(req)
	if req.Cmd.Flags&command.Write == 0 && !r.txn.Written() {
		return r.briskRead(req, f)
	}
	if req.Cmd.Flags&command.DenyOOM != 0 && r.server.units.Room(argBytes(req.Args)) != nil {
		r.refuse(req, command.ErrOOM)
		return true, nil
	}
	return r.briskWrite(req, f)
}

func (r *run) briskRead(req *wire.Request, f exec.Func) (bool, error) {
	mark := r.batch.Out.Mark()
	for range readAttempts {
		r.txn.StartRead()
		r.invoke(req, f)
		ok, err := r.txn.FinishRead()
		if ok && err == nil {
			r.noteSent()
			return true, nil
		}
		r.batch.Out.Truncate(mark)
		if err != nil || r.txn.Waiting() {
			return false, nil
		}
	}
	return r.briskWrite(req, f)
}

// briskWrite runs a request under the locks of its units.
func (r *run) briskWrite(req *wire.Request, f exec.Func) (bool, error) {
	r.units = r.unitsOf(r.units[:0], req)
	commits := r.txn.Commits()
	ok, err := r.txn.TryAcquire(r.units...)
	if r.txn.Commits() != commits {
		r.opened(r.at - 1)
	}
	if err != nil {
		return false, err
	}
	if !ok {
		r.refused = append(r.refused, r.batch)
		return false, nil
	}
	mark := r.batch.Out.Mark()
	r.txn.StartWrite()
	r.invoke(req, f)
	if r.txn.FinishWrite() != nil {
		r.batch.Out.Truncate(mark)
		return false, nil
	}
	return true, nil
}
