/* SPDX-License-Identifier: Apache-2.0 */
/* Filling in struct husk_error. Leaves return -errno and never see it; everything above
 * them takes it last and may be given NULL. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <husk/error.h>

#define PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/* Fill in err and return code, so that callers can write `return error_set(...)`.
 * where: what failed; fmt: why, one line. Text that does not fit is cut. */
int error_set(struct husk_error *err, int code, const char *where, const char *fmt, ...)
    PRINTF(4, 5);

/* The same for a refused system call: sys_errno (positive) is kept and its text appended
 * to the message. The code is HUSK_E_MEMORY for ENOMEM, else HUSK_E_SYSTEM. */
int error_sys(struct husk_error *err, int sys_errno, const char *where, const char *fmt,
	      ...) PRINTF(4, 5);

/* Add the remedy to an error that is already filled in. */
void error_hint(struct husk_error *err, const char *fmt, ...) PRINTF(2, 3);

/* HUSK_E_MEMORY with the usual words. */
int error_oom(struct husk_error *err, const char *where);

#endif
