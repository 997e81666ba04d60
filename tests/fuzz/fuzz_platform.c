/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: any text as a platform. What is accepted is normal, and serves itself. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "oci/platform.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct platform platform, again, host;
	struct husk_error err = {0};
	char one[84], other[84];
	char *text = malloc(size + 1);
	int rc;

	require(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	rc = platform_parse(text, &platform, &err);
	free(text);
	if (rc < 0) {
		require_refusal(rc, &err);
		return 0;
	}
	again = platform;
	platform_normalise(&again);
	platform_text(&platform, one);
	platform_text(&again, other);
	require_printable(one);
	require(strcmp(one, other) == 0);
	require(platform_match(&platform, &again) > 0);
	platform_host(&host);
	(void)platform_match(&host, &platform);
	return 0;
}
