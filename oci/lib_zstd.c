/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/lib_zstd.h"

#include "oci/library.h"

static struct lib_zstd table;

static const struct library_symbol symbols[] = {
    LIBRARY_SYMBOL(struct lib_zstd, context_new, ZSTD_createDCtx),
    LIBRARY_SYMBOL(struct lib_zstd, context_free, ZSTD_freeDCtx),
    LIBRARY_SYMBOL(struct lib_zstd, set, ZSTD_DCtx_setParameter),
    LIBRARY_SYMBOL(struct lib_zstd, inflate, ZSTD_decompressStream),
    LIBRARY_SYMBOL(struct lib_zstd, is_error, ZSTD_isError),
    LIBRARY_SYMBOL(struct lib_zstd, error_name, ZSTD_getErrorName),
};

static const char *const sonames[] = {"libzstd.so.1", NULL};

static struct library library = {
    .use = "layers that zstd packed",
    .package = "libzstd1",
    .sonames = sonames,
    .symbols = symbols,
    .count = sizeof(symbols) / sizeof(symbols[0]),
    .lock = PTHREAD_MUTEX_INITIALIZER,
};

int lib_zstd(const struct lib_zstd **ret, struct husk_error *err)
{
	int rc = library_open(&library, &table, err);

	if (rc == 0)
		*ret = &table;
	return rc;
}
