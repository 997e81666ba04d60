/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/image_print.h"

#include "cli/escape.h"
#include "cli/json_memory.h"
#include "cli/progress.h"
#include "cli/say.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COLUMNS = 5, CELL = 640, DIGITS = 12 };

typedef char row[COLUMNS][CELL];

/* Twelve digits, as everywhere else. */
static void short_digest(char *text, const char *digest)
{
	const char *colon = strchr(digest, ':');
	const char *digits = colon ? colon + 1 : digest;

	(void)cli_escape(text, CELL, digits, strnlen(digits, DIGITS), 0);
}

/* RFC 3339, in UTC. */
static void time_text(char *text, size_t capacity, int64_t seconds)
{
	time_t when = (time_t)seconds;
	struct tm tm;

	if (!gmtime_r(&when, &tm) ||
	    strftime(text, capacity, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		(void)snprintf(text, capacity, "-");
}

static void make_row(const husk_image *image, row cells)
{
	const char *name = husk_image_name(image), *platform = husk_image_platform(image);

	(void)cli_escape(cells[0], CELL, name, strlen(name), 0);
	short_digest(cells[1], husk_image_digest(image));
	(void)cli_escape(cells[2], CELL, platform, strlen(platform), 0);
	cli_progress_bytes(cells[3], CELL, husk_image_bytes(image));
	time_text(cells[4], CELL, husk_image_added(image));
}

static void put_row(FILE *out, row cells, const int widths[COLUMNS])
{
	for (int i = 0; i < COLUMNS - 1; i++)
		(void)fprintf(out, "%-*s  ", widths[i], cells[i]);
	(void)fprintf(out, "%s\n", cells[COLUMNS - 1]);
}

void cli_images_table(FILE *out, const husk_images *images)
{
	row cells = {"NAME", "DIGEST", "PLATFORM", "SIZE", "ADDED"};
	int widths[COLUMNS] = {0};
	row head;

	memcpy(head, cells, sizeof(head));
	for (size_t i = 0; i <= husk_images_count(images); i++) {
		for (int c = 0; c < COLUMNS; c++) {
			int width = (int)strlen(cells[c]);

			widths[c] = width > widths[c] ? width : widths[c];
		}
		if (i < husk_images_count(images))
			make_row(husk_images_get(images, i), cells);
	}
	put_row(out, head, widths);
	for (size_t i = 0; i < husk_images_count(images); i++) {
		make_row(husk_images_get(images, i), cells);
		put_row(out, cells, widths);
	}
}

/* JSON is UTF-8: a name that is not is escaped first. */
static json_t *json_of(const char *text)
{
	json_t *json = json_string(text);
	char printed[4 * CELL];

	if (json)
		return json;
	(void)cli_escape(printed, sizeof(printed), text, strlen(text), 0);
	return json_string(printed);
}

static json_t *image_json(const husk_image *image)
{
	char added[64];

	time_text(added, sizeof(added), husk_image_added(image));
	return json_pack("{s:o, s:s, s:s, s:o, s:I, s:s}", "name",
			 json_of(husk_image_name(image)), "digest",
			 husk_image_digest(image), "manifest",
			 husk_image_manifest_digest(image), "platform",
			 json_of(husk_image_platform(image)), "bytes",
			 (json_int_t)husk_image_bytes(image), "added", added);
}

int cli_images_json(FILE *out, const husk_images *images)
{
	json_t *list = json_array();
	char *text = NULL;
	int r = list ? 0 : -1;

	for (size_t i = 0; r == 0 && i < husk_images_count(images); i++)
		r = json_array_append_new(list, image_json(husk_images_get(images, i)));
	if (r == 0)
		text = cli_json_dump(list, JSON_COMPACT);
	r = text ? 0 : -1;
	(void)fprintf(out, "%s\n", text ? text : "");
	free(text);
	json_decref(list);
	return r;
}

/* -- details ------------------------------------------------------------------------ */

static void put_body(FILE *out, int depth, json_t *value);
static void put_value(FILE *out, int depth, const char *name, json_t *value);

static void put_label(FILE *out, int depth, const char *name)
{
	char label[CELL];

	(void)cli_escape(label, sizeof(label), name, strlen(name), 0);
	(void)fprintf(out, "%*s%s:", 2 * depth, "", label);
}

static void put_scalar(FILE *out, const json_t *value)
{
	char *text = json_is_string(value) ? NULL : cli_json_dump(value, JSON_ENCODE_ANY);
	const char *plain = json_is_string(value) ? json_string_value(value) : text;
	size_t size = plain ? strlen(plain) : 0;
	char *printed = malloc(4 * size + 1);

	if (printed && plain) {
		(void)cli_escape(printed, 4 * size + 1, plain, size, 0);
		(void)fprintf(out, " %s\n", printed);
	} else {
		(void)fputc('\n', out);
	}
	free(printed);
	free(text);
}

static void put_list(FILE *out, int depth, const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		json_t *value = json_array_get(list, i);

		(void)fprintf(out, "%*s-", 2 * depth, "");
		put_body(out, depth, value);
	}
}

static void put_object(FILE *out, int depth, json_t *object)
{
	for (void *at = json_object_iter(object); at;
	     at = json_object_iter_next(object, at))
		put_value(out, depth, json_object_iter_key(at),
			  json_object_iter_value(at));
}

static void put_value(FILE *out, int depth, const char *name, json_t *value)
{
	put_label(out, depth, name);
	put_body(out, depth, value);
}

/* What comes after its label. The library's JSON is of bounded depth. */
static void put_body(FILE *out, int depth, json_t *value)
{
	if (json_is_object(value) && json_object_size(value) > 0) {
		(void)fputc('\n', out);
		put_object(out, depth + 1, value);
	} else if (json_is_array(value) && json_array_size(value) > 0) {
		(void)fputc('\n', out);
		put_list(out, depth + 1, value);
	} else {
		put_scalar(out, value);
	}
}

int cli_image_details(FILE *out, const char *json)
{
	json_t *root = NULL;

	if (cli_json_read(json, strlen(json), 0, &root, NULL) < 0)
		return -1;
	put_object(out, 0, root);
	json_decref(root);
	return cli_json_lost() ? -1 : 0;
}

int cli_image_print(int (*put)(FILE *out, const void *what, bool json), const void *what,
		    bool json)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int r = out ? put(out, what, json) : -1;

	if (out && ferror(out))
		r = -1;
	if (out && fclose(out) != 0)
		r = -1;
	if (r < 0) {
		cli_say("image", "out of memory", NULL);
		r = CLI_EXIT_CANNOT;
	} else {
		r = cli_print(text, size);
	}
	free(text);
	return r;
}
