/* SPDX-License-Identifier: Apache-2.0 */
/* What a reference is: a file, a name, a digest. */
#include "oci/place.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PREFIX_MIN = 6 };

static const struct {
	const char *prefix;
	enum import_format format;
} kinds[] = {
    {"oci:", IMPORT_OCI_DIRECTORY},
    {"oci-archive:", IMPORT_OCI_ARCHIVE},
    {"docker-archive:", IMPORT_DOCKER_ARCHIVE},
};

void target_deinit(struct target *target)
{
	free(target->tag);
	free(target->name);
	*target = (struct target){0};
}

/* "PATH[:TAG]" where both may hold colons: the longest part that is there is the path. */
static size_t path_length(const char *rest)
{
	size_t length = strlen(rest);
	char path[PATH_MAX];
	struct stat st;

	while (length > 0 && length < sizeof(path)) {
		memcpy(path, rest, length);
		path[length] = '\0';
		if (fstatat(AT_FDCWD, path, &st, 0) == 0)
			return length;
		do {
			length--;
		} while (length > 0 && rest[length] != ':');
	}
	return strcspn(rest, ":");
}

static int parse_file(const char *prefix, const char *rest, struct target *ret,
		      struct husk_error *err)
{
	size_t length = path_length(rest);
	const char *tag = rest[length] == ':' ? rest + length + 1 : NULL;
	char path[PATH_MAX];
	int r;

	if (length == 0 || (tag && tag[0] == '\0')) {
		(void)error_set(err, HUSK_E_INVALID, "image", "\"%s\" names no %s",
				prefix, length == 0 ? "path" : "tag after the colon");
		error_hint(err, "write %sPATH or %sPATH:TAG", prefix, prefix);
		return HUSK_E_INVALID;
	}
	if (length >= sizeof(path))
		return error_set(err, HUSK_E_INVALID, "image", "the path is too long");
	memcpy(path, rest, length);
	path[length] = '\0';
	r = place_absolute(path, ret->path, err);
	if (r < 0)
		return r;
	if (tag && !(ret->tag = strdup(tag)))
		return error_oom(err, "image");
	if (asprintf(&ret->name, "%s%s%s%s", prefix, ret->path, tag ? ":" : "",
		     tag ? tag : "") < 0) {
		ret->name = NULL;
		return error_oom(err, "image");
	}
	return 0;
}

/* "abcdef...", "sha256:abcdef...": the beginning of a digest. */
static bool is_digest(const char *text, bool *ret_sure)
{
	const char *hex = text;

	if (strncmp(text, "sha256:", 7) == 0 || strncmp(text, "sha512:", 7) == 0)
		hex = text + 7;
	*ret_sure = hex != text;
	for (const char *at = hex; *at != '\0'; at++)
		if (!isdigit((unsigned char)*at) && (*at < 'a' || *at > 'f'))
			return false;
	return strlen(hex) >= PREFIX_MIN && strlen(text) < DIGEST_TEXT;
}

static int parse_name(const char *text, struct target *ret, struct husk_error *err)
{
	bool sure, digest = is_digest(text, &sure);
	char name[REFERENCE_TEXT];
	int r;

	if (digest)
		(void)snprintf(ret->digest, sizeof(ret->digest), "%s", text);
	if (digest && sure)
		return 0;
	r = reference_parse(text, &ret->reference, digest ? NULL : err);
	if (r < 0)
		return digest ? 0 : r;
	ret->is_name = true;
	if (ret->reference.digest.algorithm != DIGEST_NONE)
		digest_text(&ret->reference.digest, ret->digest);
	reference_text(&ret->reference, name);
	ret->name = strdup(name);
	return ret->name ? 0 : error_oom(err, "image");
}

int target_parse(const char *text, struct target *ret, struct husk_error *err)
{
	int r;

	*ret = (struct target){0};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t size = strlen(kinds[i].prefix);

		if (strncmp(text, kinds[i].prefix, size) != 0)
			continue;
		ret->file = kinds[i].format;
		r = parse_file(kinds[i].prefix, text + size, ret, err);
		if (r < 0)
			target_deinit(ret);
		return r;
	}
	r = parse_name(text, ret, err);
	if (r < 0)
		target_deinit(ret);
	return r;
}
