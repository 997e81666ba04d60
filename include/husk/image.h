/* SPDX-License-Identifier: Apache-2.0 */
/**
 * husk/image.h: images: pull, import, export, list, remove.
 *
 * Usage:
 *	HUSK_IMAGE_OPTIONS(images);
 *	husk_image *image = NULL;
 *	if (husk_image_pull("python:3.12-slim", &images, &image, &err) < 0)
 *		return fail(&err);
 *	puts(husk_image_digest(image));
 *	husk_image_free(image);
 *
 * Images live in a store: a directory that processes share. A session that names an image
 * (struct husk_options) gets it from there, and pulls it first where the policy says so.
 * References: a registry's name with Docker's rules ("python:3.12-slim",
 * "localhost:5000/a/b:t@sha256:..."), "oci:PATH[:TAG]", "oci-archive:PATH[:TAG]",
 * "docker-archive:PATH[:TAG]".
 */
#ifndef HUSK_IMAGE_H
#define HUSK_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include <husk/error.h>
#include <husk/export.h>
#include <husk/options.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a progress event is about. */
enum husk_progress_kind {
	HUSK_PROGRESS_RESOLVED = 1, /**< the manifest is known; total: how many layers */
	HUSK_PROGRESS_LAYER_FOUND = 2, /**< the store has this layer */
	HUSK_PROGRESS_LAYER = 3,      /**< bytes of this layer have come: done of total */
	HUSK_PROGRESS_LAYER_DONE = 4, /**< this layer is received, checked and unpacked */
	HUSK_PROGRESS_WAITING = 5,    /**< another process is at this layer */
	HUSK_PROGRESS_ASSEMBLING = 6, /**< the layers are put together */
	HUSK_PROGRESS_DONE = 7	      /**< the image is in the store */
};

/** One event. Valid during the callback only. */
struct husk_progress {
	size_t size;	    /**< sizeof(struct husk_progress) of the library */
	int32_t kind;	    /**< enum husk_progress_kind */
	int32_t layer;	    /**< which layer, from 0; -1 where none is meant */
	const char *image;  /**< the normalised name */
	const char *digest; /**< of the layer or of the manifest; never NULL */
	uint64_t done;	    /**< bytes */
	uint64_t total;	    /**< bytes, or layers */
};

/**
 * Called on threads of the library, one at a time. Return 0 to go on; any other value
 * cancels.
 */
typedef int (*husk_progress_fn)(void *user, const struct husk_progress *event);

/** Where images are kept and come from. Zero is the default of every member. */
struct husk_image_options {
	size_t size; /**< sizeof(struct husk_image_options); HUSK_IMAGE_OPTIONS sets it */
	const char *store; /**< absolute path of the store; NULL: .local/share/husk in the
			    * home that /etc/passwd names, for root /var/lib/husk. Where
			    * an image is not in it, /var/lib/husk is looked at too */
	const char *platform;	       /**< "os/arch[/variant]"; NULL: this machine's */
	const char *const *auth_files; /**< registry credentials, Docker's config.json
					* format; NULL-terminated; the first that knows a
					* registry decides; missing ones are skipped */
	const char *helper_path; /**< a PATH in which docker-credential-* programs may be
				  * found; NULL: none are run */
	const char *tls_ca;	 /**< PEM file of a CA to trust besides the system's */
	const char *const *mirrors; /**< registries to ask first, NULL-terminated */
	const char *http_proxy;	    /**< proxies, as curl takes them; NULL: none */
	const char *https_proxy;
	const char *no_proxy;
	husk_progress_fn on_progress; /**< NULL: none */
	void *user;		      /**< handed to on_progress */
	husk_cancel *cancel;	  /**< NULL: cannot be cancelled; stays the caller's */
	int32_t allow_plain_http; /**< 1: http also to registries that are not loopback:
				   * what comes can be read and changed on the way, and
				   * credentials are seen */
	int32_t reserved;	  /**< 0 */
};

/** Declare a struct husk_image_options called name: zeroed, size set. */
#define HUSK_IMAGE_OPTIONS(name)              \
	struct husk_image_options name = {0}; \
	name.size = sizeof(name)

/** An image of a store; opaque. */
typedef struct husk_image husk_image;

/** A list of images; opaque. */
typedef struct husk_images husk_images;

/**
 * Pull an image into the store: its manifest, config and layers, each checked against its
 * digest, unpacked. What the store has is not fetched again; a pull that was cut goes on
 * where it stopped. A reference to a layout or archive is imported. options NULL stands
 * for all defaults; ret_image may be NULL.
 *
 * Ownership: *ret_image is the caller's, to be released with husk_image_free. Errors:
 * HUSK_E_INVALID, HUSK_E_IMAGE (no such image, a damaged or unusable one),
 * HUSK_E_REGISTRY, HUSK_E_TOO_BIG, HUSK_E_CANCELLED, HUSK_E_SYSTEM, HUSK_E_MEMORY.
 * Threads: any. Since: 0.1.0.
 */
HUSK_API int husk_image_pull(const char *reference,
			     const struct husk_image_options *options,
			     husk_image **ret_image, struct husk_error *err) HUSK_CHECKED;

/**
 * Find an image in the store, by name, or by digest or the beginning of one (6 or more
 * hexadecimal digits). No network is used.
 *
 * Ownership, errors and threads: as husk_image_pull. Since: 0.1.0.
 */
HUSK_API int husk_image_find(const char *reference,
			     const struct husk_image_options *options,
			     husk_image **ret_image, struct husk_error *err) HUSK_CHECKED;

/**
 * Import an image from a file or directory: a tar of a root file system (plain, gzip,
 * zstd), an OCI layout directory or archive, or an archive of `docker save`; which one is
 * found out from the content. reference names it in the store; NULL: the names that the
 * source has (a bare file system has none and must be given one).
 *
 * Ownership: *ret_images (may be NULL) is the caller's, to be released with
 * husk_images_free. Errors and threads: as husk_image_pull. Since: 0.1.0.
 */
HUSK_API int husk_image_import(const char *path, const char *reference,
			       const struct husk_image_options *options,
			       husk_images **ret_images,
			       struct husk_error *err) HUSK_CHECKED;

/** What husk_image_export writes. */
enum husk_image_format {
	HUSK_IMAGE_OCI = 0,   /**< OCI layout as a tar archive */
	HUSK_IMAGE_DOCKER = 1 /**< what `docker save` writes and `docker load` reads */
};

/**
 * Write an image of the store to a file, atomically; "-" is not special. The layers are
 * those that were received, byte for byte, so their digests stay.
 *
 * Ownership: everything stays the caller's. Errors and threads: as husk_image_pull.
 * Since: 0.1.0.
 */
HUSK_API int husk_image_export(const char *reference, const char *path, int32_t format,
			       const struct husk_image_options *options,
			       struct husk_error *err) HUSK_CHECKED;

/**
 * All images of the store, sorted by name.
 *
 * Ownership: *ret_images is the caller's, to be released with husk_images_free. Errors:
 * HUSK_E_INVALID, HUSK_E_IMAGE (a damaged store), HUSK_E_SYSTEM, HUSK_E_MEMORY. A store
 * that is not there is empty; names that are damaged are left out
 * (husk_images_damaged). Threads: any. Since: 0.1.0.
 */
HUSK_API int husk_image_list(const struct husk_image_options *options,
			     husk_images **ret_images,
			     struct husk_error *err) HUSK_CHECKED;

/**
 * How many names the store has that cannot be read, and so are not in the list of
 * husk_image_list; ret_first (may be NULL) says of the first what is wrong and the
 * remedy, and is not touched where there is none.
 *
 * Ownership: the list's. Errors: it does not fail; ret_first gets HUSK_E_IMAGE. 0 for
 * NULL and for lists of husk_image_import. Threads: any. Since: 0.1.0.
 */
HUSK_API size_t husk_images_damaged(const husk_images *images,
				    struct husk_error *ret_first);

/**
 * A list's length, and its images; index from 0; past the end: NULL.
 *
 * Ownership: the list's. Errors: none. Threads: any. Since: 0.1.0.
 */
HUSK_API size_t husk_images_count(const husk_images *images);
HUSK_API const husk_image *husk_images_get(const husk_images *images, size_t index);

/**
 * Release a list. Accepts NULL and returns NULL.
 *
 * Ownership: takes the list. Errors: none. Threads: no other thread may be using it.
 * Since: 0.1.0.
 */
HUSK_API husk_images *husk_images_free(husk_images *images);

/**
 * Remove a name, and whatever no other name needs. *ret_freed (may be NULL): bytes. Of a
 * name that is damaged only the name goes.
 *
 * Ownership: values. Errors: HUSK_E_IMAGE (no such image), HUSK_E_IN_USE (a box has it),
 * HUSK_E_INVALID, HUSK_E_SYSTEM, HUSK_E_MEMORY. Threads: any. Since: 0.1.0.
 */
HUSK_API int husk_image_remove(const char *reference,
			       const struct husk_image_options *options,
			       uint64_t *ret_freed, struct husk_error *err) HUSK_CHECKED;

/**
 * Remove what no name needs, among it pulls that were cut. What a box has stays.
 * *ret_count and *ret_freed (may be NULL): things and bytes.
 *
 * Ownership: values. Errors: HUSK_E_INVALID, HUSK_E_SYSTEM, HUSK_E_MEMORY. Threads: any.
 * Since: 0.1.0.
 */
HUSK_API int husk_image_prune(const struct husk_image_options *options,
			      uint64_t *ret_count, uint64_t *ret_freed,
			      struct husk_error *err) HUSK_CHECKED;

/**
 * Remove what pulls and imports that were killed have left unfinished in the store, as
 * the next one would do. Images, layers and what a cut download can be continued from
 * stay: husk_image_prune takes those that no image needs. *ret_count (may be NULL): how
 * many things. A store that is not there, or that is somebody else's, is left alone.
 *
 * Ownership: values. Errors: HUSK_E_INVALID, HUSK_E_IN_USE, HUSK_E_SYSTEM,
 * HUSK_E_MEMORY. Threads: any. Since: 0.1.0.
 */
HUSK_API int husk_image_sweep(const struct husk_image_options *options,
			      uint64_t *ret_count, struct husk_error *err) HUSK_CHECKED;

/**
 * What an image is: its normalised name; the digest that the name stands for
 * ("sha256:..."; of an index where it is one) and that of this platform's manifest;
 * "os/arch[/variant]"; bytes of its compressed layers; when it was added, seconds since
 * the epoch.
 *
 * Ownership: the image's. Errors: none; NULL or 0 for a NULL image. Threads: any.
 * Since: 0.1.0.
 */
HUSK_API const char *husk_image_name(const husk_image *image);
HUSK_API const char *husk_image_digest(const husk_image *image);
HUSK_API const char *husk_image_manifest_digest(const husk_image *image);
HUSK_API const char *husk_image_platform(const husk_image *image);
HUSK_API uint64_t husk_image_bytes(const husk_image *image);
HUSK_API int64_t husk_image_added(const husk_image *image);

/**
 * Everything about an image of the store as one JSON object: name, digest, manifest,
 * platform, bytes, added, layers, and config as the image has it.
 *
 * Ownership: *ret_json is the caller's; release it with free(3).
 * Errors and threads: as husk_image_find. Since: 0.1.0.
 */
HUSK_API int husk_image_inspect(const char *reference,
				const struct husk_image_options *options, char **ret_json,
				struct husk_error *err) HUSK_CHECKED;

/**
 * Release an image. Accepts NULL and returns NULL.
 *
 * Ownership: takes the image (not one of a list). Errors: none. Threads: no other thread
 * may be using it. Since: 0.1.0.
 */
HUSK_API husk_image *husk_image_free(husk_image *image);

#ifdef __cplusplus
}
#endif

#endif
