/* SPDX-License-Identifier: Apache-2.0 */
/* Keeping the setup cache within its size. */
#ifndef SESSION_SETUP_EVICT_H
#define SESSION_SETUP_EVICT_H

#include <stdint.h>

struct setup_cache;

struct setup_evicted {
	uint64_t trees;
	uint64_t bytes;
};

/* Remove the trees that were used least recently until the rest fits. `keep` (a key, or
 * "") stays, and so do those in use by a live session. Returns what went. */
struct setup_evicted setup_evict(const struct setup_cache *cache, const char *keep);

#endif
