/* SPDX-License-Identifier: Apache-2.0 */
/* Getting an image into a store. */
#include "oci/oci_get.h"

#include "oci/bounds.h"
#include "oci/fetch.h"
#include "oci/import_source.h"
#include "oci/registry.h"

#include <stdio.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { SETTLED_S = 2 };

int oci_fetch_options(const struct husk_image_options *options, int cancel_fd,
		      struct fetch_options *ret, struct husk_error *err)
{
	*ret = (struct fetch_options){.on_progress = options->on_progress,
				      .progress_user = options->user,
				      .cancel_fd = cancel_fd};
	if (options->platform)
		return platform_parse(options->platform, &ret->platform, err);
	platform_host(&ret->platform);
	return 0;
}

/* -- from a registry -- */

static int from_registry(void *user, const struct descriptor *what, struct buffer *ret,
			 struct husk_error *err)
{
	struct registry *registry = user;
	struct digest digest;
	char type[128];

	if (what->media.kind != MEDIA_MANIFEST && what->media.kind != MEDIA_INDEX)
		return registry_small_blob(registry, what, ret, err);
	return registry_manifest(registry, &what->digest, ret, &digest, type, err);
}

static int blob_from_registry(void *user, const struct descriptor *what,
			      struct blob *blob,
			      void (*progress)(void *progress_user, uint64_t bytes),
			      void *progress_user, struct husk_error *err)
{
	return registry_blob(user, what, blob, progress, progress_user, err);
}

static int stopped(void *user)
{
	return import_stopped(*(const int *)user);
}

static int fetch_from(struct registry *registry, struct store *store,
		      const struct target *target, const struct fetch_options *fetch,
		      struct store_image *ret, struct husk_error *err)
{
	CLEANUP_BUFFER struct buffer data = BUFFER_INIT(OCI_MAX_DOCUMENT);
	const struct digest *digest = &target->reference.digest;
	struct fetch_source source = {
	    .document = from_registry, .blob = blob_from_registry, .user = registry};
	struct descriptor top = {0};
	int r =
	    registry_manifest(registry, digest->algorithm != DIGEST_NONE ? digest : NULL,
			      &data, &top.digest, top.media_type, err);

	if (r < 0)
		return r;
	top.media = media_of(top.media_type);
	top.size = data.size;
	return fetch_image(store, &source, &top, &data, fetch, ret, err);
}

static int pull_name(struct store *store, const struct target *target,
		     const struct husk_image_options *options,
		     const struct fetch_options *fetch, struct store_image *ret,
		     struct husk_error *err)
{
	int cancel_fd = fetch->cancel_fd;
	struct registry_options how = {
	    .auth_files = options->auth_files,
	    .helper_path = options->helper_path,
	    .tls_ca = options->tls_ca,
	    .mirrors = options->mirrors,
	    .http_proxy = options->http_proxy,
	    .https_proxy = options->https_proxy,
	    .no_proxy = options->no_proxy,
	    .allow_plain_http = options->allow_plain_http == 1,
	    .stopped = stopped,
	    .user = &cancel_fd,
	};
	struct registry *registry = NULL;
	int r = registry_new(&target->reference, &how, &registry, err);

	if (r < 0)
		return r;
	r = fetch_from(registry, store, target, fetch, ret, err);
	registry = registry_free(registry);
	return r;
}

/* -- what is there already -- */

/* Does what the store has under a name serve, whole as it must be? */
static bool is_whole(struct store *store, const struct store_image *there,
		     const struct platform *wanted)
{
	struct platform offered;

	return platform_parse(there->platform, &offered, NULL) == 0 &&
	       platform_match(wanted, &offered) > 0 &&
	       (there->chain.algorithm == DIGEST_NONE ||
		store_has_root(store, &there->chain));
}

/* A name with a digest that the store has under another name: the digest decides, so
 * there is nothing to ask for. 1 where it was so. */
static int name_again(struct store *store, const struct target *target,
		      const struct platform *platform, struct store_image *ret)
{
	char digest[DIGEST_TEXT];
	struct store_image there;

	digest_text(&target->reference.digest, digest);
	if (store_find_image(store, target->name, &there, NULL) < 0 &&
	    store_find_digest(store, digest, &there, NULL) < 0)
		return 0;
	if (is_whole(store, &there, platform)) {
		char *name = strdup(target->name);

		if (name) {
			free(there.name);
			there.name = name;
			there.source[0] = '\0';
			if (store_set_image(store, &there, NULL) == 0) {
				*ret = there;
				return 1;
			}
		}
	}
	store_image_deinit(&there);
	return 0;
}

/* -- from a file -- */

/* What tells one state of an archive from the next without reading it; "" for what is no
 * file, or was touched so lately that the clock would not show one more change. */
static void make_stamp(const char *path, char stamp[128])
{
	struct timespec now;
	struct stat st;

	stamp[0] = '\0';
	if (fstatat(AT_FDCWD, path, &st, 0) < 0 || !S_ISREG(st.st_mode) ||
	    clock_gettime(CLOCK_REALTIME, &now) < 0 ||
	    now.tv_sec - st.st_ctim.tv_sec < SETTLED_S)
		return;
	(void)snprintf(stamp, 128, "%llx:%llx:%llx:%lld.%09ld:%lld.%09ld",
		       (unsigned long long)st.st_dev, (unsigned long long)st.st_ino,
		       (unsigned long long)st.st_size, (long long)st.st_mtim.tv_sec,
		       st.st_mtim.tv_nsec, (long long)st.st_ctim.tv_sec,
		       st.st_ctim.tv_nsec);
}

static int import_file(struct store *store, const struct target *target,
		       const struct fetch_options *fetch, struct store_image *ret,
		       struct husk_error *err)
{
	struct import_options options = {.format = target->file,
					 .tag = target->tag,
					 .name = target->name,
					 .fetch = *fetch};
	struct store_image *images = NULL;
	size_t count = 0;
	int r = import_path(store, target->path, &options, &images, &count, err);

	if (r < 0)
		return r;
	*ret = images[0];
	images[0].name = NULL;
	store_images_free(images, count);
	return 0;
}

/* An archive that is as it was when it was taken is not opened again. */
static int pull_file(struct store *store, const struct target *target,
		     const struct fetch_options *fetch, struct store_image *ret,
		     struct husk_error *err)
{
	struct store_image there;
	char stamp[128];
	int r;

	make_stamp(target->path, stamp);
	if (stamp[0] != '\0' &&
	    store_find_image(store, target->name, &there, NULL) == 0) {
		if (strcmp(there.source, stamp) == 0 &&
		    is_whole(store, &there, &fetch->platform)) {
			*ret = there;
			return 0;
		}
		store_image_deinit(&there);
	}
	r = import_file(store, target, fetch, ret, err);
	if (r == 0 && strcmp(ret->source, stamp) != 0) {
		(void)snprintf(ret->source, sizeof(ret->source), "%s", stamp);
		(void)store_set_image(store, ret, NULL); /* else it is read once more */
	}
	return r;
}

int oci_pull_into(struct store *store, const struct target *target,
		  const struct husk_image_options *options, int cancel_fd,
		  struct store_image *ret, struct husk_error *err)
{
	struct fetch_options fetch;
	int r = oci_fetch_options(options, cancel_fd, &fetch, err);

	if (r < 0)
		return r;
	fetch.name = target->name;
	if (target->file != IMPORT_ANY)
		return pull_file(store, target, &fetch, ret, err);
	if (target->reference.digest.algorithm != DIGEST_NONE &&
	    name_again(store, target, &fetch.platform, ret))
		return 0;
	return pull_name(store, target, options, &fetch, ret, err);
}
