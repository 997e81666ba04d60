/* SPDX-License-Identifier: Apache-2.0 */
/* Manifests and indexes, OCI and Docker media types (OCI image-spec manifest.md,
 * image-index.md; Docker image manifest v2, schema 2). Documents are hostile: bounded,
 * strict JSON (duplicate keys refused, depth bounded), one meaning or none. */
#ifndef OCI_MANIFEST_H
#define OCI_MANIFEST_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "oci/digest.h"
#include "oci/platform.h"

enum media_kind {
	MEDIA_OTHER, /* not known to us */
	MEDIA_MANIFEST,
	MEDIA_INDEX, /* OCI index, Docker manifest list */
	MEDIA_CONFIG,
	MEDIA_LAYER,
	MEDIA_SCHEMA1, /* Docker's first, refused by name */
};

enum compression {
	COMPRESSION_NONE,
	COMPRESSION_GZIP,
	COMPRESSION_ZSTD,
	COMPRESSION_SNIFF
};

/* What a media type says. foreign: a non-distributable layer. */
struct media {
	enum media_kind kind;
	enum compression compression; /* of a layer; SNIFF where the type does not say */
	bool foreign;
	bool docker; /* Docker's types, not OCI's */
};
/* Parameters after ';' are ignored, case too. */
struct media media_of(const char *type);
/* How many bytes of type are the type itself, without parameters. */
size_t media_name(const char *type);
/* A type that says nothing: "", application/octet-stream and the like. */
bool media_is_generic(const char *type);
/* The Accept header for a manifest request. */
const char *media_accept(void);

struct descriptor {
	char media_type[128]; /* "" where not told */
	struct media media;
	struct digest digest;
	uint64_t size; /* bytes; at most OCI_MAX_BLOB, a document OCI_MAX_DOCUMENT */
	struct platform platform; /* of an index's entry; empty where not told */
	char ref_name[256];	  /* org.opencontainers.image.ref.name or "" */
	char image_name[512];	  /* io.containerd.image.name or "" */
	bool has_urls;		  /* it names places outside the registry; never used */
	bool attestation;	  /* of an index's entry: it speaks about another one */
};

struct manifest {
	struct descriptor config;
	struct descriptor *layers; /* heap, bottom first */
	size_t layer_count;
};

struct index {
	struct descriptor *manifests; /* heap, in the document's order */
	size_t count;
};

/* What a document is, from its own mediaType, its shape and the type that came with it
 * (Content-Type or the parent's descriptor; NULL where there is none). Ambiguous or
 * contradictory documents and schema 1 are HUSK_E_IMAGE. where names it in messages. */
int document_kind(const char *data, size_t size, const char *type, const char *where,
		  enum media_kind *ret, struct husk_error *err);

/* A manifest of an image: HUSK_E_IMAGE where its config is that of another artifact, or
 * a layer's type is not known. Layers whose type says nothing are sniffed. */
int manifest_parse(const char *data, size_t size, const char *where, struct manifest *ret,
		   struct husk_error *err);
void manifest_deinit(struct manifest *manifest);

int index_parse(const char *data, size_t size, const char *where, struct index *ret,
		struct husk_error *err);
void index_deinit(struct index *index);
/* The entry that serves wanted best, the first of equals; entries that tell no platform
 * come last, attestations never. *ret points into index. HUSK_E_IMAGE names the
 * platforms that are there. */
int index_choose(const struct index *index, const struct platform *wanted,
		 const char *where, const struct descriptor **ret,
		 struct husk_error *err);

#endif
