/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/import_rootfs.h"

#include "oci/bounds.h"
#include "oci/import_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names of the platform's parts are of a small set of characters (oci/platform.h). */
static int write_config(struct planned_image *image, const struct import_found *found,
			const struct import_wanted *wanted)
{
	const struct platform *platform = &wanted->platform;
	char diff_id[DIGEST_TEXT];
	struct buffer *to = &image->config;
	int r;

	digest_text(&found->diff_id, diff_id);
	r = buffer_addf(to, "{\"architecture\":\"%s\",\"os\":\"%s\"",
			platform->architecture, platform->os);
	/* What this machine's processor can do is not what the programs in the tar need.
	 */
	if (r == 0 && platform->variant[0] != '\0' &&
	    strcmp(platform->architecture, "amd64") != 0)
		r = buffer_addf(to, ",\"variant\":\"%s\"", platform->variant);
	if (r == 0)
		r = buffer_add_text(to,
				    ",\"config\":{\"Env\":[\"PATH=/usr/local/sbin:"
				    "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\"]");
	if (r == 0 && found->survey.has_shell)
		r = buffer_add_text(to, ",\"Cmd\":[\"/bin/sh\"]");
	if (r == 0)
		r = buffer_addf(
		    to,
		    "},\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[\"%s\"]},"
		    "\"history\":[{\"created_by\":\"husk image import\"}]}",
		    diff_id);
	return r;
}

static int hash(struct import_found *found, const struct import_wanted *wanted,
		const struct member *whole, struct husk_error *err)
{
	int r;

	if (found->digest.algorithm != DIGEST_NONE)
		return 0; /* on the way, while it was looked through */
	r = import_hash_member(whole, wanted->path, wanted->cancel_fd, &found->digest,
			       err);
	found->diff_id = found->digest;
	return r;
}

int import_rootfs_plan(struct import_found *found, const struct import_wanted *wanted,
		       struct import_plan *ret, struct husk_error *err)
{
	struct member whole = {.fd = found->fd, .size = (uint64_t)found->st.st_size};
	CLEANUP_PLAN struct import_plan plan = {0};
	struct planned_image *image = import_plan_add(&plan);
	struct descriptor layer = {0};
	struct digest config;
	int r;

	if (!wanted->name) {
		(void)error_set(err, HUSK_E_INVALID, wanted->path,
				"is a root file system, which has no name of its own");
		error_hint(err, "give it one: husk image import PATH NAME[:TAG]");
		return HUSK_E_INVALID;
	}
	if (!image || !(image->items = calloc(2, sizeof(*image->items))))
		return error_oom(err, wanted->path);
	r = hash(found, wanted, &whole, err);
	if (r < 0)
		return r;
	if (write_config(image, found, wanted) < 0)
		return error_oom(err, wanted->path);
	r = digest_of(DIGEST_SHA256, image->config.data, image->config.size, &config,
		      err);
	if (r < 0)
		return r;
	image->items[0] = (struct source_item){.digest = found->digest, .member = whole};
	image->items[1] = (struct source_item){
	    .digest = config, .data = image->config.data, .size = image->config.size};
	image->item_count = 2;
	(void)snprintf(layer.media_type, sizeof(layer.media_type), "%s",
		       import_layer_type(found->compression));
	layer.digest = found->digest;
	layer.size = whole.size;
	r = import_manifest(image, &config, image->config.size, &layer, 1, wanted->path,
			    err);
	if (r < 0)
		return r;
	*ret = plan;
	plan = (struct import_plan){0};
	return 0;
}
