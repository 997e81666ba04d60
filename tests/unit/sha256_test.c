/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 against the published examples, however the input is cut. */
#include "base/sha256.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

static void digest_of(const char *data, size_t size, size_t piece, char hex[SHA256_HEX])
{
	unsigned char digest[SHA256_SIZE];
	struct sha256 hash;

	sha256_init(&hash);
	for (size_t at = 0; at < size; at += piece)
		sha256_add(&hash, data + at, size - at < piece ? size - at : piece);
	sha256_finish(&hash, digest);
	sha256_hex(digest, hex);
}

/* FIPS 180-4 examples, and the empty message. */
static void published_examples(void **state)
{
	static const struct {
		const char *text, *hex;
	} rows[] = {
	    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
	    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
	    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
	     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
	};
	char hex[SHA256_HEX];
	(void)state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		digest_of(rows[i].text, strlen(rows[i].text), 64, hex);
		assert_string_equal(hex, rows[i].hex);
	}
}

static void a_million_letters_in_pieces_of_any_size(void **state)
{
	static const size_t pieces[] = {1, 3, 55, 56, 63, 64, 65, 127, 128, 1000000};
	const size_t size = 1000000;
	char *data = malloc(size), hex[SHA256_HEX];
	(void)state;

	assert_non_null(data);
	memset(data, 'a', size);
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		digest_of(data, size, pieces[i], hex);
		assert_string_equal(
		    hex,
		    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
	}
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(published_examples),
	    cmocka_unit_test(a_million_letters_in_pieces_of_any_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
