/* SPDX-License-Identifier: Apache-2.0 */
/* One layer: bytes as they come, decompressed, read as tar, made into a directory. And
 * layers made into one root. Everything is placed beneath directories that are given as
 * descriptors; nothing outside is ever created, changed, read or removed. */
#ifndef OCI_UNPACK_H
#define OCI_UNPACK_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "oci/digest.h"
#include "oci/manifest.h"

/* Where a layer's bytes come from. Returns the count, 0 at the end, negative with err
 * filled in. */
struct layer_input {
	ssize_t (*read)(void *user, void *data, size_t size, struct husk_error *err);
	void *user;
	enum compression compression; /* what the media type says; a body that is
				       * something else is refused */
	const char *where;	      /* names the layer in messages */
	/* Called now and then with the tar bytes done; may be NULL. Not 0: stop with
	 * HUSK_E_CANCELLED. */
	int (*on_progress)(void *user, uint64_t bytes);
};

struct layer_summary {
	struct digest diff_id; /* sha256 of the whole tar stream as it was received */
	uint64_t entries;
	uint64_t bytes; /* content of regular files */
};

/* Unpack one layer into the empty directory dir: dir/tree holds what the layer has, and
 * dir/notes what a tree cannot say (whiteouts, opaque directories, links to lower layers,
 * directories that were made as mere parents), in a format of our own.
 * HUSK_E_IMAGE, HUSK_E_TOO_BIG, HUSK_E_SYSTEM, HUSK_E_MEMORY, HUSK_E_CANCELLED. What is
 * in dir after a failure is to be removed by the caller (tree_remove copes with all of
 * it). */
int layer_unpack(int dir, const struct layer_input *input, struct layer_summary *ret,
		 struct husk_error *err);

/* Lay count layers (directories as layer_unpack leaves them, bottom first) over one
 * another into the empty directory root. Files are hard links to those of the layers
 * (copies where a file system refuses), directories are made anew with the metadata of
 * the uppermost. The layers are not changed. where names the image in messages. */
int layers_merge(const int *layers, size_t count, int root, const char *where,
		 struct husk_error *err);

/* Remove name below dir with everything in it, whatever modes it has. 0 or -errno. */
int tree_remove(int dir, const char *name);

#endif
