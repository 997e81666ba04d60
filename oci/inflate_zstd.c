/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/inflate_codec.h"

#include <stdlib.h>
#include <string.h>

#include "oci/bounds.h"
#include "oci/lib_zstd.h"

struct state {
	const struct lib_zstd *lib;
	ZSTD_DCtx *context;
};

/* The window of a frame (RFC 8878, 3.1.1.1). What has a single segment has its size for a
 * window; a frame to skip has none. What is too short is cut, which is noticed later. */
static uint64_t wants(const unsigned char *head, size_t size)
{
	static const unsigned char magic[] = {0x28, 0xb5, 0x2f, 0xfd};
	static const unsigned char id_sizes[] = {0, 1, 2, 4}, sizes[] = {1, 2, 4, 8};
	const size_t flags = sizeof(magic);
	uint64_t window = 0;
	size_t at, field;

	if (size < flags + 2 || memcmp(head, magic, flags) != 0)
		return 0;
	if (!(head[flags] & 0x20)) {
		window = (uint64_t)1 << (10 + (head[flags + 1] >> 3));
		return window + window / 8 * (head[flags + 1] & 7);
	}
	at = flags + 1 + id_sizes[head[flags] & 3];
	field = sizes[head[flags] >> 6];
	if (size < at + field)
		return 0;
	for (size_t i = field; i-- > 0;)
		window = window << 8 | head[at + i];
	return field == 2 ? window + 256 : window;
}

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

const struct inflate_codec inflate_zstd = {"zstd", begin, wants, again, step, end};
