/* SPDX-License-Identifier: Apache-2.0 */
/* What could be the name of an image, told without looking for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "oci/oci.h"

static void test_names(void **state)
{
	static const char *const good[] = {
	    "python",	    "python:3.12-slim",	 "localhost:5000/a/b:t", "oci:x",
	    "oci:/x/y:tag", "oci-archive:x.tar", "docker-archive:x.tar"};
	static const char *const bad[] = {
	    "",	      "oci:", "oci-archive:", "docker-archive:",
	    "Python", "a b",  "https://x/y",  "a@sha256:1"};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct husk_error err = {0};

		if (oci_reference_check(good[i], &err) != 0)
			fail_msg("%s: %s", good[i], err.message);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct husk_error err = {0};

		if (oci_reference_check(bad[i], &err) != HUSK_E_INVALID)
			fail_msg("\"%s\" was taken", bad[i]);
		assert_true(err.where[0] != '\0' && err.message[0] != '\0');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_names)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
