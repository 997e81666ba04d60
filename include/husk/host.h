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

/** What is to be found out. Zero is the default of every member. */
struct husk_host_options {
	size_t size; /**< sizeof(struct husk_host_options); HUSK_HOST_OPTIONS sets it */
	const char *store;   /**< the image store to look at: an absolute path; NULL: the
			      * one that struct husk_image_options has by default */
	int32_t skip_images; /**< 1: look at no store, and load no library for images */
	int32_t reserved;    /**< 0 */
};

/** Declare a struct husk_host_options called name: zeroed, size set. */
#define HUSK_HOST_OPTIONS(name)              \
	struct husk_host_options name = {0}; \
	name.size = sizeof(name)

/** What was found out about this host; opaque. */
typedef struct husk_host husk_host;

/**
 * Probe everything that a box needs by trying it: short-lived child processes in
 * namespaces of their own; nothing on the host is changed and nothing is left behind. The
 * libraries for images (libcurl and others) are loaded, as the first use of an image
 * does, and stay loaded.
 *
 * Ownership: *ret_host is the caller's, to be released with husk_host_free.
 * Errors: HUSK_E_MEMORY, HUSK_E_SYSTEM. Threads: any. Since: 0.1.0.
 */
HUSK_API int husk_host_probe(husk_host **ret_host, struct husk_error *err) HUSK_CHECKED;

/**
 * The same with options; NULL: the defaults. What options say to skip has no row.
 *
 * Ownership: *ret_host is the caller's, to be released with husk_host_free.
 * Errors: HUSK_E_INVALID, HUSK_E_MEMORY, HUSK_E_SYSTEM. Threads: any. Since: 0.1.0.
 */
HUSK_API int husk_host_probe_with(const struct husk_host_options *options,
				  husk_host **ret_host,
				  struct husk_error *err) HUSK_CHECKED;

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
 * The level of protection that boxes have on this host, in a word: "full"; "best-effort",
 * where some cap on memory, CPU or tasks cannot be enforced, so that runs that ask for it
 * need HUSK_LIMITS_BEST_EFFORT; or "none", where no box can run (there is no weaker one).
 * The summary is one sentence that gives the reasons. NULL for a NULL host.
 *
 * Ownership: the host's. Errors: none. Threads: any. Since: 0.1.0.
 */
HUSK_API const char *husk_host_level(const husk_host *host);
HUSK_API const char *husk_host_summary(const husk_host *host);

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
