/* SPDX-License-Identifier: Apache-2.0 */
/* Names as archives have them, made clean: without slashes in front, doubled or at the
 * end, without "."; a ".." is refused, wherever it would lead. */
#ifndef OCI_LAYER_NAME_H
#define OCI_LAYER_NAME_H

#include <stddef.h>

#include "base/error.h"
#include "oci/bounds.h"

struct layer_name {
	size_t parent_size; /* of text's part before the last slash */
	char *name;	    /* the last component, inside text; "" for the root */
	char text[OCI_MAX_PATH + 1];
};

enum layer_name_kind {
	NAME_PLAIN,
	NAME_ROOT,
	NAME_WHITEOUT, /* name is what is whited out */
	NAME_OPAQUE,   /* text up to parent_size is the directory */
	NAME_SKIPPED,  /* metadata of aufs */
};

/* what: "entry" or "link target", for messages. HUSK_E_IMAGE, HUSK_E_TOO_BIG. */
int layer_name_clean(struct layer_name *name, const char *path, const char *what,
		     const char *where, struct husk_error *err);
/* What a cleaned name means; moves name->name behind the prefix of a whiteout. The kind,
 * or HUSK_E_IMAGE for a whiteout of nothing. */
int layer_name_kind(struct layer_name *name, const char *where, struct husk_error *err);

#endif
