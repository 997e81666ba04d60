/* SPDX-License-Identifier: Apache-2.0 */
/**
 * husk/setup.h: installing what the boxes of a session need.
 *
 * Usage:
 *	HUSK_SETUP(setup);
 *	setup.cache_dir = "/home/user/.cache/husk";
 *	if (husk_session_setup(session, "pip install pandas", &setup, NULL, &err) < 0)
 *		return fail(&err);
 *
 * A setup is one box that runs a shell command with the network on and may write to
 * /workspace/.deps, where Python in every box of the session looks for modules. It has
 * larger defaults than other boxes and a /tmp on the host's disk, so that a real package
 * installs. Everything in it dies with it.
 */
#ifndef HUSK_SETUP_H
#define HUSK_SETUP_H

#include <stddef.h>
#include <stdint.h>

#include <husk/error.h>
#include <husk/export.h>
#include <husk/options.h>
#include <husk/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Settings of one setup. Zero is the default of every member; NULL may stand for all. */
struct husk_setup {
	size_t size;	       /**< sizeof(struct husk_setup); HUSK_SETUP sets it */
	const char *cache_dir; /**< absolute; where the outcome is kept for the next
				* session that asks for the same; NULL: nowhere */
	uint64_t cache_bytes;  /**< what is kept there takes no more than this, bytes; the
				*   least recently used goes first; 0: 4 GiB */
	uint64_t timeout_ms;   /**< deadline; 0: the session's, and at least 300,000 */
	uint64_t memory_bytes; /**< cap on memory; 0: the session's, and at least 2 GiB */
	husk_output_fn on_output; /**< sees what the command prints; NULL: none */
	void *user;		  /**< handed to on_output */
	husk_cancel *cancel;	  /**< NULL: cannot be cancelled; stays the caller's */
	int32_t offline;  /**< 1: the network stays off (unless it is on for every box of
			   *   the session), to install from local files */
	int32_t reserved; /**< 0 */
};

/** Declare a struct husk_setup called name: zeroed, size set. */
#define HUSK_SETUP(name)              \
	struct husk_setup name = {0}; \
	name.size = sizeof(name)

/**
 * Run a shell command (sh -c) once, to install into the workspace's .deps. A command that
 * begins with `pip install` is routed there, and a pip that is called in any other way
 * finds its options set so.
 *
 * With a cache_dir, the outcome of the same command on the same image with the same local
 * inputs is taken from there and no box is run: *ret_cached (may be NULL) is then 1. The
 * inputs are the session's variables and, for a plain `pip install`, the files and
 * directories in the workspace and in mounts that its words, and the requirements files
 * among them, name; for any other command all of the workspace and of the mounts. Kept is
 * what lies in .deps: a command that changes other files of the workspace is run every
 * time. In a session with a private workspace and deps_readonly, which therefore nothing
 * can write to, the kept tree itself is shown to the boxes; otherwise it is copied.
 *
 * What is installed is added to what an earlier setup has left in .deps.
 *
 * Security: the command has the network of the host and sees the workspace, the mounts
 * and the variables of the session. cache_dir must be writable by its owner alone.
 *
 * Ownership: everything stays the caller's. Errors: HUSK_E_SETUP (the command failed, was
 * ended, or could not be started; the message has the end of what it printed, unless
 * on_output has seen that already; sys_errno is 0 where it ended by itself, ETIMEDOUT
 * where the deadline passed, ECANCELED where it was cancelled), HUSK_E_INVALID,
 * HUSK_E_PATH (there is a link or a file in the place of .deps), HUSK_E_MEMORY,
 * HUSK_E_SYSTEM, HUSK_E_CLOSED. Threads: any, also while other calls run. Since: 0.1.0.
 */
HUSK_API int husk_session_setup(husk_session *session, const char *command,
				const struct husk_setup *setup, int32_t *ret_cached,
				struct husk_error *err) HUSK_CHECKED;

/**
 * Let what setups have left in cache_dir take no more than keep_bytes: the least recently
 * used goes first; what a live session shows to its boxes stays. 0 removes all that is
 * not in use. Every setup does the same with its own cache_bytes. ret_trees and ret_bytes
 * (what was removed) may be NULL. A cache that is not there is empty.
 *
 * Ownership: values. Errors: HUSK_E_INVALID (it belongs to, or is open to changes by,
 * somebody else). Threads: any. Since: 0.1.0.
 */
HUSK_API int husk_setup_prune(const char *cache_dir, uint64_t keep_bytes,
			      uint64_t *ret_trees, uint64_t *ret_bytes,
			      struct husk_error *err) HUSK_CHECKED;

#ifdef __cplusplus
}
#endif

#endif
