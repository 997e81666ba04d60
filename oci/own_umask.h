/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OCI_OWN_UMASK_H
#define OCI_OWN_UMASK_H

#include <stdbool.h>

/* To be called in a thread that the library has made: give it a umask of its own, 0, so
 * that files are born with the modes they are to have. The caller's is not touched. false
 * where the kernel does not allow it (some containers do not). */
bool own_umask(void);

#endif
