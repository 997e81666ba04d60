/* SPDX-License-Identifier: Apache-2.0 */
/* What the command says: errors as `husk: WHAT: WHY` and `hint: ...` on stderr, and whole
 * texts on stdout. */
#ifndef CLI_SAY_H
#define CLI_SAY_H

#include <husk/error.h>

#include <stddef.h>

/* The exit codes that are husk's own. */
enum cli_exit {
	CLI_EXIT_OK = 0,
	CLI_EXIT_NO = 1, /* doctor: no box can run here; setup: the command failed */
	CLI_EXIT_TIMEOUT = 124,	 /* setup: the deadline passed */
	CLI_EXIT_CANNOT = 125,	 /* usage, or husk could not do it */
	CLI_EXIT_SIGNAL = 128,	 /* + the signal that stopped husk */
	CLI_EXIT_NO_READER = 141 /* nobody reads husk's output any more */
};

/* Fill in err as HUSK_E_INVALID and return that. */
int cli_error(struct husk_error *err, const char *where, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Add the remedy to an error that is already filled in. */
void cli_error_hint(struct husk_error *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* HUSK_E_MEMORY with the usual words. */
int cli_error_memory(struct husk_error *err, const char *where);

/* Print `husk: what: why` and, unless hint is NULL or empty, `hint: hint`; what may be
 * NULL. Control characters are escaped. One write, so that lines of two commands do not
 * mix. */
void cli_say(const char *what, const char *why, const char *hint);

/* Print an error. Returns CLI_EXIT_CANNOT. */
int cli_say_error(const struct husk_error *err) __attribute__((nonnull(1)));

/* Print an error of a call that a signal may have stopped: that somebody did so is no
 * news to them. Returns CLI_EXIT_CANNOT, or the exit code for the signal. */
int cli_say_stopped(const struct husk_error *err) __attribute__((nonnull(1)));

/* Print an error in how the command was typed: the hint also names `husk help VERB` (verb
 * NULL: `husk help`). Returns CLI_EXIT_CANNOT. */
int cli_say_usage(const struct husk_error *err, const char *verb)
    __attribute__((nonnull(1)));

/* Write all of data, waiting where fd does not block. 0 or -errno. */
int cli_write_all(int fd, const void *data, size_t size);

/* Write all of text to stdout. Returns CLI_EXIT_OK, CLI_EXIT_NO_READER, or, with an error
 * printed, CLI_EXIT_CANNOT. */
int cli_print(const char *text, size_t size);

/* The same for a text in lines that may hold anything: control characters are escaped,
 * and the last line is ended. */
int cli_print_text(const char *text);

/* Say that stdout or stderr (`stream`) could not be written to; quiet where the reader
 * has gone. Returns CLI_EXIT_NO_READER or CLI_EXIT_CANNOT. */
int cli_say_write_failed(const char *stream, int sys_errno);

#endif
