/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/config.h"

#include "base/memory.h"
#include "base/printable.h"
#include "oci/bounds.h"
#include "oci/document.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- parts -- */

static int read_platform(const struct document *document, const json_t *top,
			 struct platform *ret)
{
	int rc = document_text(document, "", top, "os", ret->os, sizeof(ret->os));

	if (rc < 0)
		return rc;
	rc = document_text(document, "", top, "architecture", ret->architecture,
			   sizeof(ret->architecture));
	if (rc < 0)
		return rc;
	rc = document_text(document, "", top, "variant", ret->variant,
			   sizeof(ret->variant));
	if (rc == 0 && *ret->architecture)
		platform_normalise(ret);
	return rc;
}

static int read_diff_id(const struct document *document, const json_t *value, size_t i,
			struct digest *ret)
{
	const char *text = json_string_value(value);
	char shown[96], at[40];
	int rc;

	(void)snprintf(at, sizeof(at), "rootfs.diff_ids[%zu]", i);
	if (!text)
		return document_fail(document, at, "is not a string");
	rc = digest_parse(text, ret);
	if (rc == 0)
		return 0;
	(void)printable(shown, sizeof(shown), text);
	return document_fail(document, at,
			     rc == -ENOTSUP
				 ? "is \"%s\"; husk knows the digests sha256 and sha512"
				 : "is the malformed digest \"%s\"",
			     shown);
}

static int read_diff_ids(const struct document *document, const json_t *array,
			 struct image_config *ret)
{
	const size_t count = json_array_size(array);

	if (count > OCI_MAX_LAYERS)
		return document_fail(document, "rootfs.diff_ids",
				     "has %zu entries, and at most %d are taken", count,
				     OCI_MAX_LAYERS);
	if (count == 0)
		return 0;
	ret->diff_ids = calloc(count, sizeof(*ret->diff_ids));
	if (!ret->diff_ids)
		return error_oom(document->err, document->where);
	ret->diff_id_count = count;
	for (size_t i = 0; i < count; i++) {
		int rc = read_diff_id(document, json_array_get(array, i), i,
				      &ret->diff_ids[i]);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static int read_rootfs(const struct document *document, const json_t *top,
		       struct image_config *ret)
{
	json_t *rootfs = NULL, *ids = NULL;
	const char *type = NULL;
	int rc = document_object(document, "", top, "rootfs", &rootfs);

	if (rc < 0)
		return rc;
	if (!rootfs)
		return document_fail(document, "", "has no rootfs: it is no image's");
	rc = document_string(document, "rootfs", rootfs, "type", &type);
	if (rc < 0)
		return rc;
	if (type && strcmp(type, "layers") != 0)
		return document_fail(document, "rootfs",
				     "has a type that is not \"layers\"");
	rc = document_array(document, "rootfs", rootfs, "diff_ids", &ids);
	return rc < 0 ? rc : read_diff_ids(document, ids, ret);
}

/* "NAME=VALUE". What has no name or no value is left out; Docker passes over it too. */
static bool is_variable(const char *text)
{
	return *text != '=' && strchr(text, '=');
}

static bool any(const char *text)
{
	(void)text;
	return true;
}

/* An array of strings or nothing, as a NULL-terminated list of those that are wanted. */
static int read_list(const struct document *document, const json_t *object,
		     const char *key, bool (*wanted)(const char *text), char ***ret)
{
	json_t *array = NULL;
	size_t used = 0;
	int rc = object ? document_array(document, "config", object, key, &array) : 0;

	if (rc < 0)
		return rc;
	*ret = calloc(json_array_size(array) + 1, sizeof(**ret));
	if (!*ret)
		return error_oom(document->err, document->where);
	for (size_t i = 0; i < json_array_size(array); i++) {
		const char *text = json_string_value(json_array_get(array, i));

		if (!text)
			return document_fail(document, "config",
					     "%s[%zu] is not a string", key, i);
		if (!wanted(text))
			continue;
		(*ret)[used] = strdup(text);
		if (!(*ret)[used++])
			return error_oom(document->err, document->where);
	}
	return 0;
}

/* A string or nothing, as a copy. */
static int read_text(const struct document *document, const char *at,
		     const json_t *object, const char *key, char **ret)
{
	const char *text = NULL;
	int rc = object ? document_string(document, at, object, key, &text) : 0;

	if (rc < 0)
		return rc;
	*ret = strdup(text ? text : "");
	return *ret ? 0 : error_oom(document->err, document->where);
}

/* What a program in the image is started with. */
static int read_run(const struct document *document, const json_t *top,
		    struct image_config *ret)
{
	json_t *run = NULL;
	int rc = document_object(document, "", top, "config", &run);

	if (rc < 0)
		return rc;
	rc = read_list(document, run, "Env", is_variable, &ret->env);
	if (rc < 0)
		return rc;
	rc = read_list(document, run, "Entrypoint", any, &ret->entrypoint);
	if (rc < 0)
		return rc;
	rc = read_list(document, run, "Cmd", any, &ret->cmd);
	if (rc < 0)
		return rc;
	rc = read_text(document, "config", run, "User", &ret->user);
	if (rc < 0)
		return rc;
	rc = read_text(document, "config", run, "WorkingDir", &ret->workdir);
	return rc < 0 ? rc : read_text(document, "", top, "created", &ret->created);
}

/* -- the whole -- */

int image_config_parse(const char *data, size_t size, const char *where,
		       struct image_config *ret, struct husk_error *err)
{
	const struct document document = {where, err};
	struct image_config config = {0};
	CLEANUP_JSON json_t *top = NULL;
	int rc = document_load(&document, data, size, &top);

	if (rc < 0)
		return rc;
	rc = read_platform(&document, top, &config.platform);
	if (rc == 0)
		rc = read_rootfs(&document, top, &config);
	if (rc == 0)
		rc = read_run(&document, top, &config);
	if (rc < 0)
		image_config_deinit(&config);
	else
		*ret = config;
	return rc;
}

static void free_list(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

void image_config_deinit(struct image_config *config)
{
	free(config->diff_ids);
	free_list(config->env);
	free_list(config->entrypoint);
	free_list(config->cmd);
	free(config->user);
	free(config->workdir);
	free(config->created);
	*config = (struct image_config){0};
}

/* ChainID(1) is the first diff id; ChainID(n) the digest of ChainID(n-1), a space and
 * diff id n. */
int image_config_chain(const struct image_config *config, size_t count,
		       struct digest *ret, struct husk_error *err)
{
	char both[2 * DIGEST_TEXT], id[DIGEST_TEXT];
	struct digest chain = {0};

	if (count > config->diff_id_count)
		return error_set(err, HUSK_E_INVALID, "chain id",
				 "of %zu layers, and the image has %zu", count,
				 config->diff_id_count);
	if (count > 0)
		chain = config->diff_ids[0];
	for (size_t i = 1; i < count; i++) {
		int rc;

		digest_text(&chain, both);
		digest_text(&config->diff_ids[i], id);
		(void)snprintf(both + strlen(both), sizeof(both) - strlen(both), " %s",
			       id);
		rc = digest_of(DIGEST_SHA256, both, strlen(both), &chain, err);
		if (rc < 0)
			return rc;
	}
	*ret = chain;
	return 0;
}
