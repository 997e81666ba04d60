/* SPDX-License-Identifier: Apache-2.0 */
/* Digests: their text, their computation against published vectors and against the
 * implementation that husk has of its own, and the loading of libraries. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "oci/digest.h"
#include "oci/library.h"

#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void text_is_parsed_strictly(void **state)
{
	static const struct {
		const char *text;
		int rc;
	} rows[] = {
	    {"sha256:" HEX64, 0},
	    {"sha512:" HEX64 HEX64, 0},
	    {"", -EINVAL},
	    {"sha256", -EINVAL},
	    {"sha256:", -EINVAL},
	    {":" HEX64, -EINVAL},
	    {HEX64, -EINVAL},
	    {"sha256:" HEX64 "0", -EINVAL},
	    {"sha256:" HEX64 "\n", -EINVAL},
	    {"sha256: " HEX64, -EINVAL},
	    {" sha256:" HEX64, -EINVAL},
	    {"sha256:../../../../etc/passwd", -EINVAL},
	    {"sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde",
	     -EINVAL},
	    {"sha256:0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef",
	     -EINVAL},
	    {"sha256:g123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	     -EINVAL},
	    {"sha512:" HEX64, -EINVAL},
	    {"sha256:" HEX64 HEX64, -EINVAL},
	    {"SHA256:" HEX64, -EINVAL},
	    {"sha384:" HEX64, -ENOTSUP},
	    {"md5:d41d8cd98f00b204e9800998ecf8427e", -ENOTSUP},
	    {"sha256+b64u:LCa0a2j_xo_5m0U8HTBBNBNCLXBkg7-g-YpeiGJm564", -ENOTSUP},
	    {"multihash+base58:QmRZxt2b1FVZPNqd8hsiykDL3TdBDeTSPX9Kv46HmX4Gx8", -ENOTSUP},
	    {"blake3:", -EINVAL},
	    {"a..b:00", -EINVAL},
	    {"a.:00", -EINVAL},
	    {".a:00", -EINVAL},
	    {"a b:00", -EINVAL},
	    {"a/b:00", -EINVAL},
	    {"a:0/0", -EINVAL},
	};
	(void)state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct digest digest = {.hex = "kept"};
		char text[DIGEST_TEXT];
		int rc = digest_parse(rows[i].text, &digest);

		if (rc != rows[i].rc)
			fail_msg("%s: %d", rows[i].text, rc);
		if (rc < 0) {
			assert_string_equal(digest.hex, "kept");
			continue;
		}
		digest_text(&digest, text);
		assert_string_equal(text, rows[i].text);
	}
}

static void none_has_no_text(void **state)
{
	const struct digest none = {0};
	char text[DIGEST_TEXT];
	(void)state;

	digest_text(&none, text);
	assert_string_equal(text, "");
	assert_string_equal(digest_algorithm_name(DIGEST_SHA256), "sha256");
	assert_string_equal(digest_algorithm_name(DIGEST_SHA512), "sha512");
	assert_string_equal(digest_algorithm_name(DIGEST_NONE), "none");
	assert_string_equal(digest_algorithm_name((enum digest_algorithm)77), "none");
}

static void equality_is_of_both_parts(void **state)
{
	struct digest a, b;
	(void)state;

	assert_int_equal(digest_parse("sha256:" HEX64, &a), 0);
	b = a;
	assert_true(digest_equal(&a, &b));
	b.hex[63] = '0';
	assert_false(digest_equal(&a, &b));
	b = a;
	b.algorithm = DIGEST_SHA512;
	assert_false(digest_equal(&a, &b));
}

/* FIPS 180-4's examples. */
static void vectors(void **state)
{
	static const struct {
		enum digest_algorithm algorithm;
		const char *data, *hex;
	} rows[] = {
	    {DIGEST_SHA256, "",
	     "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
	    {DIGEST_SHA256, "abc",
	     "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
	    {DIGEST_SHA512, "",
	     "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
	     "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"},
	    {DIGEST_SHA512, "abc",
	     "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
	     "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"},
	};
	(void)state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct digest digest = {0};

		assert_int_equal(digest_of(rows[i].algorithm, rows[i].data,
					   strlen(rows[i].data), &digest, NULL),
				 0);
		assert_int_equal(digest.algorithm, rows[i].algorithm);
		assert_string_equal(digest.hex, rows[i].hex);
	}
}

/* Every size around the block's, in two parts at every cut, against base/sha256. */
static void parts_make_the_whole(void **state)
{
	unsigned char data[300];
	(void)state;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 7);
	for (size_t size = 0; size <= sizeof(data); size += 25) {
		unsigned char raw[SHA256_SIZE];
		char hex[SHA256_HEX];
		struct sha256 own;

		sha256_init(&own);
		sha256_add(&own, data, size);
		sha256_finish(&own, raw);
		sha256_hex(raw, hex);
		for (size_t cut = 0; cut <= size; cut++) {
			struct digest_run *run = NULL;
			struct digest digest;

			assert_int_equal(digest_run_new(DIGEST_SHA256, &run, NULL), 0);
			digest_run_add(run, data, cut);
			digest_run_add(run, data + cut, size - cut);
			digest_run_finish(run, &digest);
			assert_null(digest_run_free(run));
			assert_string_equal(digest.hex, hex);
		}
	}
	assert_null(digest_run_free(NULL));
}

static void unknown_algorithms_are_refused(void **state)
{
	struct digest_run *run = NULL;
	struct husk_error err = {0};
	(void)state;

	assert_int_equal(digest_run_new(DIGEST_NONE, &run, &err), HUSK_E_INVALID);
	assert_int_equal(digest_run_new((enum digest_algorithm)3, &run, &err),
			 HUSK_E_INVALID);
	assert_int_equal(digest_run_new((enum digest_algorithm) - 1, &run, NULL),
			 HUSK_E_INVALID);
	assert_null(run);
}

enum { THREADS = 8 };

static void *many(void *arg)
{
	static const char data[4096] = {1};
	struct digest *digest = arg;

	for (int i = 0; i < 50; i++) {
		if (digest_of(i % 2 ? DIGEST_SHA256 : DIGEST_SHA512, data, sizeof(data),
			      digest, NULL) < 0)
			return NULL;
	}
	return arg;
}

static void threads_do_not_mix(void **state)
{
	pthread_t threads[THREADS];
	struct digest digests[THREADS];
	(void)state;

	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, many, &digests[i]), 0);
	for (int i = 0; i < THREADS; i++) {
		void *done = NULL;

		assert_int_equal(pthread_join(threads[i], &done), 0);
		assert_ptr_equal(done, &digests[i]);
		assert_true(digest_equal(&digests[i], &digests[0]));
	}
}

/* -- libraries -- */

struct table {
	size_t (*length)(const char *text);
	void (*absent)(void);
};

#define LIBRARY(list, table_symbols)                                     \
	(struct library)                                                 \
	{                                                                \
		.use = "tests", .package = "a-package", .sonames = list, \
		.symbols = table_symbols, .count = COUNT(table_symbols), \
		.lock = PTHREAD_MUTEX_INITIALIZER                        \
	}

static const struct library_symbol good[] = {
    LIBRARY_SYMBOL(struct table, length, strlen),
    LIBRARY_OPTIONAL(struct table, absent, no_library_has_this),
};
static const struct library_symbol bad[] = {
    LIBRARY_SYMBOL(struct table, length, strlen),
    LIBRARY_SYMBOL(struct table, absent, no_library_has_this),
};

static void a_library_is_found_by_its_second_name(void **state)
{
	static const char *const sonames[] = {"libhusk-absent.so.9", "libc.so.6", NULL};
	struct library library = LIBRARY(sonames, good);
	struct table table = {0};
	(void)state;

	assert_int_equal(library_open(&library, &table, NULL), 0);
	assert_int_equal(table.length("four"), 4);
	assert_null(table.absent);
	table.length = NULL;
	assert_int_equal(library_open(&library, &table, NULL), 0);
	assert_null(table.length); /* loaded once */
}

static void a_missing_library_names_its_package(void **state)
{
	static const char *const sonames[] = {"libhusk-absent.so.9", NULL};
	struct library library = LIBRARY(sonames, good);
	struct table table = {0};
	struct husk_error err = {0};
	(void)state;

	assert_int_equal(library_open(&library, &table, &err), HUSK_E_SYSTEM);
	assert_string_equal(err.where, "libhusk-absent.so.9");
	assert_non_null(strstr(err.message, "tests"));
	assert_string_equal(err.hint, "apt install a-package");
	assert_null(table.length);
}

static void a_library_that_lacks_a_function_fills_nothing(void **state)
{
	static const char *const sonames[] = {"libc.so.6", NULL};
	struct library library = LIBRARY(sonames, bad);
	struct table table = {0};
	struct husk_error err = {0};
	(void)state;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(library_open(&library, &table, &err), HUSK_E_SYSTEM);
		assert_non_null(strstr(err.message, "no_library_has_this"));
		assert_null(table.length);
	}
}

int main(void)
{
	const struct CMUnitTest oci_digest[] = {
	    cmocka_unit_test(text_is_parsed_strictly),
	    cmocka_unit_test(none_has_no_text),
	    cmocka_unit_test(equality_is_of_both_parts),
	    cmocka_unit_test(vectors),
	    cmocka_unit_test(parts_make_the_whole),
	    cmocka_unit_test(unknown_algorithms_are_refused),
	    cmocka_unit_test(threads_do_not_mix),
	    cmocka_unit_test(a_library_is_found_by_its_second_name),
	    cmocka_unit_test(a_missing_library_names_its_package),
	    cmocka_unit_test(a_library_that_lacks_a_function_fills_nothing),
	};

	return cmocka_run_group_tests(oci_digest, NULL, NULL);
}
