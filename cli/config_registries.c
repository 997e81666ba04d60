/* SPDX-License-Identifier: Apache-2.0 */
/* What the files say about registries: mirrors, whether plain HTTP will do, a CA. */
#include "cli/config.h"

#include "cli/say.h"
#include "cli/suggest.h"

#include <stdio.h>
#include <string.h>

enum { HOST_TEXT = 256, MIRRORS_MAX = 16 };

/* A host with an optional port, as it stands in a reference. */
static bool is_host(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789.-:[]";
	size_t size = strlen(name);

	return size > 0 && size < HOST_TEXT && strspn(name, allowed) == size &&
	       name[0] != '-' && name[0] != '.';
}

static int check_mirrors(const struct cli_config_place *place, const json_t *value,
			 struct husk_error *err)
{
	const json_t *mirror;
	size_t i;

	if (!json_is_array(value))
		return cli_config_refuse(place, err, "must be a list of hosts");
	if (json_array_size(value) > MIRRORS_MAX)
		return cli_config_refuse(place, err, "more than %d mirrors", MIRRORS_MAX);
	json_array_foreach(value, i, mirror)
	{
		const char *host = json_string_value(mirror);

		if (!host || !is_host(host))
			return cli_config_refuse(place, err,
						 "%s: not a host, or HOST:PORT",
						 host ? host : "(no string)");
	}
	return 0;
}

static int check_insecure(const struct cli_config_place *place, const json_t *value,
			  struct husk_error *err)
{
	return json_is_boolean(value)
		   ? 0
		   : cli_config_refuse(place, err, "must be true or false");
}

static int check_ca(const struct cli_config_place *place, const json_t *value,
		    struct husk_error *err)
{
	const char *path = json_string_value(value);

	return path && path[0] == '/'
		   ? 0
		   : cli_config_refuse(place, err,
				       "must be the absolute path of a PEM file");
}

static const struct {
	const char *name;
	int (*check)(const struct cli_config_place *place, const json_t *value,
		     struct husk_error *err);
} keys[] = {{"ca", check_ca}, {"insecure", check_insecure}, {"mirrors", check_mirrors}};

static int check_key(const struct cli_config_place *place, const char *key,
		     const json_t *value, struct husk_error *err)
{
	struct cli_suggestion near = {.input = key};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strcmp(keys[i].name, key) == 0)
			return keys[i].check(place, value, err);
		cli_suggestion_offer(&near, keys[i].name);
	}
	(void)cli_config_refuse(place, err, "nothing of a registry has this name");
	if (near.best)
		cli_error_hint(err, "did you mean %s?", near.best);
	else
		cli_error_hint(err, "there are ca, insecure and mirrors");
	return HUSK_E_INVALID;
}

static int check_registry(const struct cli_config_place *place, json_t *registry,
			  struct husk_error *err)
{
	struct cli_config_place below;
	const char *key;
	json_t *value;
	int r;

	if (!json_is_object(registry))
		return cli_config_refuse(place, err, "must be an object");
	json_object_foreach(registry, key, value)
	{
		below = cli_config_below(place, key);
		r = check_key(&below, key, value, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int cli_config_check_registries(const struct cli_config_place *place,
				const json_t *object, struct husk_error *err)
{
	json_t *registries = json_is_object(object) ? (json_t *)(uintptr_t)object : NULL;
	struct cli_config_place below;
	const char *host;
	json_t *registry;
	int r;

	if (!registries)
		return cli_config_refuse(place, err, "must be an object");
	json_object_foreach(registries, host, registry)
	{
		below = cli_config_below(place, host);
		if (!is_host(host)) {
			(void)cli_config_refuse(
			    &below, err, "not a host, or HOST:PORT, of a registry");
			cli_error_hint(err, "write it as in a reference, in lower case");
			return HUSK_E_INVALID;
		}
		r = check_registry(&below, registry, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Other names of the registry that a reference without one means. */
static bool is_hub(const char *host)
{
	static const char end[] = ".docker.io";
	size_t size = strlen(host);

	return size >= sizeof(end) && strcmp(host + size - sizeof(end) + 1, end) == 0;
}

/* The registry that a reference names by Docker's rule: what stands before the first
 * slash, where it looks like a host. False where the reference is no registry's. */
static bool find_host(const char *reference, char host[HOST_TEXT])
{
	static const char *const others[] = {
	    "dir:", "oci:", "oci-archive:", "docker-archive:"};
	size_t size = strcspn(reference, "/");
	bool upper = false;

	if (strcmp(reference, "host") == 0)
		return false;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (strncmp(reference, others[i], strlen(others[i])) == 0)
			return false;
	}
	size = size < HOST_TEXT ? size : 0;
	for (size_t i = 0; i < size; i++) {
		char c = reference[i];

		upper = upper || (c >= 'A' && c <= 'Z');
		host[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
	}
	host[size] = '\0';
	if (reference[size] != '/' || is_hub(host) ||
	    (!upper && !strpbrk(host, ".:") && strcmp(host, "localhost") != 0))
		(void)snprintf(host, HOST_TEXT, "docker.io");
	return true;
}

static int use(struct cli_settings *settings, const json_t *registry,
	       struct husk_error *err)
{
	const struct cli_option *option = cli_option_by_name("mirror", strlen("mirror"));
	const char *ca = json_string_value(json_object_get(registry, "ca"));
	const json_t *mirror;
	size_t i;
	int r;

	json_array_foreach(json_object_get(registry, "mirrors"), i, mirror)
	{
		const char *text = json_string_value(mirror);
		char *host = cli_keep_text(&settings->kept, text, strlen(text));

		r = host ? option->set(option, settings, host, err)
			 : cli_error_memory(err, "mirrors");
		if (r < 0)
			return r;
	}
	if (json_is_true(json_object_get(registry, "insecure")))
		settings->images.allow_plain_http = 1;
	if (!settings->images.tls_ca)
		settings->images.tls_ca = ca; /* lives as long as the files do */
	return 0;
}

/* The user's entry stands in the place of the administrator's. */
int cli_config_registry(struct cli_settings *settings, const char *reference,
			struct husk_error *err)
{
	char host[HOST_TEXT];

	if (!settings->config || !reference || !find_host(reference, host))
		return 0;
	for (size_t i = CLI_CONFIG_FILES; i-- > 0;) {
		json_t *registries =
		    json_object_get(settings->config->files[i].root, "registries");
		json_t *registry = json_object_get(registries, host);

		if (registry)
			return use(settings, registry, err);
	}
	return 0;
}
