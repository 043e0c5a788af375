package server

import (
	"github.com/tiergrid/tiergrid/node/command"
	"github.com/tiergrid/tiergrid/node/record"
	"github.com/tiergrid/tiergrid/node/unit"
	"github.com/tiergrid/tiergrid/node/wire"
)

// maxTransactionReply bounds what the replies of one transaction may hold in
// memory, beside the last of them: they cannot leave before it is committed.
const maxTransactionReply = 64 << 20

// maxTransactionChange bounds the rows that one transaction may write, beside
// those of its last command: they are in memory until it is committed, and a
// short command may write a long value.
const maxTransactionChange = 256 << 20

// transaction runs all requests as one moment: all units are acquired first, and
// all changes are one batch with one version in each unit (R12).
func (r *run) transaction() error {
	out := r.batch.Out
	if refused := r.refuseTransaction(); refused != "" {
		r.refuseAll(refused)
		return nil
	}
	if err := r.acquireAll(); err != nil {
		r.transactionFailed(command.StorageFailed(err))
		return nil
	}
	r.txn.Transaction()
	untouched, err := r.untouched()
	switch {
	case err != nil:
		r.transactionFailed(command.StorageFailed(err))
		return nil
	case !untouched:
		out.NullArray()
	default:
		out.Array(len(r.batch.Requests))
		if refused := r.runAll(); refused != "" {
			r.transactionFailed(refused)
			return nil
		}
	}
	if err := r.txn.Commit(); err != nil {
		r.transactionFailed(command.StorageFailed(err))
	}
	return nil
}

// refuseTransaction returns the error of a transaction that may not begin.
func (r *run) refuseTransaction() command.Error {
	bytes, grows := 0, false
	for i := range r.batch.Requests {
		if req := &r.batch.Requests[i]; req.Local == nil {
			bytes += argBytes(req.Args)
			grows = grows || req.Cmd.Flags&command.DenyOOM != 0
		}
	}
	if grows && r.server.units.Room(bytes) != nil {
		return command.ExecAborted(command.ErrOOM)
	}
	return ""
}

func (r *run) acquireAll() error {
	units := r.units[:0]
	for i := range r.batch.Requests {
		req := &r.batch.Requests[i]
		if req.Local != nil || r.batch.Table.Database(req.Database) == nil {
			continue
		}
		units = r.unitsOf(units, req)
	}
	for i := range r.batch.Watches {
		key := r.watchedKey(i)
		units = append(units, r.txn.UnitOf(&key))
	}
	r.units = units
	return r.txn.Acquire(units...)
}

func (r *run) watchedKey(i int) record.Key {
	w := &r.batch.Watches[i]
	return record.MakeKey(&r.batch.Table.HashKey, w.Cache, w.Key)
}

// untouched tells whether all watched keys are as they were.
func (r *run) untouched() (bool, error) {
	untouched := true
	r.txn.StartWrite()
	for i := range r.batch.Watches {
		w := &r.batch.Watches[i]
		key := r.watchedKey(i)
		cache := r.batch.Table.Database(w.Database)
		moved := cache == nil || cache.ID != w.Cache
		if moved || !r.txn.Untouched(&key, unit.Watched{Version: w.Version, Token: w.Token, Epoch: w.Epoch}) {
			untouched = false
		}
	}
	return untouched, r.txn.FinishWrite()
}

// runAll runs the requests, or returns why the transaction must be given up.
func (r *run) runAll() command.Error {
	for i := range r.batch.Requests {
		req := &r.batch.Requests[i]
		if r.batch.Out.Pending() > maxTransactionReply {
			return command.ErrTransactionReply
		}
		if r.txn.Size() > maxTransactionChange {
			return command.ErrTransactionChange
		}
		if err := r.runOne(req); err != nil {
			return command.StorageFailed(err)
		}
		req.Elapsed = r.clock.lap()
	}
	return ""
}

func (r *run) runOne(req *wire.Request) error {
	if req.Local != nil {
		r.batch.Out.ResetError()
		req.Local(r.batch.Out)
		req.Error = r.batch.Out.LastError()
		return nil
	}
	f := r.prepare(req)
	if f == nil {
		return nil
	}
	r.txn.StartWrite()
	r.invoke(req, f)
	return r.txn.FinishWrite()
}

// transactionFailed answers a transaction that could not be carried out.
func (r *run) transactionFailed(err command.Error) {
	r.server.logger.Error("a transaction failed", "error", string(err))
	r.txn.Abort()
	r.batch.Out.Truncate(r.held[0].mark)
	r.refuseAll(err)
}

// refuseAll answers one error to all of the transaction.
func (r *run) refuseAll(err command.Error) {
	r.batch.Error = string(err)
	r.batch.Out.Error(r.batch.Error)
}
