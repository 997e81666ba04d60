/* SPDX-License-Identifier: Apache-2.0 */
/* What token servers answer, and where one may be before credentials are sent there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "oci/bounds.h"
#include "oci/token.h"

static void test_answers(void **state)
{
	static const struct {
		const char *text, *value; /* NULL: refused */
		int64_t life_s;
	} rows[] = {
	    {"{\"token\":\"t\"}", "t", 60},
	    {"{\"access_token\":\"a\"}", "a", 60},
	    {"{\"token\":\"t\",\"access_token\":\"a\"}", "t", 60},
	    {"{\"token\":\"\",\"access_token\":\"a\"}", "a", 60},
	    {"{\"token\":\"t\",\"expires_in\":300,\"issued_at\":\"x\",\"more\":{}}", "t",
	     300},
	    {"{\"token\":\"t\",\"expires_in\":0}", "t", 60},
	    {"{\"token\":\"t\",\"expires_in\":-5}", "t", 60},
	    {"{\"token\":\"t\",\"expires_in\":\"300\"}", "t", 60},
	    {"{\"token\":\"t\",\"expires_in\":1e300}", "t", OCI_MAX_TOKEN_LIFE_S},
	    {"{\"token\":\"t\",\"expires_in\":1.5}", "t", 1},
	    {"{}", NULL, 0},
	    {"{\"token\":\"\"}", NULL, 0},
	    {"{\"token\":3}", NULL, 0},
	    {"{\"token\":\"a b\"}", NULL, 0},
	    {"{\"token\":\"a\\r\\nX-Evil: 1\"}", NULL, 0},
	    {"{\"token\":\"\\u00e9\"}", NULL, 0},
	    {"{\"token\":\"a\",\"token\":\"b\"}", NULL, 0},
	    {"[\"t\"]", NULL, 0},
	    {"<html>", NULL, 0},
	    {"", NULL, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct token token = {0};
		struct husk_error err = {0};
		int rc = token_parse(rows[i].text, strlen(rows[i].text), "auth.example",
				     &token, &err);

		if ((rc == 0) != (rows[i].value != NULL))
			fail_msg("%s: %d", rows[i].text, rc);
		if (rc == 0) {
			assert_string_equal(token.value, rows[i].value);
			assert_int_equal(token.life_s, rows[i].life_s);
		} else {
			assert_int_equal(rc, HUSK_E_REGISTRY);
			assert_true(err.message[0] != '\0');
		}
		token_deinit(&token);
	}
}

static void test_size(void **state)
{
	const size_t sizes[] = {4096, OCI_MAX_TOKEN, OCI_MAX_TOKEN + 1};
	char *text = malloc(OCI_MAX_TOKEN + 64);

	(void)state;
	assert_non_null(text);
	for (size_t i = 0; i < 3; i++) {
		struct token token = {0};
		int n = snprintf(text, 16, "{\"token\":\"");

		memset(text + n, 'x', sizes[i]);
		memcpy(text + n + sizes[i], "\"}", 3);
		assert_int_equal(token_parse(text, strlen(text), "a", &token, NULL),
				 i < 2 ? 0 : HUSK_E_REGISTRY);
		token_deinit(&token);
	}
	free(text);
}

static const struct {
	const char *registry, *realm;
	bool plain;	       /* plain HTTP is allowed */
	bool anonymous, known; /* good without credentials, and with */
} realms[] = {
    {"https://reg.example/", "https://auth.other.example/token", false, true, true},
    {"https://reg.example/", "http://reg.example/token", false, false, false},
    {"https://reg.example/", "http://reg.example/token", true, false, false},
    {"https://127.0.0.1:1/", "http://127.0.0.1:2/token", true, false, false},
    {"http://127.0.0.1:1/", "http://127.0.0.1:2/token", false, true, true},
    {"http://localhost:1/", "http://[::1]:2/token", false, true, true},
    {"http://127.0.0.1:1/", "https://auth.example/token", false, true, true},
    {"http://127.0.0.1:1/", "http://auth.example/token", false, false, false},
    {"http://127.0.0.1:1/", "http://auth.example/token", true, true, false},
    {"http://127.0.0.1:1/", "http://127.0.0.1.example/token", false, false, false},
    {"http://reg.example/", "http://reg.example:81/token", true, true, true},
    {"http://reg.example/", "http://sub.reg.example/token", true, true, false},
    {"http://reg.example/", "http://reg.example/token", false, false, false},
    {"https://reg.example/", "https://u:SECRET@auth.example/token", false, false, false},
    {"https://reg.example/", "ftp://auth.example/token", true, false, false},
    {"https://reg.example/", "/token", false, false, false},
    {"https://reg.example/", "token?x=SECRET", false, false, false},
};

static bool realm_is_good(size_t row, const struct credentials *credentials)
{
	struct url registry = {0}, found = {0};
	struct husk_error err = {0};
	struct token_request request = {
	    .registry = &registry,
	    .realm = realms[row].realm,
	    .credentials = credentials,
	    .allow_plain_http = realms[row].plain,
	};
	int rc;

	assert_int_equal(url_parse(realms[row].registry, &registry), 0);
	rc = token_realm(&request, &found, &err);
	if (rc < 0) {
		assert_int_equal(rc, HUSK_E_REGISTRY);
		assert_null(strstr(err.message, "SECRET"));
	}
	url_deinit(&found);
	url_deinit(&registry);
	return rc == 0;
}

static void test_realms(void **state)
{
	char user[] = "u", password[] = "p";
	const struct credentials none = {0};
	const struct credentials known = {.user = user, .password = password};

	(void)state;
	for (size_t i = 0; i < sizeof(realms) / sizeof(realms[0]); i++) {
		if (realm_is_good(i, &none) != realms[i].anonymous)
			fail_msg("%s of %s", realms[i].realm, realms[i].registry);
		if (realm_is_good(i, &known) != realms[i].known)
			fail_msg("%s of %s with credentials", realms[i].realm,
				 realms[i].registry);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_answers),
	    cmocka_unit_test(test_size),
	    cmocka_unit_test(test_realms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
