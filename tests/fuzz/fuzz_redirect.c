/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: a first line as the address that was asked, the rest as the Location of
 * its answer. Where it leads keeps the rules of oci/redirect.h, and has one text. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "oci/redirect.h"

static void check_text(const struct url *url)
{
	CLEANUP_BUFFER struct buffer text = BUFFER_INIT(4 * (size_t)URL_MAX);
	CLEANUP_BUFFER struct buffer again_text = BUFFER_INIT(4 * (size_t)URL_MAX);
	struct url again = {0};
	char shown[URL_SHOWN];

	require(url_text(url, &text) == 0);
	require(text.size == strlen(text.data));
	require(strncmp(text.data, url->tls ? "https://" : "http://", url->tls ? 8 : 7) ==
		0);
	for (size_t i = 0; i < text.size; i++)
		require((unsigned char)text.data[i] > ' ' && text.data[i] != 0x7f);
	require_printable(url_show(url, shown));
	require(!strchr(shown, '?'));
	if (text.size > URL_MAX)
		return;
	require(url_parse(text.data, &again) == 0);
	require(url_same_origin(url, &again));
	require(url_text(&again, &again_text) == 0);
	require(strcmp(text.data, again_text.data) == 0);
	url_deinit(&again);
}

static void check_step(const struct url *from, const char *location, bool plain)
{
	struct husk_error err = {0};
	struct url to = {0};
	int rc = redirect_next(from, location, plain, &to, &err);

	if (rc < 0) {
		require_refusal(rc, &err);
		return;
	}
	check_text(&to);
	require(to.tls || !from->tls);
	require(to.tls || plain || (url_is_loopback(from) && url_is_loopback(&to)));
	require(!redirect_is_upward(from, &to) || !url_same_origin(from, &to));
	url_deinit(&to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *location;
	struct url from = {0};

	require(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	location = strchr(text, '\n');
	if (location)
		*location++ = '\0';
	if (url_parse(text, &from) == 0) {
		check_text(&from);
		check_step(&from, location ? location : "", false);
		check_step(&from, location ? location : "", true);
	}
	url_deinit(&from);
	free(text);
	return 0;
}
