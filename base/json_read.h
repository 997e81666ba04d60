/* SPDX-License-Identifier: Apache-2.0 */
/* Reading JSON so that a lack of memory never makes another document of it. */
#ifndef BASE_JSON_READ_H
#define BASE_JSON_READ_H

#include <jansson.h>
#include <stddef.h>

/* As json_loadb, whose flags and error these are (ret_wrong may be NULL). *ret is the
 * caller's. -ENOMEM, or -EINVAL with *ret_wrong filled in. What is copied meanwhile is
 * overwritten, so that it may be a secret. */
int json_read(const char *data, size_t size, size_t flags, json_t **ret,
	      json_error_t *ret_wrong);

/* The end of the string that begins after a quote: its closing quote, or the end of the
 * data where it has none. */
size_t json_string_end(const char *data, size_t size, size_t at);

#endif
