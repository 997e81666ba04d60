/* SPDX-License-Identifier: Apache-2.0 */
/* What an import is going to put into the store, decided before anything is put there:
 * which images of the source, under which names. */
#ifndef OCI_IMPORT_PLAN_H
#define OCI_IMPORT_PLAN_H

#include <stddef.h>

#include "base/buffer.h"
#include "base/error.h"
#include "oci/config.h"
#include "oci/import_source.h"
#include "oci/manifest.h"
#include "oci/reference.h"

struct import_wanted {
	const char *path; /* for messages */
	const char *tag;  /* NULL: not told */
	const char *name; /* normalised; NULL: those of the source */
	struct platform platform;
	int cancel_fd;
};

struct planned_image {
	char name[REFERENCE_TEXT]; /* "": the source has none */
	char tag[256];		   /* what the source calls it; "" */
	struct descriptor top;
	struct buffer top_data;
	struct buffer config;	   /* of our making or finding; else empty */
	struct source_item *items; /* heap; what is not found by a layout's paths */
	size_t item_count;
};

struct import_plan {
	struct planned_image *images; /* heap */
	size_t count;
	size_t capacity;
};
void import_plan_deinit(struct import_plan *plan);
#define CLEANUP_PLAN __attribute__((cleanup(import_plan_deinit)))
/* One more, zeroed, its buffers bounded; NULL: out of memory. */
struct planned_image *import_plan_add(struct import_plan *plan);

/* -- which images ---------------------------------------------------------------------
 */

/* A name that a source has for one of its images, or an image without one. */
struct import_candidate {
	size_t image;		   /* which of the source's */
	char name[REFERENCE_TEXT]; /* normalised, or "" */
	char tag[256];		   /* as the source has it, or "" */
};

/* Put the candidates that are wanted first; *ret_count: how many they are. They may still
 * be several of one name or, where tag or name was told, several images: *ret_images says
 * of how many. HUSK_E_IMAGE lists what there is. */
int import_choose(struct import_candidate *candidates, size_t count,
		  const struct import_wanted *wanted, size_t *ret_count,
		  size_t *ret_images, struct husk_error *err);

/* The error for a choice that is not one. */
int import_ambiguous(const struct import_candidate *candidates, size_t count,
		     const struct import_wanted *wanted, struct husk_error *err);

/* A source's text as a normalised name; "" where it is none, or stands for one digest. */
void import_name(const char *text, char ret[REFERENCE_TEXT]);

/* -- documents of our making ----------------------------------------------------------
 */

/* Fill in top and top_data with an OCI manifest over that config and those layers. */
int import_manifest(struct planned_image *image, const struct digest *config,
		    uint64_t config_size, const struct descriptor *layers, size_t count,
		    const char *path, struct husk_error *err);

/* The media type of a layer of that compression. */
const char *import_layer_type(enum compression compression);

#endif
