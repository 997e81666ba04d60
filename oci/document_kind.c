/* SPDX-License-Identifier: Apache-2.0 */
/* One document, one meaning: two readers that take the same bytes for different things
 * pull different images under one digest. So what a document says of itself, its shape
 * and the type that came with it have to agree, as far as they are there. */
#include "oci/document_kind.h"

#include "base/printable.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *const names[] = {
    "schemaVersion", "mediaType",   "artifactType", "config",	  "layers",  "manifests",
    "subject",	     "annotations", "fsLayers",	    "signatures", "history", NULL};

static int refuse_schema1(const struct document *document)
{
	int rc = document_fail(document, "",
			       "is a manifest of schema 1, Docker's first format, which "
			       "husk does not take");

	error_hint(document->err, "push the image again with a tool of this decade: its "
				  "manifest will be of schema 2 or OCI's");
	return rc;
}

/* Schema 2 is the only one that there is besides the first; a document may leave the
 * number out. */
static int check_schema(const struct document *document, const json_t *top)
{
	json_t *version = document_get(top, "schemaVersion");

	if (document_get(top, "fsLayers") || document_get(top, "signatures") ||
	    (json_is_integer(version) && json_integer_value(version) == 1))
		return refuse_schema1(document);
	if (version && (!json_is_integer(version) || json_integer_value(version) != 2))
		return document_fail(document, "", "has a schemaVersion that is not 2");
	return 0;
}

/* What type stands for; MEDIA_OTHER where it says nothing. */
static int kind_of_type(const struct document *document, const char *type,
			const char *from, enum media_kind *ret)
{
	const struct media media = media_of(type);
	char shown[96];

	*ret = MEDIA_OTHER;
	if (media_is_generic(type))
		return 0;
	if (media.kind == MEDIA_SCHEMA1)
		return refuse_schema1(document);
	if (media.kind != MEDIA_MANIFEST && media.kind != MEDIA_INDEX)
		return document_fail(document, "",
				     "is not an image: %s has the type \"%s\"", from,
				     printable(shown, sizeof(shown), type));
	*ret = media.kind;
	return 0;
}

static int kind_of_shape(const struct document *document, const json_t *top,
			 enum media_kind *ret)
{
	const bool index = document_get(top, "manifests") != NULL;
	const bool manifest = document_get(top, "layers") || document_get(top, "config");

	if (index && manifest)
		return document_fail(document, "",
				     "is ambiguous: it has the parts of an index and "
				     "those of a manifest");
	*ret = index ? MEDIA_INDEX : manifest ? MEDIA_MANIFEST : MEDIA_OTHER;
	return 0;
}

static int contradiction(const struct document *document, const char *own,
			 const char *type)
{
	char one[96], other[96];

	return document_fail(
	    document, "",
	    "contradicts itself: its mediaType is \"%s\", and it came as "
	    "\"%s\"",
	    printable(one, sizeof(one), own), printable(other, sizeof(other), type));
}

static bool same_type(const char *a, const char *b)
{
	return media_name(a) == media_name(b) && strncasecmp(a, b, media_name(a)) == 0;
}

/* The kinds that were told and the one that it looks like. */
static int agree(const struct document *document, enum media_kind told,
		 enum media_kind shape, enum media_kind *ret)
{
	if (told == MEDIA_OTHER && shape == MEDIA_OTHER)
		return document_fail(document, "",
				     "is neither an index nor a manifest of an image");
	if (told != MEDIA_OTHER && shape != MEDIA_OTHER && told != shape)
		return document_fail(document, "",
				     "contradicts itself: it says that it is %s, and has "
				     "the parts of %s",
				     told == MEDIA_INDEX ? "an index" : "a manifest",
				     shape == MEDIA_INDEX ? "an index" : "a manifest");
	*ret = told != MEDIA_OTHER ? told : shape;
	return 0;
}

int document_kind_of(const struct document *document, const json_t *top, const char *type,
		     enum media_kind *ret)
{
	enum media_kind own_kind, type_kind, shape = MEDIA_OTHER;
	const char *own = NULL;
	int rc = document_check_case(document, "", top, names);

	type = type ? type : "";
	if (rc < 0)
		return rc;
	rc = check_schema(document, top);
	if (rc < 0)
		return rc;
	rc = document_string(document, "", top, "mediaType", &own);
	if (rc < 0)
		return rc;
	own = own ? own : "";
	rc = kind_of_type(document, own, "its mediaType", &own_kind);
	if (rc < 0)
		return rc;
	rc = kind_of_type(document, type, "what it came as", &type_kind);
	if (rc < 0)
		return rc;
	if (own_kind != MEDIA_OTHER && type_kind != MEDIA_OTHER && !same_type(own, type))
		return contradiction(document, own, type);
	rc = kind_of_shape(document, top, &shape);
	if (rc < 0)
		return rc;
	return agree(document, own_kind != MEDIA_OTHER ? own_kind : type_kind, shape,
		     ret);
}

int document_kind(const char *data, size_t size, const char *type, const char *where,
		  enum media_kind *ret, struct husk_error *err)
{
	const struct document document = {where, err};
	CLEANUP_JSON json_t *top = NULL;
	int rc = document_load(&document, data, size, &top);

	return rc < 0 ? rc : document_kind_of(&document, top, type, ret);
}
