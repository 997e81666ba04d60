/* SPDX-License-Identifier: Apache-2.0 */
/* ISA-L, for gzip: the fastest there is. Where it is missing, zlib does the same. */
#ifndef OCI_LIB_ISAL_H
#define OCI_LIB_ISAL_H

#include <stddef.h>
#include <stdint.h>

#include <isa-l/igzip_lib.h>

#include "base/error.h"

struct lib_isal {
	typeof(isal_inflate_init) *init;
	typeof(isal_inflate_reset) *reset;
	typeof(isal_read_gzip_header) *read_header;
	typeof(isal_inflate) *inflate;
};

/* *ret lives for ever. HUSK_E_SYSTEM with the remedy where it is not installed. */
int lib_isal(const struct lib_isal **ret, struct husk_error *err);

#endif
