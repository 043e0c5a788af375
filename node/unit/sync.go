package unit

import (
	"context"
	"time"

	"github.com/tiergrid/tiergrid/membership/topology"
)

// defaultSyncInterval holds while no cache asks for one.
const defaultSyncInterval = 50 * time.Millisecond

// syncLoop brings what was applied to disk at the shortest interval that a cache
// with durability interval asks for in the newest table.
func (s *Set) syncLoop(ctx context.Context) {
	s.lastSync.Store(s.config.Clock())
	pause := func() time.Duration { return syncInterval(s.table.Load()) }
	s.every(ctx, pause, func(context.Context) {
		if !s.unsynced.Load() {
			s.lastSync.Store(s.config.Clock())
			return
		}
		if err := s.sync(); err != nil {
			s.config.Logger.Error("cannot sync", "error", err)
		}
	})
}

func syncInterval(table *topology.Table) time.Duration {
	shortest := time.Duration(0)
	for i := range table.Caches {
		policy := &table.Caches[i].Policy
		if policy.Durability != topology.DurabilityInterval || policy.SyncInterval <= 0 {
			continue
		}
		if shortest == 0 || policy.SyncInterval < shortest {
			shortest = policy.SyncInterval
		}
	}
	if shortest == 0 {
		return defaultSyncInterval
	}
	return shortest
}

func (s *Set) sync() error {
	now := s.config.Clock()
	s.unsynced.Store(false)
	if err := s.stack.Sync(); err != nil {
		s.unsynced.Store(true)
		return err
	}
	s.lastSync.Store(now)
	return nil
}
