/* SPDX-License-Identifier: Apache-2.0 */
/* Keeping the setup cache within its size. */
#ifndef SESSION_SETUP_EVICT_H
#define SESSION_SETUP_EVICT_H

struct setup_cache;

/* Remove the trees that were used least recently until the rest fits. `keep` stays, and
 * so do those in use by a live session. */
void setup_evict(const struct setup_cache *cache, const char *keep);

#endif
