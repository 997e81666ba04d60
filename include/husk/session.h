/* SPDX-License-Identifier: Apache-2.0 */
/**
 * husk/session.h: a workspace, and the boxes that run on it.
 *
 * A session is a workspace (a host directory that every box sees at /workspace, the only
 * thing that outlives a box) plus the settings of its boxes. Each call is one fresh box.
 * Calls on one session may run at the same time from many threads.
 * Each holds some descriptors (docs/PERFORMANCE.md counts them); one that finds none left
 * (RLIMIT_NOFILE) waits, up to its own deadline, until another of the session has ended.
 *
 * Which directories the workspace and the mounts are is settled when the session is
 * opened, links on the way to them included. Where the workspace's path does not lead to
 * that directory any more, since it was removed, moved or replaced, calls fail with
 * HUSK_E_SYSTEM until it does again: a box would work where nobody looks.
 */
#ifndef HUSK_SESSION_H
#define HUSK_SESSION_H

#include <stddef.h>
#include <stdint.h>

#include <husk/error.h>
#include <husk/export.h>
#include <husk/options.h>
#include <husk/result.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A workspace and the settings of its boxes; opaque. */
typedef struct husk_session husk_session;

/**
 * Check the settings, make or open the workspace, and make everything ready to run boxes.
 * options NULL stands for all defaults.
 *
 * Ownership: *ret_session is the caller's, to be ended with husk_session_close.
 * Errors: HUSK_E_INVALID, HUSK_E_MEMORY, HUSK_E_MOUNT_REFUSED, HUSK_E_IMAGE,
 * HUSK_E_SYSTEM; where an image is fetched also HUSK_E_REGISTRY, HUSK_E_TOO_BIG,
 * HUSK_E_CANCELLED (husk_image_options.cancel was fired). Threads: any. Since: 0.1.0.
 */
HUSK_API int husk_session_open(const struct husk_options *options,
			       husk_session **ret_session,
			       struct husk_error *err) HUSK_CHECKED;

/**
 * Check settings as husk_session_open does, without making or changing anything. NULL
 * stands for all defaults. What only opening finds out (that a workspace can be made, or
 * that there is such an image) is not checked; no image is fetched.
 *
 * Ownership: the options stay the caller's. Errors: as husk_session_open. Threads: any.
 * Since: 0.1.0.
 */
HUSK_API int husk_options_check(const struct husk_options *options,
				struct husk_error *err) HUSK_CHECKED;

/**
 * Run a program in a fresh box and wait for it. argv is NULL-terminated; argv[0] is
 * looked up in the box's PATH when it holds no slash. argv NULL or empty stands for the
 * image's own command, its Entrypoint and Cmd, in the image's WorkingDir unless a working
 * directory is given: HUSK_E_INVALID where the image has none, as "host" and "dir:" never
 * have. call NULL stands for all defaults.
 *
 * Returns 0 whenever there is a result, whatever the program did and also where the box
 * could not be started (fault startup_failed).
 *
 * Ownership: *ret_result is the caller's, to be released with husk_result_free.
 * Errors: HUSK_E_INVALID, HUSK_E_MEMORY, HUSK_E_SYSTEM, HUSK_E_CLOSED.
 * Threads: any, also at the same time on one session. Since: 0.1.0.
 */
HUSK_API int husk_session_run(husk_session *session, const char *const argv[],
			      const struct husk_call *call, husk_result **ret_result,
			      struct husk_error *err) HUSK_CHECKED;

/**
 * Run a snippet of source code in a fresh box: "python" with the meaning of python3 -c,
 * "bash" with that of bash -c (sh where the image has no bash), "node" with that of node
 * -e. The code may be of any size up to 256 MiB and must not hold a NUL byte.
 *
 * Ownership, errors and threads: as husk_session_run. Since: 0.1.0.
 */
HUSK_API int husk_session_run_code(husk_session *session, const char *language,
				   const char *code, size_t size,
				   const struct husk_call *call, husk_result **ret_result,
				   struct husk_error *err) HUSK_CHECKED;

/**
 * What a run of argv would do, as text, without doing it: the plan of the box. No
 * privilege is needed and nothing is started.
 *
 * Ownership: *ret_text is the caller's; release it with free(3). Errors:
 * HUSK_E_INVALID, HUSK_E_MEMORY, HUSK_E_CLOSED. Threads: any. Since: 0.1.0.
 */
HUSK_API int husk_session_explain(husk_session *session, const char *const argv[],
				  const struct husk_call *call, char **ret_text,
				  struct husk_error *err) HUSK_CHECKED;

/**
 * Run a program as husk_session_run does, and find out where the time of its start went.
 *
 * The box is started for this call, also where the session keeps spares. The clock is
 * looked at at each step, which costs some tens of microseconds itself.
 *
 * *ret_text is a table for people: a line a step, in microseconds of the monotonic clock,
 * in the order of the start.
 *
 * Ownership: *ret_result as for husk_session_run; *ret_text is the caller's, to be
 * released with free(3).
 * Errors: as husk_session_run.
 * Threads: any, at the same time.
 * Since: 0.1.0.
 */
HUSK_API int husk_session_explain_timing(husk_session *session, const char *const argv[],
					 const struct husk_call *call,
					 husk_result **ret_result, char **ret_text,
					 struct husk_error *err);

/**
 * The host path of the workspace, absolute.
 *
 * Ownership: the session's, until it is closed (not: ended). Errors: none. Threads: any.
 * Since: 0.1.0.
 */
HUSK_API const char *husk_session_workspace(const husk_session *session);

/**
 * Write a file of the workspace: the parent directories are made, and a reader sees
 * either the old or the new content whole. path is relative to the workspace; no link is
 * followed on the way and a link at the end is replaced, never written through.
 *
 * Ownership: data stays the caller's. Errors: HUSK_E_INVALID, HUSK_E_PATH, HUSK_E_SYSTEM,
 * HUSK_E_MEMORY, HUSK_E_CLOSED. Threads: any. Since: 0.1.0.
 */
HUSK_API int husk_session_write(husk_session *session, const char *path, const void *data,
				size_t size, struct husk_error *err) HUSK_CHECKED;

/**
 * Read a regular file of the workspace whole. path is relative to the workspace; links
 * are not followed, and pipes, sockets and devices are never opened. max_bytes bounds the
 * size (0: 1 GiB).
 *
 * Ownership: *ret_data is the caller's; release it with free(3); a NUL that is not
 * counted follows the data. Errors: HUSK_E_INVALID, HUSK_E_PATH, HUSK_E_TOO_BIG,
 * HUSK_E_SYSTEM, HUSK_E_MEMORY, HUSK_E_CLOSED. Threads: any. Since: 0.1.0.
 */
HUSK_API int husk_session_read(husk_session *session, const char *path,
			       uint64_t max_bytes, void **ret_data, size_t *ret_size,
			       struct husk_error *err) HUSK_CHECKED;

/** The boxes that a session keeps ready (husk_options.prewarm), at one moment. */
struct husk_spares {
	size_t size;	       /**< sizeof(struct husk_spares), set by the caller */
	uint32_t wanted;       /**< how many there are to be */
	uint32_t starting;     /**< being made */
	uint32_t programs;     /**< ready for any program */
	uint32_t interpreters; /**< ready for source code */
	uint64_t memory_bytes; /**< what the processes of the ready ones have to
				* themselves; the kernel's own part is not counted */
	char trouble[512];     /**< why the last one could not be made, or which module to
				* preload it could not import; "" where all is well */
};

/**
 * How many boxes wait for their call, and what they cost. All zero in a session without
 * prewarm, and in a process that inherited the session by fork.
 *
 * Ownership: plain data of the caller's. Errors: none. Threads: any. Since: 0.1.0.
 */
HUSK_API void husk_session_spares(husk_session *session, struct husk_spares *ret);

/** A listing of workspace files; opaque. */
typedef struct husk_listing husk_listing;

/**
 * List the regular files below subdir (relative; NULL or "": the whole workspace), sorted
 * by path. The directory .deps at the top and links are left out.
 *
 * Ownership: *ret_listing is the caller's, to be released with husk_listing_free.
 * Errors: HUSK_E_INVALID, HUSK_E_PATH, HUSK_E_SYSTEM, HUSK_E_MEMORY, HUSK_E_CLOSED.
 * Threads: any. Since: 0.1.0.
 */
HUSK_API int husk_session_list(husk_session *session, const char *subdir,
			       husk_listing **ret_listing,
			       struct husk_error *err) HUSK_CHECKED;

/**
 * A listing's length, and of each entry the path (relative to the workspace) and the size
 * in bytes. index from 0; past the end: NULL or 0.
 *
 * Ownership: the listing's. Errors: none. Threads: any. Since: 0.1.0.
 */
HUSK_API size_t husk_listing_count(const husk_listing *listing);
HUSK_API const char *husk_listing_path(const husk_listing *listing, size_t index);
HUSK_API uint64_t husk_listing_size(const husk_listing *listing, size_t index);

/**
 * 1 where the listing is whole, 0 where there is or may be more: a bound was reached, or
 * a directory could not be read.
 *
 * Ownership: a value. Errors: none. Threads: any. Since: 0.1.0.
 */
HUSK_API int husk_listing_complete(const husk_listing *listing);

/**
 * Release a listing. Accepts NULL and returns NULL.
 *
 * Ownership: takes the listing. Errors: none. Threads: no other thread may be using it.
 * Since: 0.1.0.
 */
HUSK_API husk_listing *husk_listing_free(husk_listing *listing);

/**
 * End a session: refuses new calls, cancels and waits for those that are running, removes
 * the workspace if it is the private temporary one. Accepts NULL and returns NULL.
 *
 * Ownership: takes the session. Errors: none. Threads: any; no call on the session may
 * begin after this one has returned. Since: 0.1.0.
 */
HUSK_API husk_session *husk_session_close(husk_session *session);

/**
 * Do what husk_session_close does, but for the session's memory: what is called on it
 * afterwards fails with HUSK_E_CLOSED. For callers that cannot say in one place that
 * nobody has the pointer any more, such as the bindings of a language with a garbage
 * collector; husk_session_close is then the last thing, and has only memory to free.
 *
 * Refuses new calls and cancels those that are running at once, and waits for them up to
 * wait_ms milliseconds (UINT64_MAX: as long as it takes). Returns 1 where the session has
 * ended, now or before, and 0 where a call on it was still running then: nothing was
 * removed, and this may be called again. With wait_ms 0 it may also be called from within
 * on_output and on_wait. Accepts NULL and returns 1.
 *
 * Ownership: the session stays the caller's, to be released with husk_session_close.
 * Errors: none. Threads: any. Since: 0.1.0.
 */
HUSK_API int husk_session_end(husk_session *session, uint64_t wait_ms);

/**
 * Remove what callers that were killed have left behind: temporary workspaces of this
 * user in temp_dir (NULL: /tmp) and control groups of boxes. What belongs to a live
 * caller is told by its lock and not touched. Opening a session with a temporary
 * workspace and starting a box do the same in their own place, where many live with some
 * of them at a time. ret_workspaces and ret_groups (how many were removed) may be NULL.
 *
 * Ownership: values. Errors: HUSK_E_SYSTEM. Threads: any. Since: 0.1.0.
 */
HUSK_API int husk_sweep(const char *temp_dir, uint64_t *ret_workspaces,
			uint64_t *ret_groups, struct husk_error *err) HUSK_CHECKED;

/**
 * Make an object that stops calls: give it to any number of calls in struct husk_call.
 *
 * Ownership: *ret_cancel is the caller's, to be released with husk_cancel_free after the
 * calls that hold it have returned. Errors: HUSK_E_MEMORY, HUSK_E_SYSTEM. Threads: any.
 * Since: 0.1.0.
 */
HUSK_API int husk_cancel_new(husk_cancel **ret_cancel,
			     struct husk_error *err) HUSK_CHECKED;

/**
 * Stop every call that holds this object, now and later: they return with the fault
 * cancelled. Safe in a signal handler.
 *
 * Ownership: stays the caller's. Errors: none. Threads: any. Since: 0.1.0.
 */
HUSK_API void husk_cancel_fire(husk_cancel *cancel);

/**
 * Release a cancel object. Accepts NULL and returns NULL.
 *
 * Ownership: takes the object. Errors: none. Threads: no call may hold it. Since: 0.1.0.
 */
HUSK_API husk_cancel *husk_cancel_free(husk_cancel *cancel);

#ifdef __cplusplus
}
#endif

#endif
