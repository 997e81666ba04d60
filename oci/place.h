/* SPDX-License-Identifier: Apache-2.0 */
/* Where images are kept, and where a reference points: which stores, which file. */
#ifndef OCI_PLACE_H
#define OCI_PLACE_H

#include <limits.h>
#include <stdbool.h>

#include "base/error.h"
#include "oci/import.h"
#include "oci/reference.h"
#include "oci/store.h"

#include <husk/image.h>

/* The machine's store: root's own, and read-only to all others. */
#define PLACE_MACHINE "/var/lib/husk"

/* The caller's own store: as the options say, else by the user. HUSK_E_INVALID. */
int place_own(const struct husk_image_options *options, char ret[PATH_MAX],
	      struct husk_error *err);

/* path made absolute by the working directory, without "." and doubled slashes. */
int place_absolute(const char *path, char ret[PATH_MAX], struct husk_error *err);

/* The stores to look into, the caller's own first; each is opened when it is its turn. A
 * store that is not there is none, and so is the machine's where it cannot be read. */
struct places {
	char own[PATH_MAX];
	const char *machine; /* NULL: none besides the own */
	struct store *stores[2];
	bool tried[2];
	struct store *damaged; /* where places_find met the name with a damaged file */
};
enum { PLACES = 2 };
int places_init(struct places *places, const struct husk_image_options *options,
		struct husk_error *err);
void places_close(struct places *places);
#define CLEANUP_PLACES __attribute__((cleanup(places_close)))
/* *ret: borrowed; NULL where there is none. */
int places_store(struct places *places, size_t which, struct store **ret,
		 struct husk_error *err);

/* What a reference is. */
struct target {
	enum import_format file; /* IMPORT_ANY: no file */
	char path[PATH_MAX];	 /* of a file: absolute */
	char *tag;		 /* of a file: heap or NULL */
	bool is_name;		 /* reference is filled in */
	struct reference reference;
	char digest[DIGEST_TEXT]; /* a digest or the beginning of one; "" */
	char *name; /* heap; what the store would call it; NULL: by digest */
};
int target_parse(const char *text, struct target *ret, struct husk_error *err);
void target_deinit(struct target *target);
#define CLEANUP_TARGET __attribute__((cleanup(target_deinit)))

/* Find what a reference stands for: by name, else by digest, in the first store that has
 * it for that platform (NULL: any). *ret_store: borrowed; where it lies. 1: found; 0: it
 * is not there, and then *ret_other, where that is not NULL, is the platform that the
 * name is there for, or "". HUSK_E_IMAGE for a beginning that fits several, and, with
 * places->damaged, for a name whose file is damaged. */
int places_find(struct places *places, const struct target *target,
		const struct platform *platform, struct store_image *ret,
		struct store **ret_store, char ret_other[84], struct husk_error *err);

/* The error where that found nothing: with what comes near, and the remedy. Returns
 * HUSK_E_IMAGE. */
int places_missing(struct places *places, const char *text, const struct target *target,
		   const char *other, struct husk_error *err);

#endif
