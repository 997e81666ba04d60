/* SPDX-License-Identifier: Apache-2.0 */
/* Compressors for tests, from the libraries themselves. */
#ifndef TESTS_UNIT_OCI_PACKER_H
#define TESTS_UNIT_OCI_PACKER_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/buffer.h"

/* Append data as one gzip member. */
static inline void pack_gzip(struct buffer *to, const void *data, size_t size)
{
	void *library = dlopen("libz.so.1", RTLD_NOW);
	typeof(deflateInit2_) *begin;
	typeof(deflate) *run;
	typeof(deflateEnd) *end;
	z_stream stream = {0};

	assert_non_null(library);
	*(void **)&begin = dlsym(library, "deflateInit2_");
	*(void **)&run = dlsym(library, "deflate");
	*(void **)&end = dlsym(library, "deflateEnd");
	assert_int_equal(begin(&stream, 6, Z_DEFLATED, 31, 9, Z_DEFAULT_STRATEGY,
			       ZLIB_VERSION, sizeof(stream)),
			 Z_OK);
	stream.next_in = (Bytef *)(uintptr_t)data;
	stream.avail_in = (uInt)size;
	do {
		char *room = buffer_reserve(to, 65536);

		assert_non_null(room);
		stream.next_out = (Bytef *)room;
		stream.avail_out = 65536;
		(void)run(&stream, Z_FINISH);
		to->size += 65536 - stream.avail_out;
	} while (stream.avail_out == 0);
	(void)end(&stream);
	(void)dlclose(library);
}

/* Append data as one zstd frame with a checksum. window: its log; 0 for the usual. */
static inline void pack_zstd(struct buffer *to, const void *data, size_t size, int window)
{
	void *library = dlopen("libzstd.so.1", RTLD_NOW);
	typeof(ZSTD_createCCtx) *make;
	typeof(ZSTD_freeCCtx) *release;
	typeof(ZSTD_CCtx_setParameter) *set;
	typeof(ZSTD_compressStream2) *run;
	ZSTD_inBuffer in = {data, size, 0};
	ZSTD_CCtx *context;
	size_t left;

	assert_non_null(library);
	*(void **)&make = dlsym(library, "ZSTD_createCCtx");
	*(void **)&release = dlsym(library, "ZSTD_freeCCtx");
	*(void **)&set = dlsym(library, "ZSTD_CCtx_setParameter");
	*(void **)&run = dlsym(library, "ZSTD_compressStream2");
	context = make();
	assert_non_null(context);
	(void)set(context, ZSTD_c_checksumFlag, 1);
	if (window)
		(void)set(context, ZSTD_c_windowLog, window);
	do {
		char *room = buffer_reserve(to, 1 << 17);
		ZSTD_outBuffer out = {room, 1 << 17, 0};

		assert_non_null(room);
		/* Not all at once, or the window would shrink to the content's size. */
		left =
		    run(context, &out, &in, in.pos < in.size ? ZSTD_e_flush : ZSTD_e_end);
		to->size += out.pos;
		if (in.pos == in.size && left == 0) {
			out = (ZSTD_outBuffer){buffer_reserve(to, 64), 64, 0};
			left = run(context, &out, &in, ZSTD_e_end);
			to->size += out.pos;
		}
	} while (left != 0);
	(void)release(context);
	(void)dlclose(library);
}

#endif
