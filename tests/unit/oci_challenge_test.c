/* SPDX-License-Identifier: Apache-2.0 */
/* WWW-Authenticate as registries, proxies and attackers write it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "oci/challenge.h"

/* NULL: the member is not there. */
static const struct {
	const char *header;
	bool basic, bearer;
	const char *realm, *service, *scope;
} rows[] = {
    {"Bearer realm=\"https://a/t\",service=\"reg\",scope=\"repository:a/b:pull\"", false,
     true, "https://a/t", "reg", "repository:a/b:pull"},
    {"bearer REALM = \"https://a/t\" , Service=reg", false, true, "https://a/t", "reg",
     NULL},
    {"Basic realm=\"x\"", true, false, NULL, NULL, NULL},
    {"Basic", true, false, NULL, NULL, NULL},
    {"Bearer", false, false, NULL, NULL, NULL},
    {"Bearer service=\"reg\"", false, false, NULL, NULL, NULL},
    {"", false, false, NULL, NULL, NULL},
    {" , ,, ", false, false, NULL, NULL, NULL},
    /* commas and escapes in quotes */
    {"Bearer realm=\"https://a/t?x=1,2\",scope=\"repository:a/b:pull,push\"", false, true,
     "https://a/t?x=1,2", NULL, "repository:a/b:pull,push"},
    {"Bearer realm=\"a\\\"b\\\\c\",service=\"\"", false, true, "a\"b\\c", "", NULL},
    /* several in one header, in any order, some unknown */
    {"Negotiate, Basic realm=\"x\", Bearer realm=\"https://a/t\"", true, true,
     "https://a/t", NULL, NULL},
    {"Bearer realm=\"https://a/t\", Basic realm=\"x\"", true, true, "https://a/t", NULL,
     NULL},
    {"NTLM TlRMTVNTUAAB==, Bearer realm=\"https://a/t\"", false, true, "https://a/t",
     NULL, NULL},
    {"Digest qop=\"auth, Bearer realm=evil\", nonce=x, Bearer realm=good", false, true,
     "good", NULL, NULL},
    /* the first of two counts, whole */
    {"Bearer realm=one, Bearer realm=two,service=two", false, true, "one", NULL, NULL},
    {"Bearer realm=one,realm=two", false, true, "one", NULL, NULL},
    /* what belongs to another scheme is not taken */
    {"Basic realm=b, service=s, Bearer realm=t", true, true, "t", NULL, NULL},
    {"realm=stray, Bearer realm=t", false, true, "t", NULL, NULL},
    /* malformed: skipped up to the next comma */
    {"Bearer realm=\"unended, service=x", false, false, NULL, NULL, NULL},
    {"Bearer (comment) realm=x, Bearer realm=y", false, true, "y", NULL, NULL},
    {"=, \"x\", @, Bearer realm=y", false, true, "y", NULL, NULL},
    {"Bearer realm=, service=s", false, false, NULL, NULL, NULL},
};

static void same(const char *found, const char *wanted)
{
	if (wanted) {
		assert_non_null(found);
		assert_string_equal(found, wanted);
	} else {
		assert_null(found);
	}
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct challenges found = {0};

		assert_int_equal(challenges_add(&found, rows[i].header), 0);
		if (found.basic != rows[i].basic || found.bearer != rows[i].bearer)
			fail_msg("%s: basic %d, bearer %d", rows[i].header, found.basic,
				 found.bearer);
		same(found.realm, rows[i].realm);
		same(found.service, rows[i].service);
		same(found.scope, rows[i].scope);
		challenges_deinit(&found);
	}
}

static void test_several_headers(void **state)
{
	struct challenges found = {0};

	(void)state;
	assert_int_equal(challenges_add(&found, "Basic realm=x"), 0);
	assert_int_equal(challenges_add(&found, "Bearer realm=one"), 0);
	assert_int_equal(challenges_add(&found, "Bearer realm=two,service=two"), 0);
	assert_true(found.basic && found.bearer);
	same(found.realm, "one");
	same(found.service, NULL);
	challenges_deinit(&found);
	challenges_deinit(&found);
	assert_null(found.realm);
}

/* A parameter does not reach over from one header into the next. */
static void test_headers_are_apart(void **state)
{
	struct challenges found = {0};

	(void)state;
	assert_int_equal(challenges_add(&found, "Bearer"), 0);
	assert_int_equal(challenges_add(&found, "realm=x"), 0);
	assert_false(found.bearer);
	challenges_deinit(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_rows),
	    cmocka_unit_test(test_several_headers),
	    cmocka_unit_test(test_headers_are_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
