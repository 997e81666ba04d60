/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries that only images need: loaded at the first use, because linking them would
 * cost every start of a box more than the box. One file for each, oci/lib_NAME.[ch],
 * holds the table of its functions:
 *
 *	struct lib_x { typeof(x_new) *new; ... };
 *	static struct lib_x table;
 *	static const struct library_symbol symbols[] = {
 *		LIBRARY_SYMBOL(struct lib_x, new, x_new), ...
 *	};
 *	static struct library library = {..., .lock = PTHREAD_MUTEX_INITIALIZER};
 *
 *	int lib_x(const struct lib_x **ret, struct husk_error *err)
 *	{
 *		int rc = library_open(&library, &table, err);
 *		if (rc == 0) *ret = &table;
 *		return rc;
 *	}
 */
#ifndef OCI_LIBRARY_H
#define OCI_LIBRARY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct library_symbol {
	const char *name;
	size_t offset; /* of its pointer in the table */
	bool optional; /* NULL where an older library lacks it */
};

#define LIBRARY_SYMBOL(table, member, function)    \
	{                                          \
#function, offsetof(table, member) \
	}
#define LIBRARY_OPTIONAL(table, member, function)        \
	{                                                \
#function, offsetof(table, member), true \
	}

struct library {
	const char *use;	    /* what it is for: "digests of images" */
	const char *package;	    /* Debian's package that has it */
	const char *const *sonames; /* best first, NULL-terminated */
	const struct library_symbol *symbols;
	size_t count;
	pthread_mutex_t lock;
	bool loaded;
};

/* Load what is not loaded yet and fill in its table of function pointers, whole or not at
 * all. A failure is tried again the next time. HUSK_E_SYSTEM with the remedy. Any thread.
 */
int library_open(struct library *library, void *table, struct husk_error *err);

#endif
