/* SPDX-License-Identifier: Apache-2.0 */
/* JSON that lacks nothing. Jansson does not always tell of a lack of memory: a character
 * of a text that is read is passed over (lex_save of 2.14 ignores that its buffer could
 * not grow), a member that could not be added is missing, and most callers of
 * json_object_set_new do not look. A configuration would be read as another one, and an
 * answer be printed without a field. So the command gives jansson an allocator that
 * remembers, for each thread, that it had nothing to give, and reads and prints JSON
 * through the functions below. */
#ifndef CLI_JSON_MEMORY_H
#define CLI_JSON_MEMORY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* At the beginning of the program, before any JSON. */
void cli_json_watch(void);

/* Has something in this thread's JSON been lost since cli_json_forget? */
bool cli_json_lost(void);
/* What is made from here on has nothing to do with what was made before. */
void cli_json_forget(void);

/* As json_loadb. 0, -EINVAL with *wrong (may be NULL) filled in, or -ENOMEM. */
int cli_json_read(const char *data, size_t size, size_t flags, json_t **ret,
		  json_error_t *wrong);

/* As json_dumps: heap. NULL also where something was lost of what it is to print. */
char *cli_json_dump(const json_t *value, size_t flags);

#endif
