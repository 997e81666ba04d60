/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void fill(struct husk_error *err, int code, int sys_errno, const char *where,
		 const char *fmt, va_list ap)
{
	err->code = code;
	err->sys_errno = sys_errno;
	(void)snprintf(err->where, sizeof(err->where), "%s", where);
	(void)vsnprintf(err->message, sizeof(err->message), fmt, ap);
	err->hint[0] = '\0';
}

int error_set(struct husk_error *err, int code, const char *where, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;
	va_start(ap, fmt);
	fill(err, code, 0, where, fmt, ap);
	va_end(ap);
	return code;
}

int error_sys(struct husk_error *err, int sys_errno, const char *where, const char *fmt,
	      ...)
{
	int code = sys_errno == ENOMEM ? HUSK_E_MEMORY : HUSK_E_SYSTEM;
	char text[128];
	size_t used;
	va_list ap;

	if (!err)
		return code;
	va_start(ap, fmt);
	fill(err, code, sys_errno, where, fmt, ap);
	va_end(ap);
	used = strlen(err->message);
	(void)snprintf(err->message + used, sizeof(err->message) - used, ": %s",
		       strerror_r(sys_errno, text, sizeof(text)));
	if (sys_errno == EMFILE)
		error_hint(err, "%s",
			   "allow this process more open files (ulimit -n, "
			   "LimitNOFILE=)");
	return code;
}

void error_hint(struct husk_error *err, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(err->hint, sizeof(err->hint), fmt, ap);
	va_end(ap);
}

int error_oom(struct husk_error *err, const char *where)
{
	return error_set(err, HUSK_E_MEMORY, where, "out of memory");
}
