/* SPDX-License-Identifier: Apache-2.0 */
/* Media types: what is behind a descriptor, and what is asked for. */
#include "oci/manifest.h"

#include <string.h>
#include <strings.h>

#define OCI_TYPE    "application/vnd.oci.image."
#define DOCKER_TYPE "application/vnd.docker."
#define DIFF	    "application/vnd.docker.image.rootfs."
#define PACKED	    "application/vnd.oci.image.layer.v1.tar"
#define FOREIGN	    "application/vnd.oci.image.layer.nondistributable.v1.tar"

static const struct {
	const char *type;
	struct media media; /* kind, compression, foreign, docker */
} types[] = {
    {OCI_TYPE "manifest.v1+json", {MEDIA_MANIFEST, COMPRESSION_NONE, false, false}},
    {OCI_TYPE "index.v1+json", {MEDIA_INDEX, COMPRESSION_NONE, false, false}},
    {OCI_TYPE "config.v1+json", {MEDIA_CONFIG, COMPRESSION_NONE, false, false}},
    {PACKED, {MEDIA_LAYER, COMPRESSION_NONE, false, false}},
    {PACKED "+gzip", {MEDIA_LAYER, COMPRESSION_GZIP, false, false}},
    {PACKED "+zstd", {MEDIA_LAYER, COMPRESSION_ZSTD, false, false}},
    {FOREIGN, {MEDIA_LAYER, COMPRESSION_NONE, true, false}},
    {FOREIGN "+gzip", {MEDIA_LAYER, COMPRESSION_GZIP, true, false}},
    {FOREIGN "+zstd", {MEDIA_LAYER, COMPRESSION_ZSTD, true, false}},
    {DOCKER_TYPE "distribution.manifest.v2+json",
     {MEDIA_MANIFEST, COMPRESSION_NONE, false, true}},
    {DOCKER_TYPE "distribution.manifest.list.v2+json",
     {MEDIA_INDEX, COMPRESSION_NONE, false, true}},
    {DOCKER_TYPE "container.image.v1+json",
     {MEDIA_CONFIG, COMPRESSION_NONE, false, true}},
    {DIFF "diff.tar", {MEDIA_LAYER, COMPRESSION_NONE, false, true}},
    {DIFF "diff.tar.gzip", {MEDIA_LAYER, COMPRESSION_GZIP, false, true}},
    {DIFF "diff.tar.zstd", {MEDIA_LAYER, COMPRESSION_ZSTD, false, true}},
    {DIFF "foreign.diff.tar", {MEDIA_LAYER, COMPRESSION_NONE, true, true}},
    {DIFF "foreign.diff.tar.gzip", {MEDIA_LAYER, COMPRESSION_GZIP, true, true}},
    {DOCKER_TYPE "distribution.manifest.v1+json",
     {MEDIA_SCHEMA1, COMPRESSION_NONE, false, true}},
    {DOCKER_TYPE "distribution.manifest.v1+prettyjws",
     {MEDIA_SCHEMA1, COMPRESSION_NONE, false, true}},
};

size_t media_name(const char *type)
{
	size_t size = strcspn(type, ";");

	while (size > 0 && strchr(" \t", type[size - 1]))
		size--;
	return size;
}

struct media media_of(const char *type)
{
	size_t size = media_name(type);

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strlen(types[i].type) == size &&
		    strncasecmp(types[i].type, type, size) == 0)
			return types[i].media;
	}
	return (struct media){.kind = MEDIA_OTHER, .compression = COMPRESSION_SNIFF};
}

/* What servers say of documents whose type they do not know. */
bool media_is_generic(const char *type)
{
	static const char *const generic[] = {
	    "",
	    "application/json",
	    "application/octet-stream",
	    "binary/octet-stream",
	    "text/plain",
	};
	size_t size = media_name(type);

	for (size_t i = 0; i < sizeof(generic) / sizeof(generic[0]); i++) {
		if (strlen(generic[i]) == size &&
		    strncasecmp(generic[i], type, size) == 0)
			return true;
	}
	return false;
}

const char *media_accept(void)
{
	return OCI_TYPE "index.v1+json, " OCI_TYPE "manifest.v1+json, " DOCKER_TYPE
			"distribution.manifest.list.v2+json, " DOCKER_TYPE
			"distribution.manifest.v2+json";
}
