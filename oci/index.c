/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/manifest.h"

#include "base/printable.h"
#include "oci/bounds.h"
#include "oci/descriptor.h"
#include "oci/document_kind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int index_parse(const char *data, size_t size, const char *where, struct index *ret,
		struct husk_error *err)
{
	const struct document document = {where, err};
	CLEANUP_JSON json_t *top = NULL;
	json_t *manifests = NULL;
	enum media_kind kind;
	int rc = document_load(&document, data, size, &top);

	if (rc < 0)
		return rc;
	rc = document_kind_of(&document, top, NULL, &kind);
	if (rc < 0)
		return rc;
	if (kind != MEDIA_INDEX)
		return document_fail(&document, "", "is a manifest, not an index");
	rc = document_array(&document, "", top, "manifests", &manifests);
	if (rc < 0)
		return rc;
	if (!json_object_get(top, "manifests"))
		return document_fail(&document, "", "has no manifests");
	return descriptor_read_all(&document, "manifests", manifests, OCI_MAX_MANIFESTS,
				   &ret->manifests, &ret->count);
}

void index_deinit(struct index *index)
{
	free(index->manifests);
	*index = (struct index){0};
}

/* -- choosing -- */

/* May it be an image? Schema 1 may: it is refused by name when it comes. */
static bool is_candidate(const struct descriptor *entry)
{
	if (entry->attestation || strcmp(entry->platform.os, "unknown") == 0)
		return false;
	return entry->media.kind == MEDIA_MANIFEST || entry->media.kind == MEDIA_INDEX ||
	       entry->media.kind == MEDIA_SCHEMA1 || media_is_generic(entry->media_type);
}

static bool tells_platform(const struct descriptor *entry)
{
	return *entry->platform.os || *entry->platform.architecture;
}

/* 0: not at all. What tells no platform is the last resort. */
static int worth(const struct descriptor *entry, const struct platform *wanted)
{
	int match;

	if (!is_candidate(entry))
		return 0;
	if (!tells_platform(entry))
		return 1;
	match = platform_match(wanted, &entry->platform);
	return match > 0 ? match + 1 : 0;
}

static bool told_before(const struct index *index, size_t at)
{
	const struct platform *platform = &index->manifests[at].platform;

	for (size_t i = 0; i < at; i++) {
		if (is_candidate(&index->manifests[i]) &&
		    memcmp(&index->manifests[i].platform, platform, sizeof(*platform)) ==
			0)
			return true;
	}
	return false;
}

/* The platforms that there are, as many as fit into the message. */
static void list_platforms(const struct index *index, char *out, size_t capacity)
{
	enum { MORE = sizeof(", ...") };
	size_t used = 0;

	*out = '\0';
	for (size_t i = 0; i < index->count; i++) {
		char text[84], shown[128];

		if (!is_candidate(&index->manifests[i]) || told_before(index, i))
			continue;
		platform_text(&index->manifests[i].platform, text);
		(void)printable(shown, sizeof(shown), text);
		if (used + strlen(shown) + 2 + MORE > capacity) {
			(void)snprintf(out + used, capacity - used, ", ...");
			return;
		}
		used += (size_t)snprintf(out + used, capacity - used, "%s%s",
					 used ? ", " : "", shown);
	}
}

static int no_match(const struct index *index, const struct platform *wanted,
		    const char *where, struct husk_error *err)
{
	char want[84], have[300];
	int rc;

	platform_text(wanted, want);
	list_platforms(index, have, sizeof(have));
	if (*have == '\0')
		return error_set(err, HUSK_E_IMAGE, where,
				 "is an index that holds no image at all");
	rc = error_set(err, HUSK_E_IMAGE, where, "has no image for %s; it has %s", want,
		       have);
	error_hint(err, "name another platform (--platform) where this machine can run "
			"it, or another image");
	return rc;
}

int index_choose(const struct index *index, const struct platform *wanted,
		 const char *where, const struct descriptor **ret, struct husk_error *err)
{
	const struct descriptor *best = NULL;
	int best_worth = 0;

	for (size_t i = 0; i < index->count; i++) {
		int this_worth = worth(&index->manifests[i], wanted);

		if (this_worth > best_worth) {
			best = &index->manifests[i];
			best_worth = this_worth;
		}
	}
	if (!best)
		return no_match(index, wanted, where, err);
	*ret = best;
	return 0;
}
