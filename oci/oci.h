/* SPDX-License-Identifier: Apache-2.0 */
/* The images' one door for the session layer: get an image into a store, from a registry,
 * an archive or a layout; hold it; list, remove, export. */
#ifndef OCI_OCI_H
#define OCI_OCI_H

#include <stdbool.h>
#include <stdint.h>

#include <husk/image.h>

#include "base/buffer.h"
#include "base/error.h"
#include "oci/config.h"
#include "oci/store.h"

/* An image that is there, held until oci_image_deinit. */
struct oci_image {
	int root;	   /* the root directory, O_PATH or O_RDONLY; -1: no layers */
	int lease;	   /* keeps it from being removed */
	char *name;	   /* heap; normalised */
	char *store;	   /* heap; the path of the store it lies in */
	struct digest top; /* what the name stands for */
	struct digest manifest;
	struct digest
	    chain; /* key of the root; DIGEST_NONE for an image without layers */
	struct image_config config;
};

void oci_image_deinit(struct oci_image *image);

/* Get an image by any reference husk takes but host and dir: (a registry's name, oci:,
 * oci-archive:, docker-archive:), through the store, pulling by the policy (enum
 * husk_pull). The caller's own store comes first, then the machine's (read only).
 * cancel_fd: readable means stop; -1: none. */
int oci_image_get(const char *reference, const struct husk_image_options *options,
		  int32_t pull, int cancel_fd, struct oci_image *ret,
		  struct husk_error *err);

/* Could it be the name of such an image? Nothing is opened. HUSK_E_INVALID with what is
 * wrong. */
int oci_reference_check(const char *reference, struct husk_error *err);

/* What the public functions of husk/image.h do, but for their handles (session/images.c);
 * options are complete (session/images.c has filled up older structs). */
int oci_pull(const char *reference, const struct husk_image_options *options,
	     int cancel_fd, struct store_image *ret, struct husk_error *err);
int oci_find(const char *reference, const struct husk_image_options *options,
	     struct store_image *ret, struct husk_error *err);
int oci_import(const char *path, const char *reference,
	       const struct husk_image_options *options, int cancel_fd,
	       struct store_image **ret, size_t *ret_count, struct husk_error *err);
int oci_export(const char *reference, const char *path, int32_t format,
	       const struct husk_image_options *options, int cancel_fd,
	       struct husk_error *err);
/* Returns how many names are damaged, with err telling of the first: they are left out.
 */
int oci_list(const struct husk_image_options *options, struct store_image **ret,
	     size_t *ret_count, struct husk_error *err);
int oci_remove(const char *reference, const struct husk_image_options *options,
	       uint64_t *ret_freed, struct husk_error *err);
int oci_prune(const struct husk_image_options *options, uint64_t *ret_count,
	      uint64_t *ret_freed, struct husk_error *err);
int oci_sweep(const struct husk_image_options *options, uint64_t *ret_count,
	      struct husk_error *err);
int oci_inspect(const char *reference, const struct husk_image_options *options,
		char **ret_json, struct husk_error *err);

/* The numeric ids for an image's User (or the text a caller gave): "", "uid", "uid:gid",
 * "name", "name:group", looked up in root/etc/passwd and root/etc/group, which are opened
 * beneath root without following links out. A user without a group gets the one of its
 * row, or 0. *ret_home: heap; the row's home directory, "/" where there is no row.
 * HUSK_E_IMAGE names what is missing. */
int oci_image_user(int root, const char *user, uint32_t *ret_uid, uint32_t *ret_gid,
		   char **ret_home, struct husk_error *err);

#endif
