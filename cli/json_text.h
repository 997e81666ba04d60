/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes as JSON strings. Base64 is that of RFC 4648, section 4. */
#ifndef CLI_JSON_TEXT_H
#define CLI_JSON_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Text; bytes that are not UTF-8 become U+FFFD. NULL without memory. */
json_t *cli_json_text(const char *data, size_t size);

json_t *cli_json_base64(const void *data, size_t size);
/* Decode; *ret is the caller's. False where text is no base64 or there is no memory. */
bool cli_json_base64_decode(const char *text, size_t size, char **ret, size_t *ret_size);

#endif
