#include <malloc.h>
#include <stdint.h>
#include <sys/mman.h>

#ifdef __GLIBC__

// Memory of the store goes by way of this calloc, which is the C library's but for one
// thing: what is as large as a memtable asks for huge pages. Inserting into a memtable
// goes through memory at random, where finding small pages takes its time.
enum { huge_page = 2 << 20, large = 4 << 20 };

void *__libc_calloc(size_t count, size_t size);

void *calloc(size_t count, size_t size) {
	void *p = __libc_calloc(count, size);
	if (p != NULL && count * size >= large) {
		uintptr_t start = ((uintptr_t)p + huge_page - 1) & -(uintptr_t)huge_page;
		uintptr_t end = ((uintptr_t)p + count * size) & -(uintptr_t)huge_page;
		madvise((void *)start, end - start, MADV_HUGEPAGE); // it works without, too
	}
	return p;
}

// Blocks and memtables are allocated from whichever thread needs one. An arena for
// each thread would keep what the others could use: with small values that is some
// 35 MB of a process of 600 MB.
__attribute__((constructor)) static void one_arena(void) { mallopt(M_ARENA_MAX, 1); }

#endif
