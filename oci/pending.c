/* SPDX-License-Identifier: Apache-2.0 */
/* Weak stand-ins for what is being written elsewhere; each goes when its part lands, and
 * the file with the last. */
#include "oci/blob.h"
#include "oci/bounds.h"
#include "oci/config.h"
#include "oci/digest.h"
#include "oci/fetch.h"
#include "oci/import.h"
#include "oci/manifest.h"
#include "oci/oci.h"
#include "oci/platform.h"
#include "oci/reference.h"
#include "oci/registry.h"
#include "oci/store.h"
#include "oci/unpack.h"
#pragma GCC diagnostic ignored "-Wunused-parameter"
__attribute__((weak)) uint64_t blob_have(const struct blob *blob)
{
	return 0;
}
__attribute__((weak)) int blob_write(struct blob *blob, const void *data, size_t size,
				     struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) int blob_restart(struct blob *blob, struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) int blob_finish(struct blob *blob, struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) void blob_fail(struct blob *blob, const struct husk_error *why)
{
}
__attribute__((weak)) ssize_t blob_read(struct blob *blob, uint64_t offset, void *data,
					size_t size, struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) int blob_wait(struct blob *blob, struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) void blob_abandon(struct blob *blob, const struct husk_error *why)
{
}
__attribute__((weak)) int fetch_image(struct store *store,
				      const struct fetch_source *source,
				      const struct descriptor *top,
				      const struct buffer *top_data,
				      const struct fetch_options *options,
				      struct store_image *ret, struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) int import_path(struct store *store, const char *path,
				      const struct import_options *options,
				      struct store_image **ret, size_t *ret_count,
				      struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) int export_path(struct store *store,
				      const struct store_image *image, const char *path,
				      int32_t format, int cancel_fd,
				      struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) void oci_image_deinit(struct oci_image *image)
{
}
__attribute__((weak)) int oci_image_get(const char *reference,
					const struct husk_image_options *options,
					int32_t pull, int cancel_fd,
					struct oci_image *ret, struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) int oci_pull(const char *reference,
				   const struct husk_image_options *options,
				   int cancel_fd, struct store_image *ret,
				   struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) int oci_find(const char *reference,
				   const struct husk_image_options *options,
				   struct store_image *ret, struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) int oci_import(const char *path, const char *reference,
				     const struct husk_image_options *options,
				     int cancel_fd, struct store_image **ret,
				     size_t *ret_count, struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) int oci_export(const char *reference, const char *path,
				     int32_t format,
				     const struct husk_image_options *options,
				     int cancel_fd, struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) int oci_list(const struct husk_image_options *options,
				   struct store_image **ret, size_t *ret_count,
				   struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) int oci_remove(const char *reference,
				     const struct husk_image_options *options,
				     uint64_t *ret_freed, struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) int oci_prune(const struct husk_image_options *options,
				    uint64_t *ret_count, uint64_t *ret_freed,
				    struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) int oci_inspect(const char *reference,
				      const struct husk_image_options *options,
				      char **ret_json, struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) int registry_new(const struct reference *reference,
				       const struct registry_options *options,
				       struct registry **ret, struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) struct registry *registry_free(struct registry *registry)
{
	return NULL;
}
__attribute__((weak)) int registry_manifest(struct registry *registry,
					    const struct digest *digest,
					    struct buffer *ret, struct digest *ret_digest,
					    char content_type[128],
					    struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) int registry_small_blob(struct registry *registry,
					      const struct descriptor *what,
					      struct buffer *ret, struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) int registry_blob(struct registry *registry,
					const struct descriptor *what, struct blob *blob,
					void (*progress)(void *user, uint64_t bytes),
					void *user, struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) int store_open(const char *path, enum store_mode mode,
				     struct store **ret, struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) struct store *store_close(struct store *store)
{
	return NULL;
}
__attribute__((weak)) const char *store_path(const struct store *store)
{
	return NULL;
}
__attribute__((weak)) bool store_has_blob(struct store *store,
					  const struct digest *digest, uint64_t *ret_size)
{
	return false;
}
__attribute__((weak)) int store_read_blob(struct store *store,
					  const struct digest *digest, struct buffer *ret,
					  struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) int store_open_blob(struct store *store,
					  const struct digest *digest, int *ret_fd,
					  struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) int store_add_blob(struct store *store, const struct digest *digest,
					 const void *data, size_t size,
					 struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) int store_blob_begin(struct store *store,
					   const struct digest *digest, uint64_t size,
					   int (*waiting)(void *user), void *user,
					   struct blob **ret, struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) int store_blob_commit(struct blob *blob, struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) struct blob *store_blob_free(struct blob *blob)
{
	return NULL;
}
__attribute__((weak)) bool store_has_layer(struct store *store,
					   const struct digest *diff_id)
{
	return false;
}
__attribute__((weak)) int store_layer_begin(struct store *store,
					    const struct digest *diff_id,
					    int (*waiting)(void *user), void *user,
					    struct store_making **ret, int *ret_dir,
					    struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) int store_making_commit(struct store_making *making,
					      struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) struct store_making *store_making_free(struct store_making *making)
{
	return NULL;
}
__attribute__((weak)) int store_open_layer(struct store *store,
					   const struct digest *diff_id, int *ret_fd,
					   struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) bool store_has_root(struct store *store, const struct digest *chain)
{
	return false;
}
__attribute__((weak)) int store_root_begin(struct store *store,
					   const struct digest *chain,
					   int (*waiting)(void *user), void *user,
					   struct store_making **ret, int *ret_dir,
					   struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) int store_root_lease(struct store *store,
					   const struct digest *chain, int *ret_tree,
					   int *ret_lease, struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) void store_image_deinit(struct store_image *image)
{
}
__attribute__((weak)) int store_find_image(struct store *store, const char *name,
					   struct store_image *ret,
					   struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) int store_find_digest(struct store *store, const char *prefix,
					    struct store_image *ret,
					    struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) int store_set_image(struct store *store,
					  const struct store_image *image,
					  struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) int store_list_images(struct store *store, struct store_image **ret,
					    size_t *ret_count, struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) int store_remove_image(struct store *store, const char *name,
					     uint64_t *ret_freed, struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) int store_prune(struct store *store, uint64_t *ret_count,
				      uint64_t *ret_freed, struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) int layer_unpack(int dir, const struct layer_input *input,
				       struct layer_summary *ret, struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) int layers_merge(const int *layers, size_t count, int root,
				       const char *where, struct husk_error *err)
{
	return -1;
}
__attribute__((weak)) int remove_tree(int dir, const char *name)
{
	return -1;
}
__attribute__((weak)) int oci_reference_check(const char *reference,
					      struct husk_error *err)
{
	return 0;
}
