/* SPDX-License-Identifier: Apache-2.0 */
/* zlib, for layers that gzip packed. */
#ifndef OCI_LIB_ZLIB_H
#define OCI_LIB_ZLIB_H

#include <zlib.h>

#include "base/error.h"

struct lib_zlib {
	typeof(inflateInit2_) *init;
	typeof(inflateReset) *reset;
	typeof(inflate) *inflate;
	typeof(inflateEnd) *end;
};

/* *ret lives for ever. HUSK_E_SYSTEM with the remedy where it is not installed. */
int lib_zlib(const struct lib_zlib **ret, struct husk_error *err);

#endif
