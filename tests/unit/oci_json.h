/* SPDX-License-Identifier: Apache-2.0 */
/* Documents for the tests of what reads them. Single quotes stand for double ones. */
#ifndef TESTS_UNIT_OCI_JSON_H
#define TESTS_UNIT_OCI_JSON_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define HEX_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define HEX_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define SHA_A "sha256:" HEX_A
#define SHA_B "sha256:" HEX_B

#define T_MANIFEST	  "application/vnd.oci.image.manifest.v1+json"
#define T_INDEX		  "application/vnd.oci.image.index.v1+json"
#define T_CONFIG	  "application/vnd.oci.image.config.v1+json"
#define T_LAYER		  "application/vnd.oci.image.layer.v1.tar"
#define T_DOCKER_MANIFEST "application/vnd.docker.distribution.manifest.v2+json"
#define T_DOCKER_LIST	  "application/vnd.docker.distribution.manifest.list.v2+json"
#define T_DOCKER_CONFIG	  "application/vnd.docker.container.image.v1+json"
#define T_DOCKER_LAYER	  "application/vnd.docker.image.rootfs.diff.tar.gzip"

/* A descriptor's text. */
#define D(type, digest, size) \
	"{'mediaType':'" type "','digest':'" digest "','size':" #size "}"

/* The text with real quotes; heap. */
static inline char *json_of(const char *text)
{
	char *copy = strdup(text);

	assert_non_null(copy);
	for (char *c = copy; *c; c++) {
		if (*c == '\'')
			*c = '"';
	}
	return copy;
}

/* A refusal: its code, a part of its words, and that they are fit to print. */
static inline void assert_refused(const char *text, int rc, int code,
				  const struct husk_error *err, const char *message)
{
	if (rc != code)
		fail_msg("%s: %d %s", text, rc, err->message);
	if (!strstr(err->message, message))
		fail_msg("%s: \"%s\" is not in \"%s\"", text, message, err->message);
	assert_int_equal(err->code, code);
	assert_string_equal(err->where, "doc");
	for (const char *c = err->message; *c; c++)
		assert_true((unsigned char)*c >= ' ' && *c != 0x7f);
}

#endif
