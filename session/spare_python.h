/* SPDX-License-Identifier: Apache-2.0 */
/* The text that a waiting Python interpreter runs; session/spare_code.c starts it. */
#ifndef SESSION_SPARE_PYTHON_H
#define SESSION_SPARE_PYTHON_H

#include <stdbool.h>

#include "base/buffer.h"
#include "runtime/box.h"

/* The longest source that one takes, bytes. */
enum { SPARE_PYTHON_SIZE = 16384 };

#define SPARE_PYTHON_DEPS "/workspace/.deps"

/* The comment in whose place the source comes: SPARE_PYTHON_SIZE bytes and a NUL. */
void spare_python_token(char *token);

/* The module. preload: names that were checked, or NULL. read_deps: they may be found in
 * the workspace's .deps. 0 or -errno. */
int spare_python_module(char *const *preload, bool read_deps, const char *token,
			struct buffer *out);

#endif
