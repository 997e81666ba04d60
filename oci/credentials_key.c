/* SPDX-License-Identifier: Apache-2.0 */
/* Which key of a credentials file means which registry. */
#include "oci/credentials.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

struct part {
	const char *text;
	size_t size;
};

static bool is(struct part part, const char *wanted)
{
	return part.size == strlen(wanted) &&
	       strncasecmp(part.text, wanted, part.size) == 0;
}

/* Docker Hub goes by the names of all its hosts. */
static bool is_docker_hub(struct part host)
{
	return is(host, "docker.io") || is(host, "index.docker.io") ||
	       is(host, "registry-1.docker.io");
}

static bool same_host(struct part host, const char *registry)
{
	const struct part own = {registry, strlen(registry)};

	return is(host, registry) || (is_docker_hub(host) && is_docker_hub(own));
}

static const char *after_scheme(const char *key)
{
	if (strncasecmp(key, "https://", 8) == 0)
		return key + 8;
	return strncasecmp(key, "http://", 7) == 0 ? key + 7 : key;
}

/* The names after the host, without the API versions that old files have there. */
static struct part names_of(const char *text)
{
	struct part names = {text, strlen(text)};

	while (names.size > 0 && names.text[0] == '/') {
		names.text++;
		names.size--;
	}
	while (names.size > 0 && names.text[names.size - 1] == '/')
		names.size--;
	if (is(names, "v1") || is(names, "v2"))
		names.size = 0;
	return names;
}

int credentials_key_fits(const char *key, const char *registry, const char *repository)
{
	const char *text = after_scheme(key);
	const struct part host = {text, strcspn(text, "/")};
	const struct part names = names_of(text + host.size);
	const int plain = text == key ? 1 : 0;

	if (host.size == 0 || !same_host(host, registry))
		return 0;
	if (names.size == 0)
		return 1 + plain;
	if (strncmp(repository, names.text, names.size) != 0 ||
	    (repository[names.size] != '\0' && repository[names.size] != '/'))
		return 0;
	return 3 + 2 * (int)names.size + plain;
}
