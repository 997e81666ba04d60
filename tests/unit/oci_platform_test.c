/* SPDX-License-Identifier: Apache-2.0 */
/* Platforms: their names, and which of them serves which. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "oci/platform.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct platform of(const char *text)
{
	struct platform platform = {0};
	struct husk_error err = {0};

	if (platform_parse(text, &platform, &err) < 0)
		fail_msg("%s: %s", text, err.message);
	return platform;
}

static void names_are_normalised(void **state)
{
	static const struct {
		const char *text, *normal;
	} rows[] = {
	    {"linux/amd64", "linux/amd64"},
	    {"linux/amd64/v1", "linux/amd64"},
	    {"linux/amd64/v3", "linux/amd64/v3"},
	    {"linux/x86_64", "linux/amd64"},
	    {"linux/x86-64", "linux/amd64"},
	    {"linux/x86_64/v2", "linux/amd64/v2"},
	    {"Linux/AMD64", "linux/amd64"},
	    {"linux/i386", "linux/386"},
	    {"linux/i686", "linux/386"},
	    {"linux/aarch64", "linux/arm64"},
	    {"linux/arm64/v8", "linux/arm64"},
	    {"linux/arm64/8", "linux/arm64"},
	    {"linux/arm64/v8.2", "linux/arm64/v8.2"},
	    {"linux/arm64/v9.0", "linux/arm64/v9"},
	    {"linux/arm", "linux/arm/v7"},
	    {"linux/arm/7", "linux/arm/v7"},
	    {"linux/arm/6", "linux/arm/v6"},
	    {"linux/arm/V5", "linux/arm/v5"},
	    {"linux/armhf", "linux/arm/v7"},
	    {"linux/armel", "linux/arm/v6"},
	    {"linux/armhf/v6", "linux/arm/v7"},
	    {"linux/riscv64", "linux/riscv64"},
	    {"windows/amd64", "windows/amd64"},
	};
	(void)state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct platform platform = of(rows[i].text);
		char text[84];

		platform_text(&platform, text);
		assert_string_equal(text, rows[i].normal);
		platform_normalise(&platform);
		platform_text(&platform, text);
		assert_string_equal(text, rows[i].normal);
	}
}

static void what_is_no_platform_is_refused(void **state)
{
	static const char *const rows[] = {
	    "",
	    "linux",
	    "amd64",
	    "linux/",
	    "/amd64",
	    "linux//v7",
	    "linux/arm/",
	    "linux/arm/v7/x",
	    "linux amd64",
	    "linux/amd64 ",
	    "linux/amd\n64",
	    "linux/\x1b[2J",
	    "linux/123456789012345678901234567890123",
	    "123456789012345678901234567890123/amd64",
	    "linux/arm/12345678901234567",
	};
	(void)state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct platform platform = {.os = "kept"};
		struct husk_error err = {0};

		if (platform_parse(rows[i], &platform, &err) != HUSK_E_INVALID)
			fail_msg("%s was taken", rows[i]);
		assert_string_equal(platform.os, "kept");
		assert_non_null(strstr(err.hint, "linux/arm64"));
		for (const char *c = err.message; *c; c++)
			assert_true((unsigned char)*c >= ' ');
	}
}

/* In each row what is wanted, then what serves it, best first, then "" and what does
 * not. */
static void the_best_is_the_nearest_below(void **state)
{
	static const char *const rows[][8] = {
	    {"linux/amd64", "linux/amd64", "", "linux/amd64/v2", "linux/386",
	     "linux/arm64", "windows/amd64"},
	    {"linux/amd64/v3", "linux/amd64/v3", "linux/amd64/v2", "linux/amd64", "",
	     "linux/amd64/v4", "linux/386"},
	    {"linux/arm/v7", "linux/arm/v7", "linux/arm/v6", "linux/arm/v5", "",
	     "linux/arm/v8", "linux/arm64"},
	    {"linux/arm/v5", "linux/arm/v5", "", "linux/arm/v6", "linux/arm"},
	    {"linux/arm/v8", "linux/arm/v8", "linux/arm", "linux/arm/v6", "",
	     "linux/arm64"},
	    {"linux/arm64", "linux/arm64/v8", "", "linux/arm64/v8.1", "linux/arm64/v9",
	     "linux/arm/v7"},
	    {"linux/arm64/v8.2", "linux/arm64/v8.2", "linux/arm64/v8.1", "linux/arm64",
	     "", "linux/arm64/v8.3", "linux/arm64/v9"},
	    {"linux/arm64/v9.1", "linux/arm64/v9.1", "linux/arm64/v9", "linux/arm64/v8.6",
	     "linux/arm64", "", "linux/arm64/v8.7", "linux/arm64/v9.2"},
	    {"linux/ppc64le/power9", "linux/ppc64le/power9", "linux/ppc64le", "",
	     "linux/ppc64le/power8"},
	    {"linux/riscv64", "linux/riscv64", "", "linux/riscv64/rva23", "linux/amd64"},
	    {"linux/amd64/haswell", "linux/amd64/haswell", "", "linux/amd64"},
	    {"windows/amd64", "windows/amd64", "", "linux/amd64"},
	};
	(void)state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct platform wanted = of(rows[i][0]);
		int last = 1 << 30;
		bool serves = true;

		for (size_t k = 1; k < COUNT(rows[i]) && rows[i][k]; k++) {
			struct platform offered;
			int match;

			if (!*rows[i][k]) {
				serves = false;
				continue;
			}
			offered = of(rows[i][k]);
			match = platform_match(&wanted, &offered);
			if (serves ? match <= 0 || match >= last : match != 0)
				fail_msg("%s from %s: %d", rows[i][0], rows[i][k], match);
			last = match;
		}
	}
}

static void what_tells_nothing_serves_nothing(void **state)
{
	const struct platform nothing = {0}, wanted = of("linux/amd64");
	const struct platform half = {.architecture = "amd64"}, other = {.os = "linux"};
	(void)state;

	assert_int_equal(platform_match(&wanted, &nothing), 0);
	assert_int_equal(platform_match(&wanted, &half), 0);
	assert_int_equal(platform_match(&wanted, &other), 0);
	assert_int_equal(platform_match(&nothing, &nothing), 0);
}

static void the_host_serves_itself(void **state)
{
	struct platform host, plain;
	struct utsname name;
	(void)state;

	platform_host(&host);
	assert_int_equal(uname(&name), 0);
	plain = (struct platform){.os = "linux"};
	(void)snprintf(plain.architecture, sizeof(plain.architecture), "%.31s",
		       name.machine);
	platform_normalise(&plain);
	assert_string_equal(host.architecture, plain.architecture);
	assert_true(platform_match(&host, &plain) > 0);
	assert_true(platform_match(&host, &host) >= platform_match(&host, &plain));
}

#if defined(__x86_64__)
/* As the compiler's run time sees the processor. */
static const char *expected_variant(void)
{
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
	    __builtin_cpu_supports("avx512vl"))
		return "v4";
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
	    __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma"))
		return "v3";
	return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt") ? "v2"
										    : "";
}
#else
static const char *expected_variant(void)
{
	return "";
}
#endif

static void the_host_has_its_level(void **state)
{
	struct platform host;
	(void)state;

	platform_host(&host);
	assert_string_equal(host.variant, expected_variant());
}

int main(void)
{
	const struct CMUnitTest oci_platform[] = {
	    cmocka_unit_test(names_are_normalised),
	    cmocka_unit_test(what_is_no_platform_is_refused),
	    cmocka_unit_test(the_best_is_the_nearest_below),
	    cmocka_unit_test(what_tells_nothing_serves_nothing),
	    cmocka_unit_test(the_host_serves_itself),
	    cmocka_unit_test(the_host_has_its_level),
	};

	return cmocka_run_group_tests(oci_platform, NULL, NULL);
}
