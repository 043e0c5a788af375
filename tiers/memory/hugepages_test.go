package memory

import (
	"testing"

	"github.com/coocood/freecache"
)

// TestHugePagesFindTheRings: freecache still has its rings where they are looked for.
func TestHugePagesFindTheRings(t *testing.T) {
	const size = 32 << 20
	if found := askForHugePages(freecache.NewCache(size)); found != size {
		t.Errorf("found %d bytes of %d", found, size)
	}
}
