/* SPDX-License-Identifier: Apache-2.0 */
/* The root file system of a session's boxes, and what the image says about its program.
 */
#ifndef SESSION_IMAGE_ROOT_H
#define SESSION_IMAGE_ROOT_H

#include <stdbool.h>

#include <husk/options.h>

#include "base/error.h"
#include "oci/oci.h"
#include "runtime/box.h"
#include "session/settings.h"

/* Held while the session lives, so that nobody removes what its boxes stand on. */
struct image_root {
	bool held; /* an image of a store; else the host or a directory */
	struct oci_image image;
	const char **command; /* heap: Entrypoint and Cmd, pointing into image; NULL where
			       * there is nothing to run */
	char *home;	      /* heap: of the user in the box; NULL: not known */
	char *workdir;	      /* heap: of the image's own command; NULL: none */
};

#define IMAGE_ROOT_INIT                             \
	(struct image_root)                         \
	{                                           \
		.image = {.root = -1, .lease = -1 } \
	}

/* Set spec's root, image, uid and gid by the options. fetch: get the image of a store
 * where it is one; without, the reference is only looked at, and nothing is known of what
 * the image says. HUSK_E_INVALID, HUSK_E_IMAGE and what oci_image_get returns. */
int image_root_set(const struct husk_options *options, bool fetch, struct image_root *ret,
		   struct box_spec *spec, struct husk_error *err);

/* Add what the image says about variables to those of the session. */
int image_root_variables(const struct image_root *root,
			 const struct husk_options *options, struct settings *settings,
			 struct husk_error *err);

void image_root_deinit(struct image_root *root);

#endif
