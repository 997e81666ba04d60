/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses, and where a registry may send us. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "oci/redirect.h"
#include "oci/url.h"

static void is_address(const struct url *url, const char *wanted)
{
	struct buffer text = BUFFER_INIT(64 * 1024);

	assert_int_equal(url_text(url, &text), 0);
	assert_string_equal(text.data, wanted);
	buffer_deinit(&text);
}

static void test_parse(void **state)
{
	static const struct {
		const char *text, *wanted;
		int rc;
	} rows[] = {
	    {"https://Reg.Example/v2/", "https://reg.example/v2/", 0},
	    {"HTTPS://reg.example:443", "https://reg.example/", 0},
	    {"http://reg.example:8080?x=1#part", "http://reg.example:8080/?x=1", 0},
	    {"http://[::1]:5000/a", "http://[::1]:5000/a", 0},
	    {"https://a/x%2Fy+z?s=a%2Fb+c", "https://a/x%2Fy+z?s=a%2Fb+c", 0},
	    {"https://a/..%2f../b/../c", "https://a/..%2f../b/../c", 0},
	    {"file:///etc/passwd", NULL, -EPROTONOSUPPORT},
	    {"ftp://a/", NULL, -EPROTONOSUPPORT},
	    {"javascript:x", NULL, -EPROTONOSUPPORT},
	    {"https://user:secret@a/", NULL, -EPERM},
	    {"https://a@b", NULL, -EPERM},
	    {"https://", NULL, -EINVAL},
	    {"https:///x", NULL, -EINVAL},
	    {"https:a", NULL, -EINVAL},
	    {"reg.example/x", NULL, -EINVAL},
	    {"https://a b/", NULL, -EINVAL},
	    {"https://a/\r\nHost: b", NULL, -EINVAL},
	    {"https://a:0/", NULL, -EINVAL},
	    {"https://a:65536/", NULL, -EINVAL},
	    {"https://a:/", NULL, -EINVAL},
	    {"https://a:1x/", NULL, -EINVAL},
	    {"https://[::1/", NULL, -EINVAL},
	    {"https://[zz]/", NULL, -EINVAL},
	    {"https://a\\b/", NULL, -EINVAL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct url url = {0};
		int rc = url_parse(rows[i].text, &url);

		if (rc != rows[i].rc)
			fail_msg("%s: %d, not %d", rows[i].text, rc, rows[i].rc);
		if (rc == 0)
			is_address(&url, rows[i].wanted);
		url_deinit(&url);
	}
}

static void test_too_long(void **state)
{
	struct url url = {0};
	char *text = malloc(URL_MAX + 32);

	(void)state;
	assert_non_null(text);
	memset(text, 'a', URL_MAX + 31);
	memcpy(text, "https://a/", 10);
	text[URL_MAX + 31] = '\0';
	assert_int_equal(url_parse(text, &url), -E2BIG);
	text[URL_MAX] = '\0';
	assert_int_equal(url_parse(text, &url), 0);
	url_deinit(&url);
	free(text);
}

/* RFC 3986 section 5.4, as far as it has to do with http. */
static void test_resolve(void **state)
{
	static const struct {
		const char *location, *wanted;
	} rows[] = {
	    {"g", "http://a/b/c/g"},
	    {"./g", "http://a/b/c/g"},
	    {"g/", "http://a/b/c/g/"},
	    {"/g", "http://a/g"},
	    {"//g", "http://g/"},
	    {"?y", "http://a/b/c/d;p?y"},
	    {"g?y", "http://a/b/c/g?y"},
	    {"", "http://a/b/c/d;p?q"},
	    {"#s", "http://a/b/c/d;p?q"},
	    {".", "http://a/b/c/"},
	    {"..", "http://a/b/"},
	    {"../g", "http://a/b/g"},
	    {"../../g", "http://a/g"},
	    {"../../../../g", "http://a/g"},
	    {"g?y/../x", "http://a/b/c/g?y/../x"},
	    {"https://h:1/x", "https://h:1/x"},
	    {"//h:8/%2e%2E?a=b//c", "http://h:8/%2e%2E?a=b//c"},
	};
	struct url base = {0};

	(void)state;
	assert_int_equal(url_parse("http://a/b/c/d;p?q", &base), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct url url = {0};

		assert_int_equal(url_resolve(&base, rows[i].location, &url), 0);
		is_address(&url, rows[i].wanted);
		url_deinit(&url);
	}
	url_deinit(&base);
}

static void test_shown_without_secrets(void **state)
{
	char text[URL_SHOWN];
	struct url url = {0};

	(void)state;
	assert_int_equal(url_parse("https://a/x\x80?X-Signature=SECRET", &url), 0);
	assert_string_equal(url_show(&url, text), "https://a/x\\x80");
	url_deinit(&url);
}

/* From where, to where, with plain HTTP allowed or not. */
static void test_rules(void **state)
{
	static const struct {
		const char *from, *location;
		bool plain, good;
	} rows[] = {
	    {"https://reg.example/v2/", "https://other.example/x", false, true},
	    {"https://reg.example/v2/", "/x", false, true},
	    {"https://reg.example/v2/", "http://reg.example/v2/", false, false},
	    {"https://reg.example/v2/", "http://reg.example/v2/", true, false},
	    {"https://127.0.0.1:1/", "http://127.0.0.1:1/", true, false},
	    {"http://reg.example/", "https://reg.example/", false, true},
	    {"http://127.0.0.1:1/", "http://127.0.0.1:2/", false, true},
	    {"http://localhost:1/", "http://[::1]:2/", false, true},
	    {"http://127.0.0.1:1/", "http://reg.example/", false, false},
	    {"http://127.0.0.1:1/", "http://reg.example/", true, true},
	    {"http://127.0.0.1:1/", "http://127.0.0.1.example/", false, false},
	    {"http://reg.example/", "http://127.0.0.1/", false, false},
	    {"https://reg.example/", "file:///x", true, false},
	    {"https://reg.example/", "https://u:SECRET@reg.example/", true, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct husk_error err = {0};
		struct url from = {0}, to = {0};
		int rc;

		assert_int_equal(url_parse(rows[i].from, &from), 0);
		rc = redirect_next(&from, rows[i].location, rows[i].plain, &to, &err);
		if ((rc == 0) != rows[i].good)
			fail_msg("%s to %s: %d", rows[i].from, rows[i].location, rc);
		if (rc != 0) {
			assert_int_equal(rc, HUSK_E_REGISTRY);
			assert_true(err.message[0] != '\0');
			assert_null(strstr(err.message, "SECRET"));
		}
		url_deinit(&from);
		url_deinit(&to);
	}
}

static void test_origin_and_upward(void **state)
{
	static const struct {
		const char *a, *b;
		bool same, upward;
	} rows[] = {
	    {"https://a/x", "https://a:443/y", true, false},
	    {"https://a/x", "https://a:444/x", false, false},
	    {"https://a/x", "https://b.a/x", false, false},
	    {"https://a/x", "http://a/x", false, false},
	    {"http://a/x", "https://a/x", false, true},
	    {"http://a:5000/x", "https://a:5000/x", false, true},
	    {"http://a:5000/x", "https://a:5001/x", false, false},
	    {"http://a/x", "https://a/y", false, false},
	    {"http://a/x", "https://b/x", false, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct url a = {0}, b = {0};

		assert_int_equal(url_parse(rows[i].a, &a), 0);
		assert_int_equal(url_parse(rows[i].b, &b), 0);
		assert_int_equal(url_same_origin(&a, &b), rows[i].same);
		assert_int_equal(redirect_is_upward(&a, &b), rows[i].upward);
		url_deinit(&a);
		url_deinit(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_parse),   cmocka_unit_test(test_too_long),
	    cmocka_unit_test(test_resolve), cmocka_unit_test(test_shown_without_secrets),
	    cmocka_unit_test(test_rules),   cmocka_unit_test(test_origin_and_upward),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
