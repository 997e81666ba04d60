/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of an answer, and the reading of its header lines. */
#include "oci/http_answer.h"

#include "oci/bounds.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void http_answer_init(struct http_answer *answer)
{
	*answer = (struct http_answer){
	    .challenges = BUFFER_INIT(OCI_MAX_HEADER_BYTES),
	    .body = BUFFER_INIT(OCI_MAX_ERROR_BODY),
	};
}

void http_answer_deinit(struct http_answer *answer)
{
	buffer_deinit(&answer->challenges);
	buffer_deinit(&answer->body);
	free(answer->location);
	http_answer_init(answer);
}

/* A value that does not fit is none: half of one could mean something else. */
static void keep(char *to, size_t capacity, const char *value, size_t size)
{
	if (to[0] != '\0' || size >= capacity || memchr(value, '\0', size))
		return;
	memcpy(to, value, size);
	to[size] = '\0';
}

static int keep_challenge(struct http_answer *answer, const char *value, size_t size)
{
	int rc;

	if (memchr(value, '\0', size))
		return 0;
	rc = buffer_add(&answer->challenges, value, size);
	return rc < 0 ? rc : buffer_add(&answer->challenges, "", 1);
}

static int keep_location(struct http_answer *answer, const char *value, size_t size)
{
	if (answer->location || size > URL_MAX || memchr(value, '\0', size))
		return 0;
	answer->location = strndup(value, size);
	return answer->location ? 0 : -ENOMEM;
}

static bool is(const char *line, size_t name, const char *wanted)
{
	return name == strlen(wanted) && strncasecmp(line, wanted, name) == 0;
}

int http_answer_header(struct http_answer *answer, const char *line, size_t size)
{
	const char *colon = memchr(line, ':', size), *value;
	size_t name;

	if (!colon)
		return 0;
	name = (size_t)(colon - line);
	value = colon + 1;
	size -= name + 1;
	while (size > 0 && isspace((unsigned char)value[0])) {
		value++;
		size--;
	}
	while (size > 0 && isspace((unsigned char)value[size - 1]))
		size--;
	if (is(line, name, "www-authenticate"))
		return keep_challenge(answer, value, size);
	if (is(line, name, "location"))
		return keep_location(answer, value, size);
	if (is(line, name, "content-type"))
		keep(answer->content_type, sizeof(answer->content_type), value, size);
	else if (is(line, name, "content-range"))
		keep(answer->content_range, sizeof(answer->content_range), value, size);
	else if (is(line, name, "content-encoding"))
		keep(answer->content_encoding, sizeof(answer->content_encoding), value,
		     size);
	else if (is(line, name, "retry-after"))
		keep(answer->retry_after, sizeof(answer->retry_after), value, size);
	return 0;
}
