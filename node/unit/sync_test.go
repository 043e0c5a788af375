package unit

import (
	"testing"
	"time"

	"github.com/tiergrid/tiergrid/membership/topology"
)

// TestTheShortestIntervalCounts: caches with durability interval are synced as
// often as the most careful of them asks; others ask for nothing.
func TestTheShortestIntervalCounts(t *testing.T) {
	cache := func(durability string, interval time.Duration) topology.Cache {
		return topology.Cache{Policy: topology.Policy{Durability: durability, SyncInterval: interval}}
	}
	for name, c := range map[string]struct {
		caches []topology.Cache
		want   time.Duration
	}{
		"none":         {nil, defaultSyncInterval},
		"always alone": {[]topology.Cache{cache(topology.DurabilityAlways, time.Millisecond)}, defaultSyncInterval},
		"one that is longer than the default": {
			[]topology.Cache{cache(topology.DurabilityInterval, time.Second)}, time.Second},
		"the shortest": {[]topology.Cache{
			cache(topology.DurabilityInterval, time.Second), cache(topology.DurabilityInterval, 10*time.Millisecond),
			cache(topology.DurabilityNone, time.Millisecond)}, 10 * time.Millisecond},
	} {
		if got := syncInterval(&topology.Table{Caches: c.caches}); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestTheSyncFollowsTheTable: what was applied is synced at the interval of the
// table that holds now, not of the one the Set was opened with.
func TestTheSyncFollowsTheTable(t *testing.T) {
	s := fresh(t)
	careful := *s.table.Load()
	careful.Index++
	careful.Caches = append([]topology.Cache(nil), careful.Caches...)
	careful.Caches[0].Policy.SyncInterval = time.Millisecond
	s.Adopt(&careful)
	if got := syncInterval(s.table.Load()); got != time.Millisecond {
		t.Errorf("the interval is %v", got)
	}
	s.put("k", "v", 0)
	for end := time.Now().Add(10 * time.Second); s.unsynced.Load(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("nothing was synced")
		}
	}
}
