/* SPDX-License-Identifier: Apache-2.0 */
/* libzstd, for layers that zstd packed. */
#ifndef OCI_LIB_ZSTD_H
#define OCI_LIB_ZSTD_H

#include <zstd.h>

#include "base/error.h"

struct lib_zstd {
	typeof(ZSTD_createDCtx) *context_new;
	typeof(ZSTD_freeDCtx) *context_free;
	typeof(ZSTD_DCtx_setParameter) *set;
	typeof(ZSTD_decompressStream) *inflate;
	typeof(ZSTD_isError) *is_error;
	typeof(ZSTD_getErrorName) *error_name;
};

/* *ret lives for ever. HUSK_E_SYSTEM with the remedy where it is not installed. */
int lib_zstd(const struct lib_zstd **ret, struct husk_error *err);

#endif
