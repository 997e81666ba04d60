/* SPDX-License-Identifier: Apache-2.0 */
/* Names of images: Docker's grammar and normalisation, and the words for what is wrong.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "oci/reference.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define HEX64  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define DIGEST "sha256:" HEX64
#define LONG   "sha512:" HEX64 HEX64
#define TEN    "abcdefghij"
#define FIFTY  TEN TEN TEN TEN TEN
#define L250   FIFTY FIFTY FIFTY FIFTY FIFTY

static const struct {
	const char *text, *whole, *host;
} good[] = {
    /* one image under all its names */
    {"python", "docker.io/library/python:latest", "registry-1.docker.io"},
    {"python:3.12-slim", "docker.io/library/python:3.12-slim", "registry-1.docker.io"},
    {"library/python", "docker.io/library/python:latest", "registry-1.docker.io"},
    {"docker.io/python", "docker.io/library/python:latest", "registry-1.docker.io"},
    {"docker.io/library/python", "docker.io/library/python:latest",
     "registry-1.docker.io"},
    {"index.docker.io/library/python", "docker.io/library/python:latest",
     "registry-1.docker.io"},
    {"index.docker.io/python", "docker.io/library/python:latest", "registry-1.docker.io"},
    {"registry-1.docker.io/library/python", "docker.io/library/python:latest",
     "registry-1.docker.io"},
    {"DOCKER.io/python", "docker.io/library/python:latest", "registry-1.docker.io"},
    {"user/app", "docker.io/user/app:latest", "registry-1.docker.io"},
    {"user/app/part", "docker.io/user/app/part:latest", "registry-1.docker.io"},
    {"a/b/c/d/e", "docker.io/a/b/c/d/e:latest", "registry-1.docker.io"},
    /* what makes the first part a registry */
    {"localhost/x", "localhost/x:latest", "localhost"},
    {"localhost:5000/x", "localhost:5000/x:latest", "localhost:5000"},
    {"localhost:5000", "docker.io/library/localhost:5000", "registry-1.docker.io"},
    {"localhost", "docker.io/library/localhost:latest", "registry-1.docker.io"},
    {"localhosts/x", "docker.io/localhosts/x:latest", "registry-1.docker.io"},
    {"LOCALHOST/x", "localhost/x:latest", "localhost"},
    {"127.0.0.1:5000/x", "127.0.0.1:5000/x:latest", "127.0.0.1:5000"},
    {"[::1]:5000/x", "[::1]:5000/x:latest", "[::1]:5000"},
    {"[::1]/x", "[::1]/x:latest", "[::1]"},
    {"[2001:DB8::1]/x", "[2001:db8::1]/x:latest", "[2001:db8::1]"},
    {"mylocalhost.example/x", "mylocalhost.example/x:latest", "mylocalhost.example"},
    {"x.local/y", "x.local/y:latest", "x.local"},
    {"host.docker.internal:5000/a", "host.docker.internal:5000/a:latest",
     "host.docker.internal:5000"},
    {"host:80/a", "host:80/a:latest", "host:80"},
    {"REG.Example:5000/x", "reg.example:5000/x:latest", "reg.example:5000"},
    {"Host:80/app", "host:80/app:latest", "host:80"},
    {"reg.example/x", "reg.example/x:latest", "reg.example"},
    {"reg.example/library/x", "reg.example/library/x:latest", "reg.example"},
    {"xn--bcher-kva.example/x", "xn--bcher-kva.example/x:latest",
     "xn--bcher-kva.example"},
    {"1.2/x", "1.2/x:latest", "1.2"},
    /* components */
    {"a", "docker.io/library/a:latest", NULL},
    {"0", "docker.io/library/0:latest", NULL},
    {"a.b", "docker.io/library/a.b:latest", NULL},
    {"a_b", "docker.io/library/a_b:latest", NULL},
    {"a__b", "docker.io/library/a__b:latest", NULL},
    {"a-b", "docker.io/library/a-b:latest", NULL},
    {"a-----b", "docker.io/library/a-----b:latest", NULL},
    {"u/a.b_c__d---e/f", "docker.io/u/a.b_c__d---e/f:latest", NULL},
    {"a_b/c.d", "docker.io/a_b/c.d:latest", NULL},
    /* tags */
    {"a:A", "docker.io/library/a:A", NULL},
    {"a:_", "docker.io/library/a:_", NULL},
    {"a:0.-_", "docker.io/library/a:0.-_", NULL},
    {"h:5000/a:5000", "h:5000/a:5000", NULL},
    {"a:" FIFTY FIFTY TEN TEN "12345678",
     "docker.io/library/a:" FIFTY FIFTY TEN TEN "12345678", NULL},
    /* digests */
    {"a@" DIGEST, "docker.io/library/a@" DIGEST, NULL},
    {"a@" LONG, "docker.io/library/a@" LONG, NULL},
    {"a:old@" DIGEST, "docker.io/library/a:old@" DIGEST, NULL},
    {"h.x:1/b/c:t@" DIGEST, "h.x:1/b/c:t@" DIGEST, NULL},
    /* 63 and 65 hexadecimal digits are names, 64 in a path too */
    {"x" HEX64, "docker.io/library/x" HEX64 ":latest", NULL},
    {"a/" HEX64, "docker.io/a/" HEX64 ":latest", NULL},
    {HEX64 ":t", "docker.io/library/" HEX64 ":t", NULL},
    /* the longest */
    {"h.x/" L250 "12345", "h.x/" L250 "12345:latest", NULL},
    {"a/" L250 "123", "docker.io/a/" L250 "123:latest", NULL},
};

static void names_are_normalised(void **state)
{
	(void)state;

	for (size_t i = 0; i < COUNT(good); i++) {
		char text[REFERENCE_TEXT];
		struct reference reference, again;
		struct husk_error err = {0};

		if (reference_parse(good[i].text, &reference, &err) != 0)
			fail_msg("%s: %s", good[i].text, err.message);
		reference_text(&reference, text);
		assert_string_equal(text, good[i].whole);
		if (good[i].host)
			assert_string_equal(reference_host(&reference), good[i].host);
		/* The normal form is its own. */
		assert_int_equal(reference_parse(text, &again, NULL), 0);
		assert_memory_equal(&reference, &again, sizeof(again));
	}
}

static void the_parts_are_told(void **state)
{
	struct reference r;
	(void)state;

	assert_int_equal(reference_parse("h.x:1/b/c:t@" DIGEST, &r, NULL), 0);
	assert_string_equal(r.registry, "h.x:1");
	assert_string_equal(r.repository, "b/c");
	assert_string_equal(r.tag, "t");
	assert_int_equal(r.digest.algorithm, DIGEST_SHA256);
	assert_string_equal(r.digest.hex, HEX64);

	assert_int_equal(reference_parse("c@" DIGEST, &r, NULL), 0);
	assert_string_equal(r.tag, "");
	assert_int_equal(reference_parse("c", &r, NULL), 0);
	assert_string_equal(r.tag, "latest");
	assert_int_equal(r.digest.algorithm, DIGEST_NONE);
}

static const struct {
	const char *text, *message, *hint; /* parts of them */
} bad[] = {
    {"", "empty", ""},
    {"Python", "upper case", "library/python"},
    {"docker.io/Lib/X", "upper case", "\"lib/x\""},
    {"Org/app", "upper case", "\"org/app\""},
    {"h.x/aB", "\"aB\"", "\"ab\""},
    {"a//b", "empty component", ""},
    {"/a", "empty component", "oci:PATH"},
    {"a/", "empty component", ""},
    {"h.x/", "names no repository", ""},
    {"/", "empty component", ""},
    {":t", "names no repository", ""},
    {"h.x/:t", "names no repository", ""},
    {"@" DIGEST, "names no repository", ""},
    {"https://h.x/a", "scheme", "without \"https://\""},
    {"http://h.x/a", "scheme", "--plain-http"},
    {"http:/h.x/a", "scheme", "--plain-http"},
    {"docker://h.x/a", "scheme", "without \"docker://\""},
    {"a b", "' '", "a-z"},
    {"a\tb", "'\\t'", ""},
    {"a\x1b[2Jb", "\\x1b", ""},
    {"a\xc3\xa4", "\xc3\xa4", ""},
    {"a\xff", "\\xff", ""},
    {"a?x=1", "'?'", ""},
    {"a#b", "'#'", ""},
    {"a%2fb", "'%'", ""},
    {"a\\b", "\\", ""},
    {"a..b", "\"a..b\"", "one '.'"},
    {"a___b", "\"a___b\"", ""},
    {"a._b", "\"a._b\"", ""},
    {"a-.b", "\"a-.b\"", ""},
    {"-a", "\"-a\"", ""},
    {"a-", "a-", ""},
    {".", ".", ""},
    {"..", "..", ""},
    {"../x", "registry", ""},
    {"a/../b", "\"..\"", ""},
    {"./a", "registry", "oci:PATH"},
    {"a:", "without a tag", ""},
    {"a:@" DIGEST, "without a tag", ""},
    {"a:.b", "tag that is none", ""},
    {"a:-b", "tag that is none", ""},
    {"a:b:c", "tag that is none", ""},
    {"a:b c", "tag that is none", ""},
    {"a:b/c", "registry whose port", ""},
    {"a:\xc3\xa4", "tag that is none", ""},
    {"a:" FIFTY FIFTY TEN TEN "123456789", "129 bytes", ""},
    {"h:0/a", "port", ""},
    {"h:65536/a", "port", ""},
    {"h:99999999999999999999/a", "port", ""},
    {"h:/a", "port", ""},
    {"h:5x/a", "port", ""},
    {"-h.x/a", "no host name", ""},
    {"h-.x/a", "no host name", ""},
    {"h..x/a", "no host name", ""},
    {"h.x./a", "no host name", ""},
    {".h/a", "no host name", ""},
    {"h_x.y/a", "no host name", ""},
    {"a.b_c/d", "no host name", ""},
    {"[::1/a", "closes", ""},
    {"[]/a", "no IPv6", ""},
    {"[::g]/a", "no IPv6", ""},
    {"[1.2.3.4]/a", "no IPv6", ""},
    {"[::ffff:1.2.3.4]/a", "no IPv6", ""},
    {"[fe80::1%eth0]/a", "no IPv6", ""},
    {"[:::]/a", "no IPv6", ""},
    {"[::1]x/a", "port", ""},
    {"[::1]:/a", "port", ""},
    {"::1/a", "several colons", "[::1]:5000"},
    {HEX64, "64 hexadecimal", "NAME@sha256:" HEX64},
    {"a@sha256:12", "malformed digest", "64 digits"},
    {"a@sha256:" HEX64 "0", "malformed digest", ""},
    {"a@sha512:" HEX64, "malformed digest", ""},
    {"a@md5:" HEX64, "algorithm", ""},
    {"a@", "no digest follows", ""},
    {"a@latest", "no digest follows", ""},
    {"a@" DIGEST "@" DIGEST, "no digest follows", ""},
    {"h.x/" L250 "123456", "256 bytes", ""},
    {"a" L250 ".x/a", "no host name", NULL}, /* it fits: 253 bytes */
    {L250 ".12345/a", "256 bytes", ""},
    {L250 "1234567", "265 bytes", ""},
};

static void what_is_wrong_is_said(void **state)
{
	(void)state;

	for (size_t i = 0; i < COUNT(bad); i++) {
		struct reference reference = {.tag = "kept"};
		struct husk_error err = {0};
		int rc = reference_parse(bad[i].text, &reference, &err);

		if (!bad[i].hint) { /* the row that is right */
			assert_int_equal(rc, 0);
			continue;
		}
		if (rc != HUSK_E_INVALID)
			fail_msg("%s: %d", bad[i].text, rc);
		if (!strstr(err.message, bad[i].message) ||
		    !strstr(err.hint, bad[i].hint))
			fail_msg("%s: %s (%s)", bad[i].text, err.message, err.hint);
		assert_string_equal(reference.tag, "kept");
		assert_true(*err.where);
	}
}

/* Names that hold a password, wherever it stands: it is in no message. */
static void passwords_are_never_shown(void **state)
{
	static const char *const rows[] = {
	    "user:PASSWORD@h.x/a",
	    "user:PASSWORD@h.x:5000/a",
	    "user:PASSWORD@host",
	    "user:PASSWORD@host:5000",
	    "user:PASSWORD@[::1]:5000/a",
	    "user:PASS/PASSWORD@h.x/a",
	    "user:PASSWORD@x@h.x/a",
	    "PASSWORD@h.x/a",
	    "https://user:PASSWORD@h.x/a",
	    "https://PASSWORD@h.x/a@" DIGEST,
	    "https://h.x/a?token=PASSWORD",
	    "PASSWORD://user@h.x/a",
	    "http:/user:PASSWORD@h.x/a",
	    "h.x/a?token=PASSWORD",
	    "user:PASSWORD@h.x/a@" DIGEST,
	    "user:PASSWORD@sha256:5000",
	    "user:PASSWORD@",
	};
	(void)state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct reference reference;
		struct husk_error err = {0};

		assert_int_equal(reference_parse(rows[i], &reference, &err),
				 HUSK_E_INVALID);
		if (strstr(err.where, "PASSWORD") || strstr(err.message, "PASSWORD") ||
		    strstr(err.hint, "PASSWORD"))
			fail_msg("%s | %s | %s", err.where, err.message, err.hint);
	}
}

/* Every byte at every place of a good name: taken as a good name or refused in words that
 * are fit to print. */
static void no_byte_gets_through_unseen(void **state)
{
	static const char name[] = "reg.example:5000/a-b/c:t.1@" DIGEST;
	(void)state;

	for (size_t at = 0; at < sizeof(name) - 1; at++) {
		for (int byte = 1; byte < 256; byte++) {
			char text[sizeof(name)], whole[REFERENCE_TEXT];
			struct reference reference;
			struct husk_error err = {0};

			memcpy(text, name, sizeof(name));
			text[at] = (char)byte;
			if (reference_parse(text, &reference, &err) == 0) {
				reference_text(&reference, whole);
				assert_int_equal(
				    strspn(whole,
					   "abcdefghijklmnopqrstuvwxyz0123456789_.-"
					   "ABCDEFGHIJKLMNOPQRSTUVWXYZ/:@"),
				    strlen(whole));
				continue;
			}
			for (const char *c = err.message; *c; c++)
				assert_true((unsigned char)*c >= ' ' && *c != 0x7f);
			for (const char *c = err.where; *c; c++)
				assert_true((unsigned char)*c >= ' ' && *c != 0x7f);
		}
	}
}

static void loopback_is_known(void **state)
{
	static const struct {
		const char *registry;
		bool loopback;
	} rows[] = {
	    {"localhost", true},
	    {"localhost:5000", true},
	    {"LocalHost:5000", true},
	    {"reg.localhost", true},
	    {"reg.localhost:80", true},
	    {"127.0.0.1", true},
	    {"127.0.0.1:5000", true},
	    {"127.255.255.254", true},
	    {"[::1]", true},
	    {"[::1]:5000", true},
	    {"[0:0:0:0:0:0:0:1]", true},
	    {"mylocalhost", false},
	    {"mylocalhost.example", false},
	    {"localhost.example", false},
	    {"localhost.", false},
	    {"126.0.0.1", false},
	    {"128.0.0.1", false},
	    {"127.1", false},
	    {"127.0.0.1.example", false},
	    {"0.0.0.0", false},
	    {"0177.0.0.1", false},
	    {"2130706433", false},
	    {"[::]", false},
	    {"[::2]", false},
	    {"[::ffff:7f00:1]", false},
	    {"[::ffff:127.0.0.1]", false},
	    {"[::1", false},
	    {"[::1]x", false},
	    {"[localhost]", false},
	    {"[127.0.0.1]", false},
	    {"docker.io", false},
	    {"", false},
	};
	(void)state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		if (reference_is_loopback(rows[i].registry) != rows[i].loopback)
			fail_msg("%s", rows[i].registry);
	}
}

int main(void)
{
	const struct CMUnitTest oci_reference[] = {
	    cmocka_unit_test(names_are_normalised),
	    cmocka_unit_test(the_parts_are_told),
	    cmocka_unit_test(what_is_wrong_is_said),
	    cmocka_unit_test(passwords_are_never_shown),
	    cmocka_unit_test(no_byte_gets_through_unseen),
	    cmocka_unit_test(loopback_is_known),
	};

	return cmocka_run_group_tests(oci_reference, NULL, NULL);
}
