/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/lib_isal.h"

#include "oci/library.h"

static struct lib_isal table;

static const struct library_symbol symbols[] = {
    LIBRARY_SYMBOL(struct lib_isal, init, isal_inflate_init),
    LIBRARY_SYMBOL(struct lib_isal, reset, isal_inflate_reset),
    LIBRARY_SYMBOL(struct lib_isal, read_header, isal_read_gzip_header),
    LIBRARY_SYMBOL(struct lib_isal, inflate, isal_inflate),
};

static const char *const sonames[] = {"libisal.so.2", NULL};

static struct library library = {
    .use = "layers that gzip packed",
    .package = "libisal2",
    .sonames = sonames,
    .symbols = symbols,
    .count = sizeof(symbols) / sizeof(symbols[0]),
    .lock = PTHREAD_MUTEX_INITIALIZER,
};

int lib_isal(const struct lib_isal **ret, struct husk_error *err)
{
	int rc = library_open(&library, &table, err);

	if (rc == 0)
		*ret = &table;
	return rc;
}
