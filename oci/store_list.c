/* SPDX-License-Identifier: Apache-2.0 */
/* All names of a store, and looking for one by what it stands for. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/printable.h"
#include "oci/store_own.h"

enum { PREFIX_MIN = 6 };

void store_images_free(struct store_image *images, size_t count)
{
	for (size_t i = 0; i < count; i++)
		store_image_deinit(&images[i]);
	free(images);
}

struct list {
	struct store_image *images;
	size_t count, capacity;
	int damaged;
};

static int add(struct list *list, const struct store_image *image)
{
	if (list->count == list->capacity) {
		size_t capacity = list->capacity ? list->capacity * 2 : 16;
		void *grown = reallocarray(list->images, capacity, sizeof(*list->images));

		if (!grown)
			return -ENOMEM;
		list->images = grown;
		list->capacity = capacity;
	}
	list->images[list->count++] = *image;
	return 0;
}

/* A damaged name is counted, and told of where it is the first. */
static int add_file(const struct store *store, const char *file, struct list *list,
		    struct husk_error *err)
{
	struct store_image image = {0};
	struct husk_error why = {0};
	int r = store_read_image(store, file, &image, &why);

	if (r == 0 && add(list, &image) < 0) {
		store_image_deinit(&image);
		return error_oom(err, store->where);
	}
	if (r == 0 || (r == HUSK_E_SYSTEM && why.sys_errno == ENOENT))
		return 0; /* or removed meanwhile */
	if (r != HUSK_E_IMAGE) {
		if (err)
			*err = why;
		return r;
	}
	if (list->damaged++ == 0 && err)
		*err = why;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct store_image *)a)->name,
		      ((const struct store_image *)b)->name);
}

static int read_all(const struct store *store, DIR *dir, struct list *list,
		    struct husk_error *err)
{
	const struct dirent *entry;
	int r = 0;

	while (r == 0 && (entry = readdir(dir)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			r = add_file(store, entry->d_name, list, err);
	return r;
}

int store_list_images(struct store *store, struct store_image **ret, size_t *ret_count,
		      struct husk_error *err)
{
	struct list list = {0};
	DIR *dir = NULL;
	int fd, r;

	if (store->part[STORE_IMAGES] >= 0) {
		fd = store_open_dir_at(store->part[STORE_IMAGES], ".");
		dir = fd < 0 ? NULL : fdopendir(fd);
		if (!dir) {
			r = fd < 0 ? fd : -errno;
			fd_close(&fd);
			return store_error(store, -r, err, "cannot look into images");
		}
		r = read_all(store, dir, &list, err);
		(void)closedir(dir);
		if (r < 0) {
			store_images_free(list.images, list.count);
			return r;
		}
	}
	if (list.count > 0)
		qsort(list.images, list.count, sizeof(*list.images), by_name);
	*ret = list.images;
	*ret_count = list.count;
	return list.damaged;
}

/* -- by digest -- */

static int check_prefix(const char *prefix, struct husk_error *err)
{
	const char *hex = strchr(prefix, ':');
	char shown[64];
	size_t size;
	int r;

	hex = hex ? hex + 1 : prefix;
	size = strlen(hex);
	if (size >= PREFIX_MIN && size < DIGEST_HEX &&
	    strspn(hex, "0123456789abcdef") == size)
		return 0;
	(void)printable(shown, sizeof(shown), prefix);
	r = error_set(err, HUSK_E_INVALID, shown, "this is no digest of an image");
	error_hint(err, "write %d or more lower-case hexadecimal digits of it",
		   PREFIX_MIN);
	return r;
}

static bool begins(const struct digest *digest, const char *prefix)
{
	char text[DIGEST_TEXT];

	digest_text(digest, text);
	if (strchr(prefix, ':'))
		return strncmp(text, prefix, strlen(prefix)) == 0;
	return strncmp(digest->hex, prefix, strlen(prefix)) == 0;
}

/* Several names of one image are no doubt about which is meant: the first is taken. */
static int choose(struct store_image *images, size_t count, const char *prefix,
		  struct store_image *ret, struct husk_error *err)
{
	struct store_image *found = NULL;
	int r;

	for (size_t i = 0; i < count; i++) {
		if (!begins(&images[i].top, prefix) &&
		    !begins(&images[i].manifest, prefix))
			continue;
		if (!found) {
			found = &images[i];
		} else if (!digest_equal(&found->manifest, &images[i].manifest)) {
			r = error_set(err, HUSK_E_IMAGE, prefix,
				      "more than one image's digest begins so");
			error_hint(err, "write more of its digits");
			return r;
		}
	}
	if (!found) {
		r = error_set(err, HUSK_E_IMAGE, prefix,
			      "the store has no image whose digest begins so");
		error_hint(err, "husk image ls lists what is there");
		return r;
	}
	*ret = *found;
	found->name = NULL;
	return 0;
}

int store_find_digest(struct store *store, const char *prefix, struct store_image *ret,
		      struct husk_error *err)
{
	struct husk_error damage;
	struct store_image *images = NULL;
	size_t count = 0;
	int r = check_prefix(prefix, err);

	if (r < 0)
		return r;
	r = store_list_images(store, &images, &count, &damage);
	if (r < 0) {
		if (err)
			*err = damage;
		return r;
	}
	r = choose(images, count, prefix, ret, err);
	store_images_free(images, count);
	return r;
}
