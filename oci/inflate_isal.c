/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/inflate_codec.h"

#include <stdbool.h>
#include <stdlib.h>

#include "oci/lib_isal.h"

struct state {
	const struct lib_isal *lib;
	struct inflate_state stream;
	struct isal_gzip_header header; /* what was read of it so far */
	bool header_read;
};

static void again(void *user)
{
	struct state *state = user;

	state->lib->reset(&state->stream);
	state->stream.crc_flag = ISAL_GZIP_NO_HDR_VER;
	state->header = (struct isal_gzip_header){0};
	state->header_read = false;
}

static int begin(void **ret, const char *where, struct husk_error *err)
{
	const struct lib_isal *lib;
	struct state *state;
	int rc = lib_isal(&lib, err);

	if (rc < 0)
		return rc;
	state = calloc(1, sizeof(*state));
	if (!state)
		return error_oom(err, where);
	state->lib = lib;
	lib->init(&state->stream);
	again(state);
	*ret = state;
	return 0;
}

static const char *why(int code)
{
	switch (code) {
	case ISAL_INCORRECT_CHECKSUM:
		return "its checksum or length is wrong";
	case ISAL_INVALID_WRAPPER:
	case ISAL_UNSUPPORTED_METHOD:
		return "its gzip header is wrong";
	default:
		return "its gzip data is damaged";
	}
}

/* isal_inflate would read the header too, but into a struct of its own that is new with
 * each call: of a header that comes in two parts it forgets the flags (2.30 then takes
 * what happens to lie on the stack) and the checksum. */
static int run(struct state *state)
{
	if (!state->header_read) {
		int code = state->lib->read_header(&state->stream, &state->header);

		if (code != ISAL_DECOMP_OK)
			return code == ISAL_END_INPUT ? ISAL_DECOMP_OK : code;
		state->header_read = true;
	}
	return state->lib->inflate(&state->stream);
}

static enum inflate_step step(void *user, struct inflate_window *window,
			      const char **reason)
{
	struct state *state = user;
	struct inflate_state *stream = &state->stream;
	int code;

	stream->next_in = (uint8_t *)(uintptr_t)window->in; /* it only reads there */
	stream->avail_in = (uint32_t)window->in_size;
	stream->next_out = window->out;
	stream->avail_out = (uint32_t)window->out_size;
	code = run(state);
	window->in = stream->next_in;
	window->in_size = stream->avail_in;
	window->out = stream->next_out;
	window->out_size = stream->avail_out;
	if (code != ISAL_DECOMP_OK) {
		*reason = why(code);
		return INFLATE_BAD;
	}
	return stream->block_state == ISAL_BLOCK_FINISH ? INFLATE_END : INFLATE_MORE;
}

const struct inflate_codec inflate_isal = {"ISA-L", begin, NULL, again, step, free};
