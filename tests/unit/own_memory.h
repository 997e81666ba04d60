/* SPDX-License-Identifier: Apache-2.0 */
/* Is the memory of this process what the program needs, so that it may be measured? The
 * sanitizers and valgrind keep far more beside it. */
#ifndef TESTS_UNIT_OWN_MEMORY_H
#define TESTS_UNIT_OWN_MEMORY_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static inline bool memory_is_its_own(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return false;
#else
	const char *preload = getenv("LD_PRELOAD");

	return !preload || !strstr(preload, "vgpreload");
#endif
}

#endif
