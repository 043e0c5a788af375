package topology

import "testing"

// The expected slots are what CLUSTER KEYSLOT of redis-server answers.
func TestSlot(t *testing.T) {
	for key, want := range map[string]uint16{
		"":                  0,
		"foo":               12182,
		"123456789":         12739,
		"{user1000}.follow": 3443,
		"user1000":          3443,
		"foo{}{bar}":        8363,
		"foo{{bar}}zap":     4015,
		"{bar":              4015,
		"foo{bar}{zap}":     5061,
	} {
		if got := Slot([]byte(key)); got != want {
			t.Errorf("Slot(%q) = %d, want %d", key, got, want)
		}
	}
}

func TestPartitionsAreConsecutiveSlots(t *testing.T) {
	if Partition(0) != 0 || Partition(63) != 0 || Partition(64) != 1 || Partition(Slots-1) != Partitions-1 {
		t.Error("a partition is 64 consecutive slots")
	}
}

func TestTableLookups(t *testing.T) {
	table := &Table{
		Caches: []Cache{{ID: 1, Name: "0", Database: 0, Group: 7}, {ID: 4, Name: "resp", Database: NoDatabase, Group: 7}},
		Groups: []Group{{ID: 7}},
	}
	for i := range table.Numbered {
		table.Numbered[i] = -1
	}
	table.Numbered[0] = 0
	if c := table.Database(0); c == nil || c.Name != "0" {
		t.Errorf("Database(0) = %v", c)
	}
	for _, n := range []int{-1, 1, Databases} {
		if c := table.Database(n); c != nil {
			t.Errorf("Database(%d) = %v, want none", n, c)
		}
	}
	if c := table.Cache(4); c == nil || c.Name != "resp" {
		t.Errorf("Cache(4) = %v", c)
	}
	if c := table.CacheNamed("resp"); c == nil || c.ID != 4 {
		t.Errorf("CacheNamed = %v", c)
	}
	if table.Cache(2) != nil || table.CacheNamed("x") != nil || table.Group(1) != nil || table.Group(7) == nil {
		t.Error("a lookup of what is missing must answer nil")
	}
}
