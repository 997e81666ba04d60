/* SPDX-License-Identifier: Apache-2.0 */
/** husk/version.h: which library this is. */
#ifndef HUSK_VERSION_H
#define HUSK_VERSION_H

#include <husk/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The version of the library, "MAJOR.MINOR.PATCH".
 *
 * Ownership: static; never release it. Errors: none. Threads: any. Since: 0.1.0.
 */
HUSK_API const char *husk_version(void);

#ifdef __cplusplus
}
#endif

#endif
