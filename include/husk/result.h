/* SPDX-License-Identifier: Apache-2.0 */
/**
 * husk/result.h: what the code did and what the sandbox did.
 *
 * A result is made by husk_session_run and husk_session_run_code and released with
 * husk_result_free. It never changes after it was made, so any number of threads may read
 * it; pointers that getters return live as long as the result. Getters cannot fail; given
 * NULL they return 0, NULL or the empty value.
 */
#ifndef HUSK_RESULT_H
#define HUSK_RESULT_H

#include <stddef.h>
#include <stdint.h>

#include <husk/error.h>
#include <husk/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The outcome of one call; opaque. */
typedef struct husk_result husk_result;

/** What the sandbox did; HUSK_FAULT_NONE: nothing, whatever the exit code is. */
enum husk_fault {
	HUSK_FAULT_NONE = 0,
	HUSK_FAULT_TIMEOUT = 1,	       /**< the deadline passed and the box was ended */
	HUSK_FAULT_ESCAPE_BLOCKED = 2, /**< a denied system call ended a program */
	HUSK_FAULT_OOM = 3,    /**< the kernel ended a program for the memory cap */
	HUSK_FAULT_KILLED = 4, /**< SIGKILL that none of the others explains */
	HUSK_FAULT_STARTUP_FAILED = 5, /**< no program was run */
	HUSK_FAULT_CANCELLED = 6       /**< the caller stopped it */
};

/** How a file of the workspace differs from before the call. */
enum husk_change { HUSK_FILE_CREATED = 1, HUSK_FILE_MODIFIED = 2, HUSK_FILE_DELETED = 3 };

/** How far a cap held in this run. */
enum husk_limit_state {
	HUSK_LIMIT_OFF = 0, /**< not asked for */
	HUSK_LIMIT_BEST_EFFORT =
	    1,			/**< asked for, and not enforced by the kernel as asked */
	HUSK_LIMIT_ENFORCED = 2 /**< set, and read back from the kernel */
};

/** A usage figure that this host cannot tell. */
#define HUSK_UNKNOWN UINT64_MAX

/** What the box used; HUSK_UNKNOWN where the host cannot tell. */
struct husk_usage {
	size_t size;	  /**< sizeof(struct husk_usage), set by the caller */
	uint64_t wall_us; /**< microseconds from the call to the end of the box */
	uint64_t cpu_us;  /**< user and system time of everything in the box */
	uint64_t memory_peak_bytes; /**< the most memory in use at one time */
	uint64_t pids_peak;	    /**< the most tasks at one time */
	uint64_t pids_denied;	    /**< how often the task cap refused a new task */
};

/**
 * Captured standard output or error: *ret_size bytes (ret_size may be NULL), followed by
 * a NUL that is not counted. The bytes are exact and may hold NULs.
 *
 * Ownership: the result's. Errors: none. Threads: any. Since: 0.1.0.
 */
HUSK_API const char *husk_result_stdout(const husk_result *result, size_t *ret_size);
HUSK_API const char *husk_result_stderr(const husk_result *result, size_t *ret_size);

/**
 * The program's exit code; 128+N when signal N ended it; 126 and 127 when it could not be
 * executed or found; 124 for a timeout and 125 for a start that failed.
 *
 * Ownership: a value. Errors: none. Threads: any. Since: 0.1.0.
 */
HUSK_API int husk_result_exit_code(const husk_result *result);

/**
 * The signal that ended the main process, or 0. SIGSYS for a denied system call.
 *
 * Ownership: a value. Errors: none. Threads: any. Since: 0.1.0.
 */
HUSK_API int husk_result_signal(const husk_result *result);

/**
 * Wall-clock time of the call in milliseconds, by the monotonic clock.
 *
 * Ownership: a value. Errors: none. Threads: any. Since: 0.1.0.
 */
HUSK_API uint64_t husk_result_duration_ms(const husk_result *result);

/**
 * 1 where the exit code is 0 and there is no fault, else 0.
 *
 * Ownership: a value. Errors: none. Threads: any. Since: 0.1.0.
 */
HUSK_API int husk_result_success(const husk_result *result);

/**
 * 1 where one of the streams passed its cap, else 0.
 *
 * Ownership: a value. Errors: none. Threads: any. Since: 0.1.0.
 */
HUSK_API int husk_result_truncated(const husk_result *result);

/**
 * What the sandbox did (enum husk_fault), decided from kernel facts alone.
 *
 * Ownership: a value. Errors: none. Threads: any. Since: 0.1.0.
 */
HUSK_API int husk_result_fault(const husk_result *result);

/**
 * The fault's name as in JSON ("timeout", "escape_blocked", ...), a sentence about it,
 * and the particulars (the denied system call, the failed step, the cap). NULL without a
 * fault; the detail may be the empty string.
 *
 * Ownership: the result's. Errors: none. Threads: any. Since: 0.1.0.
 */
HUSK_API const char *husk_result_fault_name(const husk_result *result);
HUSK_API const char *husk_result_fault_message(const husk_result *result);
HUSK_API const char *husk_result_fault_detail(const husk_result *result);

/**
 * The remedy for a startup_failed, one line, or NULL.
 *
 * Ownership: the result's. Errors: none. Threads: any. Since: 0.1.0.
 */
HUSK_API const char *husk_result_hint(const husk_result *result);

/**
 * Where the program was not found or could not be executed (exit codes 127 and 126): one
 * line that says so. NULL when a program ran, so a program's own 127 is told apart.
 *
 * Ownership: the result's. Errors: none. Threads: any. Since: 0.1.0.
 */
HUSK_API const char *husk_result_exec_error(const husk_result *result);

/**
 * What the box used; usage->size must be set.
 *
 * Ownership: filled in for the caller. Errors: none. Threads: any. Since: 0.1.0.
 */
HUSK_API void husk_result_usage(const husk_result *result, struct husk_usage *usage);

/**
 * How far each cap held (enum husk_limit_state).
 *
 * Ownership: a value. Errors: none. Threads: any. Since: 0.1.0.
 */
HUSK_API int husk_result_limit_memory(const husk_result *result);
HUSK_API int husk_result_limit_cpus(const husk_result *result);
HUSK_API int husk_result_limit_pids(const husk_result *result);

/**
 * The workspace files that this call created, modified or deleted, sorted by path: how
 * many, and of each the path (relative to the workspace, any bytes but NUL), the size in
 * bytes (0 where deleted) and the change (enum husk_change). index from 0; past the end:
 * NULL or 0.
 *
 * Ownership: the result's. Errors: none. Threads: any. Since: 0.1.0.
 */
HUSK_API size_t husk_result_file_count(const husk_result *result);
HUSK_API const char *husk_result_file_path(const husk_result *result, size_t index);
HUSK_API uint64_t husk_result_file_size(const husk_result *result, size_t index);
HUSK_API int husk_result_file_change(const husk_result *result, size_t index);

/**
 * 1 where the files above are all, 0 where there are or may be more: a bound was reached,
 * or the box left a directory that cannot be read.
 *
 * Ownership: a value. Errors: none. Threads: any. Since: 0.1.0.
 */
HUSK_API int husk_result_files_complete(const husk_result *result);

/** What a call ran in. */
enum husk_spare {
	HUSK_SPARE_NONE = 0,	   /**< a box made for it */
	HUSK_SPARE_PROGRAM = 1,	   /**< one that was ready for any program */
	HUSK_SPARE_INTERPRETER = 2 /**< one whose interpreter waited for source code */
};

/**
 * Which kind of box the call ran in (husk_options.prewarm): enum husk_spare.
 *
 * Ownership: a value. Errors: none. Threads: any. Since: 0.1.0.
 */
HUSK_API int husk_result_spare(const husk_result *result);

/**
 * What the box was refused, where the call asked for it (husk_call.explain_denials): how
 * many kinds of refusals, and of each
 *
 * - the layer: "seccomp", "read-only", "permissions", "capabilities", "ids", "landlock",
 *   "network", "tasks", "memory", "space", or "tracing" for what this very look forbids;
 * - the system call, the empty string where it is about none;
 * - what it was about: a path of the box, an address, numbers, or the empty string. These
 *   are the box's own words, any bytes but NUL;
 * - the answer: an errno's name, "killed", "SIGSYS", or "no effect";
 * - how often;
 * - the command-line option that would loosen just that, or NULL where nothing does.
 *
 * What ended a program comes first, what programs know how to do without comes last. The
 * answers are the filter's and the kernel's own. Past the end: NULL or 0.
 *
 * Ownership: the result's. Errors: none. Threads: any. Since: 0.1.0.
 */
HUSK_API size_t husk_result_denial_count(const husk_result *result);
HUSK_API const char *husk_result_denial_layer(const husk_result *result, size_t index);
HUSK_API const char *husk_result_denial_call(const husk_result *result, size_t index);
HUSK_API const char *husk_result_denial_subject(const husk_result *result, size_t index);
HUSK_API const char *husk_result_denial_answer(const husk_result *result, size_t index);
HUSK_API uint64_t husk_result_denial_times(const husk_result *result, size_t index);
HUSK_API const char *husk_result_denial_loosen(const husk_result *result, size_t index);

/**
 * 1 where the refusals above are all, 0 where there were more kinds than are kept, or the
 * call did not ask for them.
 *
 * Ownership: a value. Errors: none. Threads: any. Since: 0.1.0.
 */
HUSK_API int husk_result_denials_complete(const husk_result *result);

/**
 * The whole result as one JSON object (UTF-8, no newline, NUL-terminated). Bytes that are
 * not UTF-8 become U+FFFD, and then stdout_b64 or stderr_b64 hold them exactly.
 *
 * Ownership: *ret_json is the caller's; release it with free(3). Errors: HUSK_E_MEMORY.
 * Threads: any. Since: 0.1.0.
 */
HUSK_API int husk_result_to_json(const husk_result *result, char **ret_json,
				 struct husk_error *err) HUSK_CHECKED;

/**
 * Release a result. Accepts NULL and returns NULL.
 *
 * Ownership: takes the result. Errors: none. Threads: no other thread may be using it.
 * Since: 0.1.0.
 */
HUSK_API husk_result *husk_result_free(husk_result *result);

#ifdef __cplusplus
}
#endif

#endif
