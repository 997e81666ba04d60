/* SPDX-License-Identifier: Apache-2.0 */
/* For oci/http.c: one header line into an answer. */
#ifndef OCI_HTTP_ANSWER_H
#define OCI_HTTP_ANSWER_H

#include "oci/http.h"

/* A line "Name: value" of size bytes, with or without its end. The first of several
 * counts, but for challenges, which are all kept. 0 or -ENOMEM, -EFBIG. */
int http_answer_header(struct http_answer *answer, const char *line, size_t size);

#endif
