package memory

import (
	"reflect"
	"unsafe"

	"github.com/coocood/freecache"
	"golang.org/x/sys/unix"
)

// askForHugePages asks the system to keep the rings of a cache in huge pages: entries
// are read at random places, where finding small pages takes its time.
// It returns how many bytes of rings it has found. freecache does not show them, so
// they are looked for by name; without them all works as before.
func askForHugePages(cache *freecache.Cache) int {
	segments := reflect.ValueOf(cache).Elem().FieldByName("segments")
	if segments.Kind() != reflect.Array {
		return 0
	}
	found := 0
	for i := range segments.Len() {
		ring := segments.Index(i).FieldByName("rb")
		if ring.Kind() != reflect.Struct {
			return found
		}
		data := ring.FieldByName("data")
		if data.Kind() != reflect.Slice || data.Len() == 0 {
			return found
		}
		found += data.Len()
		advise(data.UnsafePointer(), data.Len())
	}
	return found
}

// advise asks for the pages that lie in n bytes from p on.
func advise(p unsafe.Pointer, n int) {
	page := unix.Getpagesize()
	skip := -int(uintptr(p)) & (page - 1)
	if n -= skip; n < page {
		return
	}
	// A system without huge pages refuses.
	_ = unix.Madvise(unsafe.Slice((*byte)(unsafe.Add(p, skip)), n&^(page-1)), unix.MADV_HUGEPAGE)
}
