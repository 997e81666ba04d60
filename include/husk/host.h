/* SPDX-License-Identifier: Apache-2.0 */
/**
 * husk/host.h: what this host can do for a box, and what to do about each gap.
 */
#ifndef HUSK_HOST_H
#define HUSK_HOST_H

#include <stddef.h>
#include <stdint.h>

#include <husk/error.h>
#include <husk/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How a probe came out. */
enum husk_probe {
	HUSK_PROBE_OK = 0,     /**< there */
	HUSK_PROBE_WEAKER = 1, /**< missing; boxes run, with less */
	HUSK_PROBE_MISSING = 2 /**< missing; no box can run */
};

/** What was found out about this host; opaque. */
typedef struct husk_host husk_host;

/**
 * Probe everything that a box needs by trying it: short-lived child processes in
 * namespaces of their own; nothing on the host is changed and nothing is left behind.
 *
 * Ownership: *ret_host is the caller's, to be released with husk_host_free.
 * Errors: HUSK_E_MEMORY, HUSK_E_SYSTEM. Threads: any. Since: 0.1.0.
 */
HUSK_API int husk_host_probe(husk_host **ret_host, struct husk_error *err) HUSK_CHECKED;

/**
 * The probes: how many, and of each its name, how it came out (enum husk_probe), what was
 * found, and the remedy ("" where none is needed). index from 0; past the end: NULL or 0.
 *
 * Ownership: the host's. Errors: none. Threads: any. Since: 0.1.0.
 */
HUSK_API size_t husk_host_count(const husk_host *host);
HUSK_API const char *husk_host_name(const husk_host *host, size_t index);
HUSK_API int husk_host_state(const husk_host *host, size_t index);
HUSK_API const char *husk_host_finding(const husk_host *host, size_t index);
HUSK_API const char *husk_host_remedy(const husk_host *host, size_t index);

/**
 * 1 where boxes can run on this host, else 0.
 *
 * Ownership: a value. Errors: none. Threads: any. Since: 0.1.0.
 */
HUSK_API int husk_host_usable(const husk_host *host);

/**
 * Release a host. Accepts NULL and returns NULL.
 *
 * Ownership: takes the host. Errors: none. Threads: no other thread may be using it.
 * Since: 0.1.0.
 */
HUSK_API husk_host *husk_host_free(husk_host *host);

#ifdef __cplusplus
}
#endif

#endif
