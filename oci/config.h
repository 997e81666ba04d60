/* SPDX-License-Identifier: Apache-2.0 */
/* The config of an image (OCI image-spec config.md; Docker's is the same where we look).
 */
#ifndef OCI_CONFIG_H
#define OCI_CONFIG_H

#include <stddef.h>

#include "base/error.h"
#include "oci/digest.h"
#include "oci/platform.h"

struct image_config {
	struct platform platform;
	struct digest *diff_ids; /* heap, bottom first: digests of the tar streams */
	size_t diff_id_count;
	char **env;	   /* heap, "NAME=VALUE", NULL-terminated; never NULL */
	char **entrypoint; /* heap, NULL-terminated, may be empty; never NULL */
	char **cmd;	   /* the same */
	char *user;	   /* heap; "" where none */
	char *workdir;	   /* heap; "" where none */
	char *created;	   /* heap; RFC 3339 or "" */
};

/* Parse and check. HUSK_E_IMAGE. */
int image_config_parse(const char *data, size_t size, const char *where,
		       struct image_config *ret, struct husk_error *err);
void image_config_deinit(struct image_config *config);

/* The chain id of the first count diff ids (image-spec, config.md, "Layer ChainID"). */
int image_config_chain(const struct image_config *config, size_t count,
		       struct digest *ret, struct husk_error *err);

#endif
