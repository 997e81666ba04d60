/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: any lines as WWW-Authenticate headers of one answer. What is found came
 * out of them; a second reading finds the same. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "oci/challenge.h"

static void read_all(const char *text, struct challenges *ret)
{
	char *copy = strdup(text), *line, *rest = copy;

	require(copy != NULL);
	while ((line = strsep(&rest, "\n")))
		require(challenges_add(ret, line) == 0);
	free(copy);
}

static void check(const char *found, size_t size)
{
	require(!found || strlen(found) <= size);
}

static void same(const char *a, const char *b)
{
	require((a == NULL) == (b == NULL) && (!a || strcmp(a, b) == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct challenges found = {0}, again = {0};
	char *text = malloc(size + 1);

	require(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	read_all(text, &found);
	read_all(text, &again);
	require(found.bearer == (found.realm != NULL));
	require(found.bearer || (!found.service && !found.scope && !found.error));
	check(found.realm, size);
	check(found.service, size);
	check(found.scope, size);
	same(found.realm, again.realm);
	same(found.service, again.service);
	same(found.scope, again.scope);
	require(found.basic == again.basic);
	challenges_deinit(&found);
	challenges_deinit(&again);
	free(text);
	return 0;
}
