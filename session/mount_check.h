/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SESSION_MOUNT_CHECK_H
#define SESSION_MOUNT_CHECK_H

#include <husk/options.h>

#include "base/error.h"
#include "runtime/box.h"

/* Refuse what no box may see even when asked: runtime/source.h's list, the caller's home,
 * and what belongs to husk itself. HUSK_E_MOUNT_REFUSED, HUSK_E_INVALID, HUSK_E_MEMORY.
 */
int mount_check(const struct husk_options *options, const struct source *source,
		struct husk_error *err);

#endif
