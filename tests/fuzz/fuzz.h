/* SPDX-License-Identifier: Apache-2.0 */
/* What every fuzz target needs: its one function, and how it says that something is
 * wrong. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"

/* Returns 0. Whatever the bytes are, it ends, and nothing is left. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void require(bool good)
{
	if (!good)
		abort();
}

/* One line that cannot disturb a terminal. */
static inline void require_printable(const char *text)
{
	for (; *text; text++)
		require((unsigned char)*text >= ' ' && *text != 0x7f);
}

/* A refusal has the code that was returned, says where and why, and is fit to print. */
static inline void require_refusal(int rc, const struct husk_error *err)
{
	require(rc < 0 && err->code == rc);
	require(err->where[0] != '\0' && err->message[0] != '\0');
	require_printable(err->where);
	require_printable(err->message);
	require_printable(err->hint);
}

#endif
