/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/inflate_codec.h"

#include <stdlib.h>

#include "oci/lib_zlib.h"

enum { GZIP_ONLY = 15 + 16 }; /* the largest window, and a gzip header: zlib.h */

struct state {
	const struct lib_zlib *lib;
	z_stream stream;
};

static void again(void *user)
{
	struct state *state = user;

	(void)state->lib->reset(&state->stream);
}

static int begin(void **ret, const char *where, struct husk_error *err)
{
	const struct lib_zlib *lib;
	struct state *state;
	int rc = lib_zlib(&lib, err);

	if (rc < 0)
		return rc;
	state = calloc(1, sizeof(*state));
	if (!state)
		return error_oom(err, where);
	state->lib = lib;
	if (lib->init(&state->stream, GZIP_ONLY, ZLIB_VERSION, sizeof(z_stream)) !=
	    Z_OK) {
		free(state);
		return error_oom(err, where);
	}
	*ret = state;
	return 0;
}

static enum inflate_step step(void *user, struct inflate_window *window,
			      const char **reason)
{
	struct state *state = user;
	z_stream *stream = &state->stream;
	int code;

	stream->next_in = (Bytef *)(uintptr_t)window->in; /* it only reads there */
	stream->avail_in = (uInt)window->in_size;
	stream->next_out = window->out;
	stream->avail_out = (uInt)window->out_size;
	code = state->lib->inflate(stream, Z_NO_FLUSH);
	window->in = stream->next_in;
	window->in_size = stream->avail_in;
	window->out = stream->next_out;
	window->out_size = stream->avail_out;
	if (code == Z_STREAM_END)
		return INFLATE_END;
	/* Z_BUF_ERROR: nothing to do with what it was given. */
	if (code == Z_OK || code == Z_BUF_ERROR)
		return INFLATE_MORE;
	*reason = stream->msg ? stream->msg : "its gzip data is damaged";
	return INFLATE_BAD;
}

static void end(void *user)
{
	struct state *state = user;

	if (!state)
		return;
	(void)state->lib->end(&state->stream);
	free(state);
}

const struct inflate_codec inflate_zlib = {"zlib", begin, NULL, again, step, end};
