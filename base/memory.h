/* SPDX-License-Identifier: Apache-2.0 */
/* Heap ownership by scope. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdlib.h>

static inline void memory_free_ptr(void *ptr)
{
	free(*(void **)ptr);
}

/* Frees a heap pointer when the scope ends: CLEANUP_FREE char *s = NULL; */
#define CLEANUP_FREE __attribute__((cleanup(memory_free_ptr)))

/* Hand over: yields the pointer and disarms the owner. */
#define TAKE_PTR(p)                     \
	({                              \
		__typeof__(p) t_ = (p); \
		(p) = NULL;             \
		t_;                     \
	})

#endif
