/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/descriptor.h"

#include "base/memory.h"
#include "base/printable.h"
#include "oci/bounds.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {"mediaType", "digest",	"size", "urls",
				    "platform",	 "annotations", NULL};

static int read_digest(const struct document *document, const char *at,
		       const json_t *object, struct digest *ret)
{
	const char *text = NULL;
	char shown[96];
	int rc = document_string(document, at, object, "digest", &text);

	if (rc < 0)
		return rc;
	if (!text)
		return document_fail(document, at, "has no digest");
	rc = digest_parse(text, ret);
	if (rc == 0)
		return 0;
	(void)printable(shown, sizeof(shown), text);
	if (rc == -ENOTSUP)
		return document_fail(
		    document, at, "has the digest \"%s\"; husk knows sha256 and sha512",
		    shown);
	return document_fail(document, at, "has the malformed digest \"%s\"", shown);
}

/* Layers may be large; whatever is read whole may not. */
static uint64_t most(const struct media *media)
{
	return media->kind == MEDIA_LAYER || media->kind == MEDIA_OTHER
		   ? OCI_MAX_BLOB
		   : OCI_MAX_DOCUMENT;
}

static int read_size(const struct document *document, const char *at,
		     const json_t *object, const struct media *media, uint64_t *ret)
{
	const uint64_t bound = most(media);
	json_t *value = document_get(object, "size");
	json_int_t size = json_integer_value(value);

	if (!value)
		return document_fail(document, at, "has no size");
	if (!json_is_integer(value) || size < 0)
		return document_fail(document, at,
				     "has a size that is no whole number of bytes");
	if ((uint64_t)size > bound)
		return document_fail(document, at,
				     "has a size of %lld bytes, and at most %llu are "
				     "taken",
				     (long long)size, (unsigned long long)bound);
	*ret = (uint64_t)size;
	return 0;
}

static int read_platform(const struct document *document, const char *at,
			 const json_t *object, struct platform *ret)
{
	json_t *platform = NULL;
	int rc = document_object(document, at, object, "platform", &platform);

	if (rc < 0 || !platform)
		return rc;
	rc = document_text(document, at, platform, "os", ret->os, sizeof(ret->os));
	if (rc < 0)
		return rc;
	rc = document_text(document, at, platform, "architecture", ret->architecture,
			   sizeof(ret->architecture));
	if (rc < 0)
		return rc;
	rc = document_text(document, at, platform, "variant", ret->variant,
			   sizeof(ret->variant));
	platform_normalise(ret);
	return rc;
}

static int read_annotations(const struct document *document, const char *at,
			    const json_t *object, struct descriptor *ret)
{
	json_t *notes = NULL;
	int rc = document_object(document, at, object, "annotations", &notes);

	if (rc < 0 || !notes)
		return rc;
	rc = document_text(document, at, notes, "org.opencontainers.image.ref.name",
			   ret->ref_name, sizeof(ret->ref_name));
	if (rc < 0)
		return rc;
	ret->attestation = document_get(notes, "vnd.docker.reference.type") != NULL;
	return document_text(document, at, notes, "io.containerd.image.name",
			     ret->image_name, sizeof(ret->image_name));
}

int descriptor_read(const struct document *document, const char *at, const json_t *value,
		    struct descriptor *ret)
{
	json_t *urls = NULL;
	int rc;

	*ret = (struct descriptor){0};
	if (!json_is_object(value))
		return document_fail(document, at, "is not an object");
	rc = document_check_case(document, at, value, names);
	if (rc < 0)
		return rc;
	rc = document_text(document, at, value, "mediaType", ret->media_type,
			   sizeof(ret->media_type));
	if (rc < 0)
		return rc;
	ret->media = media_of(ret->media_type);
	rc = read_digest(document, at, value, &ret->digest);
	if (rc < 0)
		return rc;
	rc = read_size(document, at, value, &ret->media, &ret->size);
	if (rc < 0)
		return rc;
	rc = document_array(document, at, value, "urls", &urls);
	if (rc < 0)
		return rc;
	ret->has_urls = json_array_size(urls) > 0;
	rc = read_platform(document, at, value, &ret->platform);
	return rc < 0 ? rc : read_annotations(document, at, value, ret);
}

int descriptor_read_all(const struct document *document, const char *key,
			const json_t *array, size_t max, struct descriptor **ret,
			size_t *ret_count)
{
	const size_t count = json_array_size(array);
	CLEANUP_FREE struct descriptor *all = NULL;
	char at[64];

	if (count > max)
		return document_fail(document, key,
				     "has %zu entries, and at most %zu are taken", count,
				     max);
	if (count > 0) {
		all = calloc(count, sizeof(*all));
		if (!all)
			return error_oom(document->err, document->where);
	}
	for (size_t i = 0; i < count; i++) {
		int rc;

		(void)snprintf(at, sizeof(at), "%s[%zu]", key, i);
		rc = descriptor_read(document, at, json_array_get(array, i), &all[i]);
		if (rc < 0)
			return rc;
	}
	*ret = TAKE_PTR(all);
	*ret_count = count;
	return 0;
}
