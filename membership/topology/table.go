package topology

// Member is one process as the control state knows it.
type Member struct {
	Name        string
	StoreID     string // one life of its data directory
	Incarnation uint64 // one start of its process
	Zone        string
}

// Table is the immutable snapshot that everyone routes by.
type Table struct {
	// Index is that of the control entry this table shows; it only grows.
	Index uint64
	// ClusterID names the grid; HashKey keys the hash that orders keys on disk.
	ClusterID string
	HashKey   [16]byte

	Members []Member
	// Caches is sorted by ID; Groups likewise.
	Caches []Cache
	Groups []Group
	// Numbered maps a database number to an index into Caches, or -1.
	Numbered [Databases]int
}

// Database returns the cache that SELECT n reaches, or nil.
func (t *Table) Database(n int) *Cache {
	if n < 0 || n >= len(t.Numbered) || t.Numbered[n] < 0 {
		return nil
	}
	return &t.Caches[t.Numbered[n]]
}

// Cache returns the cache of that id, or nil.
func (t *Table) Cache(id CacheID) *Cache {
	for i := range t.Caches {
		if t.Caches[i].ID == id {
			return &t.Caches[i]
		}
	}
	return nil
}

// CacheNamed returns the cache of that name, or nil.
func (t *Table) CacheNamed(name string) *Cache {
	for i := range t.Caches {
		if t.Caches[i].Name == name {
			return &t.Caches[i]
		}
	}
	return nil
}

// Group returns the placement group of that id, or nil.
func (t *Table) Group(id GroupID) *Group {
	for i := range t.Groups {
		if t.Groups[i].ID == id {
			return &t.Groups[i]
		}
	}
	return nil
}
