/* SPDX-License-Identifier: Apache-2.0 */
/* Removing: with the store locked, what nobody needs is found and moved away; the lock is
 * given back before the work of removing it, which takes as long as it takes. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/printable.h"
#include "oci/store_own.h"

struct tidy {
	struct store *store;
	struct store_set keep; /* what some name needs */
	struct store_set own;  /* where has_own: what may go */
	bool has_own;
	struct store_gone gone;
};

/* Everything that names need, but for that of `except` (may be NULL). A name that cannot
 * be read might need anything: then nothing goes. */
static int mark_names(struct tidy *tidy, const char *except, struct husk_error *err)
{
	struct store_image *images = NULL;
	struct husk_error why = {0};
	size_t count = 0;
	int r = store_list_images(tidy->store, &images, &count, &why);

	if (r < 0) {
		if (err)
			*err = why;
		return r;
	}
	if (r > 0) {
		store_images_free(images, count);
		if (err)
			*err = why;
		return HUSK_E_IMAGE;
	}
	r = 0;
	for (size_t i = 0; r == 0 && i < count; i++)
		if (!except || strcmp(images[i].name, except) != 0)
			r = store_mark_image(tidy->store, &images[i], &tidy->keep);
	store_images_free(images, count);
	return r < 0 ? error_oom(err, tidy->store->where) : 0;
}

/* The lease of a root, exclusively: a descriptor, -EWOULDBLOCK where a box has it, or
 * another -errno. */
static int take_root(const struct store *store, const char *key)
{
	CLEANUP_FD int root = store_open_dir_at(store->part[STORE_ROOTS], key);
	CLEANUP_FD int lease = -1;

	if (root < 0)
		return root;
	/* For reading and writing where that can be: some network file systems want it
	 * for an exclusive lock. */
	lease = store_open_file_at(root, "lease", O_RDWR);
	if (lease < 0)
		return lease;
	return flock(lease, LOCK_EX | LOCK_NB) < 0 ? -errno : fd_take(&lease);
}

/* A root that is in use needs the layer that it may be. */
static int keep_layer_of(struct tidy *tidy, const char *key)
{
	CLEANUP_FD int root = store_open_dir_at(tidy->store->part[STORE_ROOTS], key);
	char layer[STORE_KEY];
	struct digest diff_id;

	if (root < 0 || store_root_layer(root, &diff_id) < 0)
		return 0;
	store_key(&diff_id, layer);
	return store_set_add(&tidy->keep, STORE_LAYERS, layer);
}

static int tidy_entry(struct tidy *tidy, enum store_part part, const char *name)
{
	CLEANUP_FD int lease = -1;
	int r;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
	    store_set_has(&tidy->keep, part, name))
		return 0;
	if (tidy->has_own && !store_set_has(&tidy->own, part, name))
		return 0;
	if (part == STORE_ROOTS) {
		lease = take_root(tidy->store, name);
		if (lease == -EWOULDBLOCK)
			return keep_layer_of(tidy, name);
	}
	r = store_gone_add(&tidy->gone, part, name);
	return r == -ENOENT ? 0 : r;
}

static int tidy_part(struct tidy *tidy, enum store_part part, struct husk_error *err)
{
	struct store *store = tidy->store;
	int fd = store_open_dir_at(store->part[part], ".");
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	int r = 0;

	if (!dir) {
		r = fd < 0 ? fd : -errno;
		fd_close(&fd);
		return store_error(store, -r, err, "cannot look into it");
	}
	while (r == 0 && (entry = readdir(dir)) != NULL)
		r = tidy_entry(tidy, part, entry->d_name);
	(void)closedir(dir);
	return r < 0 ? store_error(store, -r, err, "cannot take things out of it") : 0;
}

/* Roots first: those in use may add to what is kept. */
static int tidy_all(struct tidy *tidy, struct husk_error *err)
{
	static const enum store_part parts[] = {STORE_ROOTS, STORE_LAYERS, STORE_SHA256,
						STORE_SHA512, STORE_PARTIAL};
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(parts) / sizeof(parts[0]); i++)
		r = tidy_part(tidy, parts[i], err);
	return r;
}

/* What was moved away goes, whatever else failed. */
static uint64_t finish(struct tidy *tidy)
{
	store_set_deinit(&tidy->keep);
	store_set_deinit(&tidy->own);
	store_lock_shared(tidy->store);
	return tidy->gone.dir >= 0 ? store_gone_deinit(&tidy->gone) : 0;
}

static int begin(struct tidy *tidy, struct store *store, struct husk_error *err)
{
	int r;

	*tidy = (struct tidy){.store = store, .gone = {.dir = -1, .lock = -1}};
	r = store_lock_exclusive(store, err);
	if (r < 0)
		return r;
	r = store_gone_init(store, &tidy->gone);
	if (r == 0)
		return 0;
	store_lock_shared(store);
	return store_error(store, -r, err, "cannot make room for what is to go");
}

int store_prune(struct store *store, uint64_t *ret_count, uint64_t *ret_freed,
		struct husk_error *err)
{
	uint64_t count, freed;
	struct tidy tidy;
	int r = begin(&tidy, store, err);

	if (r < 0)
		return r;
	r = mark_names(&tidy, NULL, err);
	if (r == 0)
		r = tidy_all(&tidy, err);
	count = tidy.gone.count;
	freed = finish(&tidy);
	if (r < 0)
		return r;
	if (ret_count)
		*ret_count = count;
	if (ret_freed)
		*ret_freed = freed;
	return 0;
}

/* -- one image -- */

/* Of a damaged name nothing is known but that it is there: image->name stays NULL. */
static int mark_own(struct tidy *tidy, const char *name, struct store_image *image,
		    struct husk_error *err)
{
	struct husk_error why = {0};
	int r = store_find_image(tidy->store, name, image, &why);

	tidy->has_own = true;
	if (r == HUSK_E_IMAGE && store_has_name(tidy->store, name))
		return 0;
	if (r < 0) {
		if (err)
			*err = why;
		return r;
	}
	if (store_mark_image(tidy->store, image, &tidy->own) < 0)
		return error_oom(err, tidy->store->where);
	return 0;
}

static int check_unused(const struct tidy *tidy, const struct store_image *image,
			struct husk_error *err)
{
	CLEANUP_FD int lease = -1;
	char key[STORE_KEY], shown[256];
	int r;

	store_key(&image->chain, key);
	if (store_set_has(&tidy->keep, STORE_ROOTS, key))
		return 0;
	lease = take_root(tidy->store, key);
	if (lease != -EWOULDBLOCK)
		return 0;
	r = error_set(err, HUSK_E_IN_USE, printable(shown, sizeof(shown), image->name),
		      "a session or box is using this image");
	error_hint(err, "close it first; husk ps shows boxes");
	return r;
}

static int remove_name(const struct tidy *tidy, const char *name, uint64_t *ret_freed,
		       struct husk_error *err)
{
	int dir = tidy->store->part[STORE_IMAGES];
	char file[STORE_NAME_FILE];

	store_name_file(name, file);
	*ret_freed = store_weigh(dir, file);
	if (unlinkat(dir, file, 0) < 0 || fsync(dir) < 0)
		return store_error(tidy->store, errno, err, "cannot remove images/%s",
				   file);
	return 0;
}

int store_remove_image(struct store *store, const char *name, uint64_t *ret_freed,
		       struct husk_error *err)
{
	struct store_image image = {0};
	struct tidy tidy;
	uint64_t freed = 0;
	int r = begin(&tidy, store, err);

	if (r < 0)
		return r;
	r = mark_own(&tidy, name, &image, err);
	if (r == 0 && image.name)
		r = mark_names(&tidy, name, err);
	if (r == 0 && image.name)
		r = check_unused(&tidy, &image, err);
	if (r == 0)
		r = remove_name(&tidy, name, &freed, err);
	if (r == 0 && image.name)
		r = tidy_all(&tidy, err);
	store_image_deinit(&image);
	freed += finish(&tidy);
	if (r == 0 && ret_freed)
		*ret_freed = freed;
	return r;
}
