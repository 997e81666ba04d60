/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/inflate.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "oci/bounds.h"
#include "oci/inflate_codec.h"
#include "oci/inflate_memory.h"

enum { INPUT = 128 * 1024, MAGIC = 6, HEAD = 18 /* of a zstd frame */ };

struct inflate {
	struct inflate_source source;
	enum compression kind; /* COMPRESSION_SNIFF until the first bytes were seen */
	const struct inflate_codec *codec; /* NULL: plain */
	void *state;
	uint64_t claimed; /* of the process's memory, for the state */
	uint64_t in_total, out_total;
	size_t start, end; /* of the bytes in input that are not used yet */
	bool source_ended;
	bool between; /* members or frames: here the stream may end */
	unsigned char input[INPUT];
};

/* What a body is, by its first bytes. */
static const struct signature {
	unsigned char bytes[MAGIC], mask[MAGIC];
	enum compression kind; /* COMPRESSION_SNIFF: one that is not supported */
	const char *name;
} signatures[] = {
    {{0x1f, 0x8b}, {255, 255}, COMPRESSION_GZIP, "gzip"},
    {{0x28, 0xb5, 0x2f, 0xfd}, {255, 255, 255, 255}, COMPRESSION_ZSTD, "zstd"},
    {{0x50, 0x2a, 0x4d, 0x18}, {0xf0, 255, 255, 255}, COMPRESSION_ZSTD, "zstd"},
    {{0xfd, '7', 'z', 'X', 'Z', 0},
     {255, 255, 255, 255, 255, 255},
     COMPRESSION_SNIFF,
     "xz"},
    {{'B', 'Z', 'h'}, {255, 255, 255}, COMPRESSION_SNIFF, "bzip2"},
    {{0x04, 0x22, 0x4d, 0x18}, {255, 255, 255, 255}, COMPRESSION_SNIFF, "lz4"},
    {{0x1f, 0x9d}, {255, 255}, COMPRESSION_SNIFF, "compress"},
    {{'L', 'Z', 'I', 'P'}, {255, 255, 255, 255}, COMPRESSION_SNIFF, "lzip"},
};

static const char *kind_name(enum compression kind)
{
	return kind == COMPRESSION_GZIP	  ? "gzip"
	       : kind == COMPRESSION_ZSTD ? "zstd"
					  : "a plain tar";
}

static const struct signature *signature_of(const unsigned char *data, size_t size)
{
	for (size_t i = 0; i < sizeof(signatures) / sizeof(signatures[0]); i++) {
		const struct signature *s = &signatures[i];
		size_t at = 0;

		while (at < MAGIC && s->mask[at] && at < size &&
		       (data[at] & s->mask[at]) == s->bytes[at])
			at++;
		if (at == MAGIC || !s->mask[at])
			return s;
	}
	return NULL;
}

/* Read until there is something in input, or until `least` bytes where that is more. */
static int fill(struct inflate *inflate, size_t least, struct husk_error *err)
{
	if (INPUT - inflate->start < least || inflate->start == inflate->end) {
		memmove(inflate->input, inflate->input + inflate->start,
			inflate->end - inflate->start);
		inflate->end -= inflate->start;
		inflate->start = 0;
	}
	while (!inflate->source_ended && inflate->end - inflate->start < least) {
		ssize_t n = inflate->source.read(inflate->source.user,
						 inflate->input + inflate->end,
						 INPUT - inflate->end, err);

		if (n < 0)
			return (int)n;
		if (n == 0)
			inflate->source_ended = true;
		inflate->end += (size_t)n;
		inflate->in_total += (uint64_t)n;
	}
	return 0;
}

/* The media type and the body must agree. */
static int decide(struct inflate *inflate, struct husk_error *err)
{
	enum compression told = inflate->source.compression, is = COMPRESSION_NONE;
	const char *where = inflate->source.where;
	const struct signature *s;

	s = signature_of(inflate->input + inflate->start, inflate->end - inflate->start);
	if (s && s->kind == COMPRESSION_SNIFF)
		return error_set(
		    err, HUSK_E_IMAGE, where,
		    "is packed with %s; gzip, zstd and plain tars are supported",
		    s->name);
	if (s)
		is = s->kind;
	if (inflate->start == inflate->end && told != COMPRESSION_NONE &&
	    told != COMPRESSION_SNIFF)
		return error_set(err, HUSK_E_IMAGE, where,
				 "is truncated: it is empty where %s was announced",
				 kind_name(told));
	if (told != COMPRESSION_SNIFF && told != is)
		return error_set(err, HUSK_E_IMAGE, where,
				 "is announced as %s, but it is %s", kind_name(told),
				 kind_name(is));
	inflate->kind = is;
	return 0;
}

static int begin(struct inflate *inflate, struct husk_error *err)
{
	int rc = fill(inflate, MAGIC, err);

	if (rc == 0)
		rc = decide(inflate, err);
	if (rc < 0 || inflate->kind == COMPRESSION_NONE)
		return rc;
	inflate->between = true;
	if (inflate->kind == COMPRESSION_ZSTD) {
		inflate->codec = &inflate_zstd;
		return inflate->codec->begin(&inflate->state, inflate->source.where, err);
	}
	inflate->codec = &inflate_isal;
	rc = inflate->codec->begin(&inflate->state, inflate->source.where, NULL);
	if (rc != HUSK_E_SYSTEM)
		return rc == 0 ? 0 : error_oom(err, inflate->source.where);
	inflate->codec = &inflate_zlib;
	return inflate->codec->begin(&inflate->state, inflate->source.where, err);
}

static int check_bounds(const struct inflate *inflate, struct husk_error *err)
{
	uint64_t max = inflate->source.max ? inflate->source.max : OCI_MAX_LAYER_BYTES;
	const char *where = inflate->source.where;

	if (inflate->out_total > max)
		return error_set(err, HUSK_E_TOO_BIG, where,
				 "unpacks to more than %llu bytes (OCI_MAX_LAYER_BYTES)",
				 (unsigned long long)max);
	if (inflate->out_total > OCI_RATIO_FREE &&
	    inflate->out_total / OCI_MAX_RATIO > inflate->in_total)
		return error_set(err, HUSK_E_TOO_BIG, where,
				 "grows more than %d-fold when it is unpacked "
				 "(OCI_MAX_RATIO)",
				 OCI_MAX_RATIO);
	return 0;
}

static size_t copy_plain(struct inflate *inflate, unsigned char *out, size_t size)
{
	size_t n = inflate->end - inflate->start;

	if (n > size)
		n = size;
	memcpy(out, inflate->input + inflate->start, n);
	inflate->start += n;
	return n;
}

/* What follows a member or a frame: another one or nothing. */
static int check_next(const struct inflate *inflate, struct husk_error *err)
{
	const struct signature *s =
	    signature_of(inflate->input + inflate->start, inflate->end - inflate->start);

	if (s && s->kind == inflate->kind)
		return 0;
	return error_set(err, HUSK_E_IMAGE, inflate->source.where,
			 "has something after the end of its %s data",
			 kind_name(inflate->kind));
}

/* See that there is memory for the member or frame that begins. A state that grows gives
 * back what it has first, and waits without. */
static int admit(struct inflate *inflate, struct husk_error *err)
{
	const struct inflate_source *source = &inflate->source;
	uint64_t wants;
	int rc = 0;

	if (!inflate->codec->wants)
		return 0;
	wants = inflate->codec->wants(inflate->input + inflate->start,
				      inflate->end - inflate->start);
	if (wants > (uint64_t)1 << OCI_MAX_ZSTD_WINDOW_LOG) {
		(void)error_set(err, HUSK_E_TOO_BIG, source->where,
				"is packed with a window of %llu MiB, and at most %d are "
				"taken (OCI_MAX_ZSTD_WINDOW_LOG)",
				(unsigned long long)(wants / OCI_MIB),
				1 << (OCI_MAX_ZSTD_WINDOW_LOG - 20));
		error_hint(err, "pack it without --long and --ultra, or with gzip");
		return HUSK_E_TOO_BIG;
	}
	if (!source->shares_memory || wants <= inflate->claimed)
		return 0;
	if (inflate->claimed > 0) {
		inflate->codec->end(inflate->state);
		inflate->state = NULL;
		inflate_memory_give(inflate->claimed);
		inflate->claimed = 0;
		rc = inflate->codec->begin(&inflate->state, source->where, err);
	}
	if (rc == 0 && inflate_memory_take(wants, source->waiting, source->user,
					   inflate->out_total) < 0)
		rc = error_set(err, HUSK_E_CANCELLED, source->where, "was stopped");
	if (rc == 0)
		inflate->claimed = wants;
	return rc;
}

/* One call of the decompressor; *ret_end at the end of the whole stream. */
static ssize_t step(struct inflate *inflate, unsigned char *out, size_t size,
		    bool *ret_end, struct husk_error *err)
{
	struct inflate_window window = {.out = out, .out_size = size};
	const char *reason = NULL, *where = inflate->source.where;
	enum inflate_step result;
	int rc = fill(inflate, inflate->between ? HEAD : 1, err);

	if (rc < 0)
		return rc;
	if (inflate->between) {
		*ret_end = inflate->start == inflate->end;
		if (*ret_end)
			return 0;
		rc = check_next(inflate, err);
		if (rc == 0)
			rc = admit(inflate, err);
		if (rc < 0)
			return rc;
		inflate->codec->again(inflate->state);
		inflate->between = false;
	}
	window.in = inflate->input + inflate->start;
	window.in_size = inflate->end - inflate->start;
	result = inflate->codec->step(inflate->state, &window, &reason);
	if (result == INFLATE_BAD)
		return error_set(err, HUSK_E_IMAGE, where, "is damaged: %s", reason);
	/* At the end of the source only what the decompressor holds can still come. */
	if (result == INFLATE_MORE && inflate->source_ended && window.out_size == size &&
	    window.in_size == inflate->end - inflate->start)
		return error_set(err, HUSK_E_IMAGE, where,
				 "is truncated: its %s data ends too early",
				 kind_name(inflate->kind));
	inflate->start = inflate->end - window.in_size;
	inflate->between = result == INFLATE_END;
	return (ssize_t)(size - window.out_size);
}

static ssize_t some(struct inflate *inflate, unsigned char *out, size_t size,
		    bool *ret_end, struct husk_error *err)
{
	int rc;

	if (inflate->codec)
		return step(inflate, out, size, ret_end, err);
	rc = fill(inflate, 1, err);
	if (rc < 0)
		return rc;
	*ret_end = inflate->start == inflate->end;
	return (ssize_t)copy_plain(inflate, out, size);
}

ssize_t inflate_read(struct inflate *inflate, void *data, size_t size,
		     struct husk_error *err)
{
	unsigned char *out = data;
	size_t got = 0;
	bool end = false;
	int rc = 0;

	if (inflate->kind == COMPRESSION_SNIFF)
		rc = begin(inflate, err);
	while (rc == 0 && got < size && !end) {
		ssize_t n = some(inflate, out + got, size - got, &end, err);

		if (n < 0)
			return n;
		got += (size_t)n;
		inflate->out_total += (uint64_t)n;
		rc = check_bounds(inflate, err);
	}
	return rc < 0 ? rc : (ssize_t)got;
}

enum compression inflate_kind(const struct inflate *inflate)
{
	return inflate->kind;
}

int inflate_new(const struct inflate_source *source, struct inflate **ret,
		struct husk_error *err)
{
	struct inflate *inflate = malloc(sizeof(*inflate));

	if (!inflate)
		return error_oom(err, source->where);
	memset(inflate, 0, offsetof(struct inflate, input));
	inflate->source = *source;
	inflate->kind = COMPRESSION_SNIFF;
	*ret = inflate;
	return 0;
}

struct inflate *inflate_free(struct inflate *inflate)
{
	if (inflate && inflate->codec)
		inflate->codec->end(inflate->state);
	if (inflate && inflate->claimed > 0)
		inflate_memory_give(inflate->claimed);
	free(inflate);
	return NULL;
}
