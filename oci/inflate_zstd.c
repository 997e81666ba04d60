/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/inflate_codec.h"

#include <stdlib.h>

#include "oci/bounds.h"
#include "oci/lib_zstd.h"

struct state {
	const struct lib_zstd *lib;
	ZSTD_DCtx *context;
};

/* A frame that has ended leaves the context ready for the next. */
static void again(void *user)
{
	(void)user;
}

static void end(void *user)
{
	struct state *state = user;

	if (!state)
		return;
	(void)state->lib->context_free(state->context);
	free(state);
}

static int begin(void **ret, const char *where, struct husk_error *err)
{
	const struct lib_zstd *lib;
	struct state *state;
	int rc = lib_zstd(&lib, err);

	if (rc < 0)
		return rc;
	state = calloc(1, sizeof(*state));
	if (!state)
		return error_oom(err, where);
	state->lib = lib;
	state->context = lib->context_new();
	if (!state->context || lib->is_error(lib->set(state->context, ZSTD_d_windowLogMax,
						      OCI_MAX_ZSTD_WINDOW_LOG))) {
		end(state);
		return error_oom(err, where);
	}
	*ret = state;
	return 0;
}

static enum inflate_step step(void *user, struct inflate_window *window,
			      const char **reason)
{
	struct state *state = user;
	ZSTD_inBuffer in = {.src = window->in, .size = window->in_size};
	ZSTD_outBuffer out = {.dst = window->out, .size = window->out_size};
	size_t left = state->lib->inflate(state->context, &out, &in);

	window->in += in.pos;
	window->in_size -= in.pos;
	window->out += out.pos;
	window->out_size -= out.pos;
	if (state->lib->is_error(left)) {
		*reason = state->lib->error_name(left);
		return INFLATE_BAD;
	}
	return left == 0 ? INFLATE_END : INFLATE_MORE;
}

const struct inflate_codec inflate_zstd = {"zstd", begin, again, step, end};
