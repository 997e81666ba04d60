/* SPDX-License-Identifier: Apache-2.0 */
/**
 * husk/options.h: the settings of a session and of one call.
 *
 * Both structs begin with their size and are safe when all else is zero: no network, no
 * host mounts, a read-only root, 512 MiB, 256 tasks, 30 seconds. Declare them with the
 * macros, which zero them and set the size:
 *
 *	HUSK_OPTIONS(opts);
 *	opts.timeout_ms = 2000;
 *
 * A struct that is smaller than the library's (an older caller) is filled up with
 * defaults; one that is larger is accepted only where the unknown tail is zero.
 * The library copies what it needs: the strings may be released after the call.
 * Every member whose name begins with allow_ weakens the isolation.
 */
#ifndef HUSK_OPTIONS_H
#define HUSK_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The largest husk_options.prewarm. */
#define HUSK_PREWARM_MAX 256

/** For memory_bytes, pids and cpu_milli: no cap, said explicitly. */
#define HUSK_UNLIMITED UINT64_MAX

/** For husk_mount.flags: the box may write to the host directory or file. */
#define HUSK_MOUNT_ALLOW_WRITE 1u

/** One extra mount: a host directory or regular file seen in the box. */
struct husk_mount {
	const char
	    *source; /**< absolute host path; links are resolved before it is checked */
	const char *target; /**< absolute path in the box */
	uint32_t flags;	    /**< 0 (read-only) or HUSK_MOUNT_ALLOW_WRITE */
	uint32_t reserved;  /**< 0 */
};

/** What to do where a resource cap cannot be enforced on this host. */
enum husk_limits {
	HUSK_LIMITS_ENFORCE = 0,    /**< the start fails and says why and what to do */
	HUSK_LIMITS_BEST_EFFORT = 1 /**< the box runs, and the result says what held */
};

/** When a session fetches its image; husk_options.pull. */
enum husk_pull {
	HUSK_PULL_MISSING = 0, /**< where the store does not have it */
	HUSK_PULL_NEVER = 1,   /**< never: what is missing is an error */
	HUSK_PULL_ALWAYS = 2   /**< ask the registry what the name stands for now */
};

/** Where images are kept and come from: husk/image.h. */
struct husk_image_options;

/** Settings of a session. Zero is the safe default of every member. */
struct husk_options {
	size_t size;	   /**< sizeof(struct husk_options); HUSK_OPTIONS sets it */
	const char *image; /**< "host", "dir:PATH", or an image as husk/image.h has it;
			    * NULL: "host" */
	const char *workspace; /**< host directory, made if absent, kept afterwards; NULL:
				* a private temporary directory, removed at close */
	const char *temp_dir;  /**< where that private directory is made, and the one that
				* a setup runs in; NULL: /tmp */
	const char *home; /**< the caller's home directory, which is never mounted; NULL:
			   * as /etc/passwd has it (which is refused in any case) */
	const struct husk_mount *mounts; /**< extra mounts, mount_count of them */
	size_t mount_count;
	const char *const *env; /**< "NAME=VALUE" strings, NULL-terminated; they override
				 * the image's Env, which overrides PATH, HOME and LANG as
				 * husk sets them; NULL: none. Nothing is taken from the
				 * caller's environment */
	const char *workdir; /**< working directory in the box; NULL: /workspace, and for
			      * the image's own command the image's WorkingDir */
	const char *user;    /**< in the box: "UID" or "UID:GID", decimal, or "NAME" or
			      *   "NAME:GROUP" as the image's /etc/passwd and /etc/group have
			      *   them; NULL: the image's User, else 0. On the host it is the
			      *   caller, or an unprivileged id where the caller is root */
	const char *seccomp; /**< "default", "strict", or the path of an OCI/Docker
			      * seccomp   JSON profile; NULL: "default" */
	uint64_t memory_bytes; /**< cap on memory with swap, bytes; 0: 512 MiB */
	uint64_t cpu_milli;    /**< cap on CPU in thousandths of one; 0: uncapped */
	uint64_t pids;	       /**< cap on tasks (threads count); 0: 256 */
	uint64_t timeout_ms;   /**< deadline of each call, milliseconds; 0: 30,000 */
	uint64_t
	    max_output_bytes; /**< captured bytes of each stream; 0: 64 MiB; what passes
			       * it is discarded and the result says truncated */
	uint64_t
	    tmp_bytes;	/**< size of /tmp (and of a writable root), bytes; 0: 256 MiB */
	int32_t limits; /**< enum husk_limits */
	int32_t allow_network;	     /**< 1: the box shares the host's network, with every
				      * service       that listens on it and every abstract
				      * socket; 0:       only a       loopback of its own */
	int32_t allow_writable_root; /**< 1: the root file system may be written to; the
				      * changes are thrown away with the box */
	int32_t pull;		     /**< enum husk_pull */
	int32_t deps_readonly; /**< 1: no box but that of a setup (husk/setup.h) may write
				* to /workspace/.deps */
	uint32_t prewarm;      /**< boxes kept ready for the next calls, at most
				* HUSK_PREWARM_MAX (docs/WARM.md); 0: none */
	const struct husk_image_options *images; /**< where the image is kept and comes
						  * from; used while the session is
						  * opened; NULL: all defaults */
	const char *const *preload; /**< Python modules that a waiting interpreter has
				     * imported already, dotted names, NULL-terminated;
				     * only with prewarm; NULL: none */
};

/** Where a call's standard input comes from. */
enum husk_stdin {
	HUSK_STDIN_EMPTY = 0, /**< end-of-file at once */
	HUSK_STDIN_DATA = 1,  /**< stdin_data, stdin_size bytes */
	HUSK_STDIN_FD = 2 /**< read from stdin_fd until its end; the box never holds it */
};

/** Which stream a callback is about. */
enum husk_stream { HUSK_STDOUT = 1, HUSK_STDERR = 2 };

/**
 * Called with every byte of a stream in order, as it comes, also past max_output_bytes.
 * stream is HUSK_STDOUT or HUSK_STDERR; data is valid during the call only. Called on the
 * thread that called husk_session_run. Return 0 to go on; any other value cancels the
 * box.
 */
typedef int (*husk_output_fn)(void *user, int stream, const void *data, size_t size);

/**
 * Called on the thread that called husk_session_run while that waits for the box: when a
 * signal handler has interrupted the wait, and every 50 ms. It is for languages that
 * note a signal in the handler and act on it later. Return 0 to go on waiting; any other
 * value cancels the box. The session must not be closed in it.
 */
typedef int (*husk_wait_fn)(void *user);

/** Stops running calls; made by husk_cancel_new (husk/session.h). */
typedef struct husk_cancel husk_cancel;

/** A terminal's size, for husk_call.resize_fd. */
struct husk_size {
	uint16_t rows;
	uint16_t columns;
};

/** Settings of one call. Zero is the default of every member; NULL may stand for all. */
struct husk_call {
	size_t size;	     /**< sizeof(struct husk_call); HUSK_CALL sets it */
	uint64_t timeout_ms; /**< deadline of this call; 0: the session's; never longer
			      * than the session's */
	int32_t stdin_kind;  /**< enum husk_stdin */
	int32_t stdin_fd;    /**< for HUSK_STDIN_FD; stays the caller's */
	const void
	    *stdin_data; /**< for HUSK_STDIN_DATA; must stay valid during the call */
	size_t stdin_size;
	husk_output_fn on_output; /**< NULL: none */
	void *user;		  /**< handed to on_output and on_wait */
	husk_cancel
	    *cancel; /**< NULL: the call cannot be cancelled; stays the caller's */
	const char *workdir; /**< working directory of this call; NULL: the session's */
	int32_t discard_output; /**< 1: nothing is captured (on_output still sees all) */
	int32_t skip_files;	/**< 1: do not look which workspace files changed */
	int32_t terminal; /**< 1: the box has a terminal of its own instead of the three
			   *   streams: what it shows is HUSK_STDOUT, standard input is
			   *   typed on it, and its end as Ctrl-D */
	uint16_t terminal_rows;	   /**< its size; 0: 24 */
	uint16_t terminal_columns; /**< 0: 80 */
	int32_t resize_fd; /**< a pipe's end over which new sizes come, a struct husk_size
			    *   by one write(2) each; stays the caller's; 0: none */
	int32_t explain_denials; /**< 1: every system call is traced, and the result lists
				  * what was refused (husk_result_denial_count). The box
				  * is as confined as ever and up to twenty times slower,
				  * and nothing in it can be traced by another program */
	husk_wait_fn on_wait;	 /**< NULL: none */
};

/** Declare a struct husk_options called name: zeroed, size set. */
#define HUSK_OPTIONS(name)              \
	struct husk_options name = {0}; \
	name.size = sizeof(name)

/** Declare a struct husk_call called name: zeroed, size set. */
#define HUSK_CALL(name)              \
	struct husk_call name = {0}; \
	name.size = sizeof(name)

#ifdef __cplusplus
}
#endif

#endif
