/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/lib_zlib.h"

#include "oci/library.h"

static struct lib_zlib table;

static const struct library_symbol symbols[] = {
    LIBRARY_SYMBOL(struct lib_zlib, init, inflateInit2_),
    LIBRARY_SYMBOL(struct lib_zlib, reset, inflateReset),
    LIBRARY_SYMBOL(struct lib_zlib, inflate, inflate),
    LIBRARY_SYMBOL(struct lib_zlib, end, inflateEnd),
};

static const char *const sonames[] = {"libz.so.1", NULL};

static struct library library = {
    .use = "layers that gzip packed",
    .package = "zlib1g",
    .sonames = sonames,
    .symbols = symbols,
    .count = sizeof(symbols) / sizeof(symbols[0]),
    .lock = PTHREAD_MUTEX_INITIALIZER,
};

int lib_zlib(const struct lib_zlib **ret, struct husk_error *err)
{
	int rc = library_open(&library, &table, err);

	if (rc == 0)
		*ret = &table;
	return rc;
}
