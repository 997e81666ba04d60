/* SPDX-License-Identifier: Apache-2.0 */
/* Files in images/: what a name stands for, as one strict JSON object. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/json_read.h"
#include "base/memory.h"
#include "base/printable.h"
#include "base/sha256.h"
#include "oci/store_own.h"

enum { NAME_FILE_MAX = 16 << 10, NAME_MAX_BYTES = 2048 };

static void drop_json(json_t **json)
{
	json_decref(*json);
}
#define CLEANUP_JSON __attribute__((cleanup(drop_json)))

void store_name_file(const char *name, char file[STORE_NAME_FILE])
{
	unsigned char digest[SHA256_SIZE];
	struct sha256 hash;

	sha256_init(&hash);
	sha256_add(&hash, name, strlen(name));
	sha256_finish(&hash, digest);
	sha256_hex(digest, file);
}

void store_image_deinit(struct store_image *image)
{
	free(image->name);
	*image = (struct store_image){0};
}

static int damaged(const struct store *store, const char *file, const char *why,
		   struct husk_error *err)
{
	(void)error_set(err, HUSK_E_IMAGE, store->where, "images/%s in it is damaged: %s",
			file, why);
	error_hint(err,
		   "pull or import the image again, or take it off with husk image rm "
		   "and its name, or remove that file; other images are not "
		   "affected");
	return HUSK_E_IMAGE;
}

/* "" stands for no digest where may_lack. */
static bool take_digest(const char *text, bool may_lack, struct digest *ret)
{
	if (*text == '\0' && may_lack) {
		*ret = (struct digest){0};
		return true;
	}
	return digest_parse(text, ret) == 0;
}

/* What is wrong, or NULL; then without a name where there is no memory. */
static const char *take_fields(json_t *json, const char *file, struct store_image *ret)
{
	const char *name, *top, *manifest, *chain, *platform, *source = "";
	char of_name[STORE_NAME_FILE];
	json_int_t added, size;
	json_error_t problem;
	size_t name_size;

	errno = 0;
	if (json_unpack_ex(json, &problem, JSON_STRICT,
			   "{s:s%, s:s, s:s, s:s, s:s, s:I, s:I, s?s}", "name", &name,
			   &name_size, "top", &top, "manifest", &manifest, "chain",
			   &chain, "platform", &platform, "added", &added, "size", &size,
			   "source", &source) < 0)
		return errno == ENOMEM ? NULL
				       : "a member is missing, unknown or of another "
					 "kind";
	store_name_file(name, of_name);
	if (name_size != strlen(name) || strcmp(file, of_name) != 0)
		return "its name belongs to another file";
	if (!take_digest(top, false, &ret->top) ||
	    !take_digest(manifest, false, &ret->manifest) ||
	    !take_digest(chain, true, &ret->chain))
		return "a digest is malformed";
	if (strlen(platform) >= sizeof(ret->platform) || size < 0 ||
	    strlen(source) >= sizeof(ret->source))
		return "a value is out of range";
	(void)snprintf(ret->source, sizeof(ret->source), "%s", source);
	(void)snprintf(ret->platform, sizeof(ret->platform), "%s", platform);
	ret->added_s = added;
	ret->size = (uint64_t)size;
	ret->name = strdup(name);
	return NULL;
}

int store_read_image(const struct store *store, const char *file, struct store_image *ret,
		     struct husk_error *err)
{
	CLEANUP_BUFFER struct buffer text = BUFFER_INIT(0);
	CLEANUP_JSON json_t *json = NULL;
	struct store_image image = {0};
	const char *why;
	int r = store_read_file_at(store->part[STORE_IMAGES], file, NAME_FILE_MAX, &text);

	if (r == -EFBIG)
		return damaged(store, file, "it is too long", err);
	if (r == -EINVAL || r == -ELOOP)
		return damaged(store, file, "it is no file", err);
	if (r == -ENOMEM)
		return error_oom(err, store->where);
	if (r < 0)
		return store_error(store, -r, err, "cannot read images/%s", file);
	r = json_read(text.data, text.size, JSON_REJECT_DUPLICATES, &json, NULL);
	if (r == -ENOMEM)
		return error_oom(err, store->where);
	if (r < 0)
		return damaged(store, file, "it is not JSON", err);
	why = take_fields(json, file, &image);
	if (why)
		return damaged(store, file, why, err);
	if (!image.name)
		return error_oom(err, store->where);
	*ret = image;
	return 0;
}

bool store_has_name(struct store *store, const char *name)
{
	int dir = store->part[STORE_IMAGES];
	char file[STORE_NAME_FILE];
	struct stat st;

	store_name_file(name, file);
	return dir >= 0 && fstatat(dir, file, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

int store_find_image(struct store *store, const char *name, struct store_image *ret,
		     struct husk_error *err)
{
	char file[STORE_NAME_FILE], shown[256];
	int r, dir = store->part[STORE_IMAGES];
	struct stat st;

	store_name_file(name, file);
	r = dir >= 0 ? fstatat(dir, file, &st, AT_SYMLINK_NOFOLLOW) : -1;
	if (r == 0)
		return store_read_image(store, file, ret, err);
	r = dir >= 0 ? errno : ENOENT;
	(void)printable(shown, sizeof(shown), name);
	if (r != ENOENT)
		return store_error(store, r, err, "cannot look for image %s", shown);
	r = error_set(err, HUSK_E_IMAGE, shown, "the store does not have this image");
	error_hint(err, "pull or import it; husk image ls lists what is there");
	return r;
}

/* -- adding -- */

static int check_complete(struct store *store, const struct store_image *image,
			  struct husk_error *err)
{
	const char *lacks = NULL;

	if (!store_has_blob(store, &image->top, NULL) ||
	    !store_has_blob(store, &image->manifest, NULL))
		lacks = "manifest";
	else if (image->chain.algorithm != DIGEST_NONE &&
		 !store_has_root(store, &image->chain))
		lacks = "root";
	if (!lacks)
		return 0;
	return error_set(err, HUSK_E_INVALID, store->where,
			 "an image cannot be named before its %s is there", lacks);
}

static int make_text(const struct store_image *image, char **ret)
{
	char top[DIGEST_TEXT], manifest[DIGEST_TEXT], chain[DIGEST_TEXT] = "";
	CLEANUP_JSON json_t *json = NULL;

	digest_text(&image->top, top);
	digest_text(&image->manifest, manifest);
	if (image->chain.algorithm != DIGEST_NONE)
		digest_text(&image->chain, chain);
	json = json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:s*}", "name", image->name,
			 "top", top, "manifest", manifest, "chain", chain, "platform",
			 image->platform, "added", (json_int_t)image->added_s, "size",
			 (json_int_t)image->size, "source",
			 image->source[0] ? image->source : NULL);
	*ret = json ? json_dumps(json, JSON_INDENT(1)) : NULL;
	return *ret ? 0 : -ENOMEM;
}

int store_set_image(struct store *store, const struct store_image *image,
		    struct husk_error *err)
{
	CLEANUP_FREE char *text = NULL;
	char file[STORE_NAME_FILE];
	int r = store_check_writable(store, err);

	if (r == 0)
		r = check_complete(store, image, err);
	if (r < 0)
		return r;
	if (image->name[0] == '\0' || strlen(image->name) > NAME_MAX_BYTES)
		return error_set(err, HUSK_E_INVALID, store->where,
				 "an image's name has 1 to %d bytes", NAME_MAX_BYTES);
	r = make_text(image, &text);
	if (r < 0)
		return error_oom(err, store->where);
	store_name_file(image->name, file);
	r = store_put_file(store, store->part[STORE_IMAGES], file, text, strlen(text));
	return r < 0 ? store_error(store, -r, err, "cannot write images/%s", file) : 0;
}
