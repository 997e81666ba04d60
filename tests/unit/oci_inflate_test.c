/* SPDX-License-Identifier: Apache-2.0 */
/* Streams made plain: members and frames, cuts, damage, bounds, and bodies that are not
 * what their media type says. */
#include "oci/inflate.h"

#include "tests/unit/oci_packer.h"
#include "tests/unit/oci_tape.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "oci/bounds.h"
#include "oci/inflate_codec.h"
#include "oci/inflate_memory.h"

struct from {
	const char *data;
	size_t size, piece;
};

static ssize_t from_read(void *user, void *data, size_t size, struct husk_error *err)
{
	struct from *from = user;
	size_t n = from->size < size ? from->size : size;

	if (from->piece == SIZE_MAX)
		return error_set(err, HUSK_E_REGISTRY, "source", "is gone");
	if (from->piece && n > from->piece)
		n = from->piece;
	memcpy(data, from->data, n);
	from->data += n;
	from->size -= n;
	return (ssize_t)n;
}

static struct husk_error error;
static bool shares_memory;

/* All that comes out, read in pieces of `step`. */
static int unpack(const struct buffer *packed, size_t piece, size_t step,
		  enum compression told, uint64_t max, struct buffer *ret)
{
	struct from from = {packed->data, packed->size, piece};
	struct inflate_source source = {.read = from_read,
					.user = &from,
					.compression = told,
					.where = "it",
					.max = max,
					.shares_memory = shares_memory};
	struct inflate *inflate = NULL;
	char *out = malloc(step);
	ssize_t n;

	memset(&error, 0, sizeof(error));
	assert_non_null(out);
	assert_int_equal(inflate_new(&source, &inflate, &error), 0);
	ret->size = 0;
	while ((n = inflate_read(inflate, out, step, &error)) > 0)
		if (ret->max)
			tape_bytes(ret, out, (size_t)n);
	if (n == 0) /* and again */
		assert_int_equal(inflate_read(inflate, out, step, &error), 0);
	assert_null(inflate_free(inflate));
	free(out);
	return (int)n;
}

static void refuse(const struct buffer *packed, enum compression told, int code,
		   const char *words)
{
	struct buffer none = {0};

	assert_int_equal(unpack(packed, 0, 65536, told, 0, &none), code);
	assert_int_equal(error.code, code);
	if (!strstr(error.message, words))
		fail_msg("\"%s\" is not in \"%s\"", words, error.message);
}

/* Something that neither shrinks to nothing nor stays as it is. */
static void fill(struct buffer *to, size_t size)
{
	uint32_t state = 1;

	while (to->size < size) {
		char letter;

		state = state * 1664525 + 1013904223;
		letter = (char)('a' + (state >> 28));
		tape_bytes(to, &letter, 1);
	}
}

static void pack(struct buffer *to, enum compression kind, const char *data, size_t size)
{
	if (kind == COMPRESSION_GZIP)
		pack_gzip(to, data, size);
	else if (kind == COMPRESSION_ZSTD)
		pack_zstd(to, data, size, 0);
	else
		tape_bytes(to, data, size);
}

static const enum compression kinds[] = {COMPRESSION_NONE, COMPRESSION_GZIP,
					 COMPRESSION_ZSTD};

static void every_kind_in_pieces_of_any_size(void **state)
{
	static const size_t pieces[] = {0, 1, 3, 4096};
	struct buffer plain = TAPE_INIT, out = TAPE_INIT;
	(void)state;

	fill(&plain, 300000);
	for (size_t k = 0; k < 3; k++) {
		struct buffer packed = TAPE_INIT;

		pack(&packed, kinds[k], plain.data, plain.size);
		for (size_t p = 0; p < 4; p++) {
			assert_int_equal(unpack(&packed, pieces[p], p ? 65536 : 777,
						kinds[k], 0, &out),
					 0);
			assert_int_equal(out.size, plain.size);
			assert_memory_equal(out.data, plain.data, plain.size);
		}
		assert_int_equal(unpack(&packed, 1, 65536, COMPRESSION_SNIFF, 0, &out),
				 0);
		assert_int_equal(out.size, plain.size);
		buffer_deinit(&packed);
	}
	buffer_deinit(&plain);
	buffer_deinit(&out);
}

static void several_members_and_frames(void **state)
{
	static const char skippable[] = "\x5e\x2a\x4d\x18\x05\0\0\0extra";
	struct buffer gzip = TAPE_INIT, zstd = TAPE_INIT, out = TAPE_INIT;
	(void)state;

	tape_bytes(&zstd, skippable, 13);
	for (int i = 0; i < 3; i++) {
		pack_gzip(&gzip, "part,", 5);
		pack_zstd(&zstd, "part,", 5, 0);
		pack_gzip(&gzip, "", 0);
		tape_bytes(&zstd, skippable, 13);
	}
	for (size_t piece = 0; piece < 20; piece++) {
		assert_int_equal(unpack(&gzip, piece, 64, COMPRESSION_GZIP, 0, &out), 0);
		assert_int_equal(out.size, 15);
		assert_memory_equal(out.data, "part,part,part,", 15);
		assert_int_equal(unpack(&zstd, piece, 64, COMPRESSION_ZSTD, 0, &out), 0);
		assert_int_equal(out.size, 15);
	}
	buffer_deinit(&gzip);
	buffer_deinit(&zstd);
	buffer_deinit(&out);
}

/* What gzip may say in front: extra field, name, comment, checksum of the header. */
static void put_long_header(struct buffer *to)
{
	static const char head[] = "\x1f\x8b\x08\x1e\0\0\0\0\0\x03"
				   "\x06\0XX\x02\0ab"
				   "name\0comment\0"
				   "\x1a\xf6";
	struct buffer whole = TAPE_INIT;

	pack_gzip(&whole, "content", 7);
	tape_bytes(to, head, sizeof(head) - 1);
	tape_bytes(to, whole.data + 10, whole.size - 10);
	buffer_deinit(&whole);
}

static void a_gzip_header_with_everything(void **state)
{
	struct buffer packed = TAPE_INIT, out = TAPE_INIT;
	(void)state;

	put_long_header(&packed);
	for (size_t piece = 0; piece < 8; piece++) {
		assert_int_equal(unpack(&packed, piece, 64, COMPRESSION_GZIP, 0, &out),
				 0);
		assert_int_equal(out.size, 7);
		assert_memory_equal(out.data, "content", 7);
	}
	buffer_deinit(&packed);
	buffer_deinit(&out);
}

static void a_cut_anywhere_is_truncated(void **state)
{
	struct buffer plain = TAPE_INIT;
	(void)state;

	fill(&plain, 500);
	for (size_t k = 1; k < 3; k++) {
		struct buffer packed = TAPE_INIT;

		pack(&packed, kinds[k], plain.data, plain.size);
		for (size_t cut = 0; cut < packed.size; cut++) {
			struct buffer part = {.data = packed.data, .size = cut};

			/* The first bytes do not even tell what it is. */
			refuse(&part, kinds[k], HUSK_E_IMAGE,
			       cut >= 4 || cut == 0 ? "truncated"
						    : "it is a plain tar" + 0);
			if (cut == 0)
				cut = 3;
		}
		buffer_deinit(&packed);
	}
	buffer_deinit(&plain);
}

static void a_wrong_byte_is_noticed(void **state)
{
	struct buffer plain = TAPE_INIT, none = {0};
	(void)state;

	fill(&plain, 3000);
	for (size_t k = 1; k < 3; k++) {
		struct buffer packed = TAPE_INIT;

		pack(&packed, kinds[k], plain.data, plain.size);
		for (size_t at = 20; at < packed.size; at += 13) {
			packed.data[at] ^= 0x10;
			assert_int_equal(unpack(&packed, 0, 65536, kinds[k], 0, &none),
					 HUSK_E_IMAGE);
			packed.data[at] ^= 0x10;
		}
		/* Checksum and length are the last eight, or four, bytes. */
		for (size_t back = 1; back <= (k == 1 ? 8 : 4); back++) {
			packed.data[packed.size - back] ^= 1;
			refuse(&packed, kinds[k], HUSK_E_IMAGE, "damaged");
			packed.data[packed.size - back] ^= 1;
		}
		buffer_deinit(&packed);
	}
	buffer_deinit(&plain);
}

static void nothing_may_follow(void **state)
{
	static const char *const tails[] = {"garbage", "\0\0\0\0\0\0\0\0", "\x1f", "x"};
	(void)state;

	for (size_t k = 1; k < 3; k++) {
		for (size_t i = 0; i < 4; i++) {
			struct buffer packed = TAPE_INIT;

			pack(&packed, kinds[k], "content", 7);
			tape_bytes(&packed, tails[i], i == 1 ? 8 : strlen(tails[i]));
			refuse(&packed, kinds[k], HUSK_E_IMAGE, "after the end");
			buffer_deinit(&packed);
		}
	}
}

static void the_media_type_and_the_body_must_agree(void **state)
{
	static const struct {
		const char *body;
		size_t size;
		const char *name;
	} rows[] = {{"\xfd"
		     "7zXZ\0rest",
		     10, "xz"},
		    {"BZh91AY&SY", 10, "bzip2"},
		    {"\x04\x22\x4d\x18rest", 8, "lz4"}};
	struct buffer packed = TAPE_INIT;
	(void)state;

	for (size_t i = 0; i < 3; i++) {
		struct buffer body = TAPE_INIT;

		tape_bytes(&body, rows[i].body, rows[i].size);
		refuse(&body, COMPRESSION_GZIP, HUSK_E_IMAGE, rows[i].name);
		refuse(&body, COMPRESSION_SNIFF, HUSK_E_IMAGE, rows[i].name);
		refuse(&body, COMPRESSION_NONE, HUSK_E_IMAGE, rows[i].name);
		buffer_deinit(&body);
	}
	pack_gzip(&packed, "content", 7);
	refuse(&packed, COMPRESSION_NONE, HUSK_E_IMAGE, "a plain tar, but it is gzip");
	refuse(&packed, COMPRESSION_ZSTD, HUSK_E_IMAGE, "zstd, but it is gzip");
	packed.size = 0;
	pack_zstd(&packed, "content", 7, 0);
	refuse(&packed, COMPRESSION_GZIP, HUSK_E_IMAGE, "gzip, but it is zstd");
	packed.size = 0;
	tape_bytes(&packed, "plain content", 13);
	refuse(&packed, COMPRESSION_GZIP, HUSK_E_IMAGE, "gzip, but it is a plain tar");
	packed.size = 0;
	refuse(&packed, COMPRESSION_GZIP, HUSK_E_IMAGE, "truncated");
	refuse(&packed, COMPRESSION_ZSTD, HUSK_E_IMAGE, "truncated");
	buffer_deinit(&packed);
}

static void what_comes_out_is_bounded(void **state)
{
	struct buffer packed = TAPE_INIT, none = {0};
	(void)state;

	pack_gzip(&packed, "0123456789", 10);
	assert_int_equal(unpack(&packed, 0, 64, COMPRESSION_GZIP, 10, &none), 0);
	assert_int_equal(unpack(&packed, 0, 64, COMPRESSION_GZIP, 9, &none),
			 HUSK_E_TOO_BIG);
	assert_non_null(strstr(error.message, "OCI_MAX_LAYER_BYTES"));
	buffer_deinit(&packed);
}

/* 4 GiB of zeros in 4 MiB. */
static void a_bomb_stops_at_its_ratio(void **state)
{
	enum { PIECE = 16 << 20, TIMES = 256 };
	struct buffer packed = TAPE_INIT;
	char *zeros = calloc(1, PIECE);
	size_t one;
	(void)state;

	assert_non_null(zeros);
	pack_gzip(&packed, zeros, PIECE);
	one = packed.size;
	for (int i = 1; i < TIMES; i++) {
		char *room = buffer_reserve(&packed, one);

		assert_non_null(room);
		memcpy(room, packed.data, one);
		packed.size += one;
	}
	free(zeros);
	refuse(&packed, COMPRESSION_GZIP, HUSK_E_TOO_BIG, "OCI_MAX_RATIO");
	buffer_deinit(&packed);
}

static void a_window_past_the_bound_is_refused(void **state)
{
	struct buffer plain = TAPE_INIT, packed = TAPE_INIT, out = TAPE_INIT;
	(void)state;

	fill(&plain, 400000);
	pack_zstd(&packed, plain.data, plain.size, OCI_MAX_ZSTD_WINDOW_LOG);
	assert_int_equal(unpack(&packed, 0, 65536, COMPRESSION_ZSTD, 0, &out), 0);
	assert_int_equal(out.size, plain.size);
	packed.size = 0;
	pack_zstd(&packed, plain.data, plain.size, OCI_MAX_ZSTD_WINDOW_LOG + 1);
	refuse(&packed, COMPRESSION_ZSTD, HUSK_E_TOO_BIG, "window of 64 MiB");
	buffer_deinit(&plain);
	buffer_deinit(&packed);
	buffer_deinit(&out);
}

/* -- memory that layers share -- */

struct waiter {
	pthread_t thread;
	uint64_t bytes;
	atomic_bool stop, asked, has;
	int result;
};

static int waited(void *user, uint64_t done)
{
	struct waiter *waiter = user;

	assert_int_equal(done, 7);
	atomic_store(&waiter->asked, true);
	return atomic_load(&waiter->stop);
}

static void *take(void *user)
{
	struct waiter *waiter = user;

	waiter->result = inflate_memory_take(waiter->bytes, waited, waiter, 7);
	atomic_store(&waiter->has, waiter->result == 0);
	return NULL;
}

static void start(struct waiter *waiter, uint64_t bytes)
{
	waiter->bytes = bytes;
	assert_int_equal(pthread_create(&waiter->thread, NULL, take, waiter), 0);
}

static void memory_is_waited_for(void **state)
{
	static struct waiter stopped, patient;
	(void)state;

	assert_int_equal(inflate_memory_take(OCI_MAX_WINDOWS / 2, NULL, NULL, 0), 0);
	assert_int_equal(inflate_memory_take(OCI_MAX_WINDOWS / 2, NULL, NULL, 0), 0);
	start(&stopped, 1);
	start(&patient, OCI_MAX_WINDOWS);
	while (!atomic_load(&stopped.asked) || !atomic_load(&patient.asked))
		(void)sched_yield();
	atomic_store(&stopped.stop, true);
	assert_int_equal(pthread_join(stopped.thread, NULL), 0);
	assert_int_equal(stopped.result, -ECANCELED);
	inflate_memory_give(OCI_MAX_WINDOWS / 2);
	assert_false(atomic_load(&patient.has)); /* all of it is not there yet */
	inflate_memory_give(OCI_MAX_WINDOWS / 2);
	assert_int_equal(pthread_join(patient.thread, NULL), 0);
	assert_int_equal(patient.result, 0);
	inflate_memory_give(OCI_MAX_WINDOWS);
	/* More than there is at all: alone. */
	assert_int_equal(inflate_memory_take(2 * OCI_MAX_WINDOWS, NULL, NULL, 0), 0);
	inflate_memory_give(2 * OCI_MAX_WINDOWS);
}

/* A stream that wants more from frame to frame gives back what it had, and everything at
 * the end. */
static void frames_that_grow_keep_no_memory(void **state)
{
	struct buffer plain = TAPE_INIT, packed = TAPE_INIT, out = TAPE_INIT;
	(void)state;

	fill(&plain, 300000);
	for (int log = 20; log <= OCI_MAX_ZSTD_WINDOW_LOG; log++)
		pack_zstd(&packed, plain.data, plain.size, log);
	pack_zstd(&packed, plain.data, plain.size, 0);
	shares_memory = true;
	for (int i = 0; i < 3; i++) {
		out.size = 0;
		assert_int_equal(unpack(&packed, 0, 65536, COMPRESSION_ZSTD, 0, &out), 0);
		assert_int_equal(out.size, (OCI_MAX_ZSTD_WINDOW_LOG - 18) * plain.size);
	}
	shares_memory = false;
	/* Nothing is left taken: all of it is there at once. */
	assert_int_equal(inflate_memory_take(OCI_MAX_WINDOWS, NULL, NULL, 0), 0);
	inflate_memory_give(OCI_MAX_WINDOWS);
	buffer_deinit(&plain);
	buffer_deinit(&packed);
	buffer_deinit(&out);
}

static void a_source_that_fails_is_what_is_reported(void **state)
{
	struct buffer packed = TAPE_INIT, none = {0};
	(void)state;

	pack_gzip(&packed, "content", 7);
	assert_int_equal(unpack(&packed, SIZE_MAX, 64, COMPRESSION_GZIP, 0, &none),
			 HUSK_E_REGISTRY);
	assert_string_equal(error.message, "is gone");
	buffer_deinit(&packed);
}

/* Where ISA-L is missing zlib takes its place; both must see the same. */
static void both_gzip_libraries_agree(void **state)
{
	const struct inflate_codec *const codecs[] = {&inflate_isal, &inflate_zlib};
	struct buffer packed = TAPE_INIT;
	(void)state;

	pack_gzip(&packed, "content", 7);
	for (size_t i = 0; i < 2; i++) {
		for (size_t wrong = 0; wrong < 3; wrong++) {
			unsigned char out[64];
			struct inflate_window window = {(unsigned char *)packed.data,
							packed.size, out, sizeof(out)};
			const char *reason = NULL;
			void *codec = NULL;

			if (codecs[i]->begin(&codec, "it", &error) < 0)
				continue; /* not installed */
			packed.data[packed.size - 1] ^= wrong == 1;
			packed.data[packed.size - 5] ^= wrong == 2;
			assert_int_equal(codecs[i]->step(codec, &window, &reason),
					 wrong ? INFLATE_BAD : INFLATE_END);
			packed.data[packed.size - 1] ^= wrong == 1;
			packed.data[packed.size - 5] ^= wrong == 2;
			if (wrong)
				assert_non_null(reason);
			else
				assert_memory_equal(out, "content", 7);
			codecs[i]->end(codec);
		}
	}
	buffer_deinit(&packed);
}

/* All of it in two parts, cut at `cut`, into out; the last step. */
static enum inflate_step in_two(const struct inflate_codec *codec,
				const struct buffer *packed, size_t cut, char *out)
{
	struct inflate_window window = {.out = (unsigned char *)out, .out_size = 64};
	enum inflate_step result;
	const char *reason = NULL;
	void *state = NULL;

	assert_int_equal(codec->begin(&state, "it", &error), 0);
	codec->again(state);
	window.in = (unsigned char *)packed->data;
	window.in_size = cut;
	result = codec->step(state, &window, &reason);
	if (result == INFLATE_MORE) {
		assert_int_equal(window.in_size, 0);
		window.in_size = packed->size - cut;
		result = codec->step(state, &window, &reason);
	}
	codec->end(state);
	return result;
}

static void a_gzip_header_may_be_cut_anywhere(void **state)
{
	const struct inflate_codec *const codecs[] = {&inflate_isal, &inflate_zlib};
	struct buffer packed = TAPE_INIT;
	(void)state;

	put_long_header(&packed);
	for (size_t i = 0; i < 2; i++) {
		void *probe = NULL;

		if (codecs[i]->begin(&probe, "it", &error) < 0)
			continue; /* not installed */
		codecs[i]->end(probe);
		for (size_t cut = 1; cut < packed.size; cut++) {
			char out[64] = "";

			assert_int_equal(in_two(codecs[i], &packed, cut, out),
					 INFLATE_END);
			assert_string_equal(out, "content");
			packed.data[20] ^= 1; /* of the name; the checksum tells */
			assert_int_equal(in_two(codecs[i], &packed, cut, out),
					 INFLATE_BAD);
			packed.data[20] ^= 1;
		}
	}
	buffer_deinit(&packed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_kind_in_pieces_of_any_size),
	    cmocka_unit_test(several_members_and_frames),
	    cmocka_unit_test(a_gzip_header_with_everything),
	    cmocka_unit_test(a_cut_anywhere_is_truncated),
	    cmocka_unit_test(a_wrong_byte_is_noticed),
	    cmocka_unit_test(nothing_may_follow),
	    cmocka_unit_test(the_media_type_and_the_body_must_agree),
	    cmocka_unit_test(what_comes_out_is_bounded),
	    cmocka_unit_test(a_bomb_stops_at_its_ratio),
	    cmocka_unit_test(a_window_past_the_bound_is_refused),
	    cmocka_unit_test(memory_is_waited_for),
	    cmocka_unit_test(frames_that_grow_keep_no_memory),
	    cmocka_unit_test(a_source_that_fails_is_what_is_reported),
	    cmocka_unit_test(both_gzip_libraries_agree),
	    cmocka_unit_test(a_gzip_header_may_be_cut_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
