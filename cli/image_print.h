/* SPDX-License-Identifier: Apache-2.0 */
/* Images as text: tables, details, JSON. */
#ifndef CLI_IMAGE_PRINT_H
#define CLI_IMAGE_PRINT_H

#include <husk/image.h>

#include <stdbool.h>
#include <stdio.h>

/* NAME, DIGEST, PLATFORM, SIZE, ADDED, as wide as the longest of each. */
void cli_images_table(FILE *out, const husk_images *images);

/* An array of objects. 0, or -1 on lack of memory. */
int cli_images_json(FILE *out, const husk_images *images);

/* What husk_image_inspect says (JSON), laid out for people. 0, or -1 where it cannot be
 * read. */
int cli_image_details(FILE *out, const char *json);

/* Print what put writes, all of it or nothing. Returns the exit code. */
int cli_image_print(int (*put)(FILE *out, const void *what, bool json), const void *what,
		    bool json);

#endif
