/* SPDX-License-Identifier: Apache-2.0 */
/* husk ps: this user's boxes that run. */
#include "cli/escape.h"
#include "cli/json_memory.h"
#include "cli/running.h"
#include "cli/say.h"
#include "cli/verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CELL = 48 };

static const char *cell(const json_t *row, const char *key, char text[CELL * 4 + 1])
{
	const char *value = json_string_value(json_object_get(row, key));
	size_t size = value ? strlen(value) : 0;

	(void)cli_escape(text, CELL * 4 + 1, value ? value : "",
			 size < CELL ? size : CELL, CLI_ESCAPE_EXACT);
	return text;
}

/* "5s", "12m", "3h", "2d". */
static void put_age(FILE *out, long long seconds)
{
	static const struct {
		long long unit;
		char letter;
	} units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
	char text[32];

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (seconds < units[i].unit && units[i].unit > 1)
			continue;
		(void)snprintf(text, sizeof(text), "%lld%c",
			       seconds < 0 ? 0 : seconds / units[i].unit,
			       units[i].letter);
		break;
	}
	(void)fprintf(out, "%-6s ", text);
}

static void put_rows(FILE *out, const json_t *list)
{
	time_t now = time(NULL);
	char text[CELL * 4 + 1];
	const json_t *row;
	size_t i;

	(void)fprintf(out, "%-20s %8s %-6s %-24s %s\n", "NAME", "PID", "AGE", "IMAGE",
		      "COMMAND");
	json_array_foreach(list, i, row)
	{
		(void)fprintf(out, "%-20s %8lld ", cell(row, "name", text),
			      (long long)json_integer_value(json_object_get(row, "pid")));
		put_age(out, (long long)now -
				 json_integer_value(json_object_get(row, "started")));
		(void)fprintf(out, "%-24s ", cell(row, "image", text));
		(void)fprintf(out, "%s\n", cell(row, "command", text));
	}
}

static int print_json(const json_t *list)
{
	char *text = cli_json_dump(list, JSON_INDENT(2));
	size_t size = text ? strlen(text) : 0;
	int r;

	if (!text) {
		cli_say("ps", "out of memory", NULL);
		return CLI_EXIT_CANNOT;
	}
	text[size] = '\n'; /* in the place of the NUL */
	r = cli_print(text, size + 1);
	free(text);
	return r;
}

int cli_ps(struct cli_settings *settings, size_t count, char **words)
{
	struct husk_error err = {0};
	json_t *list = cli_running_list();
	char *text = NULL;
	size_t size = 0;
	FILE *out;
	int r;

	(void)count;
	(void)words;
	if (settings->json) {
		r = print_json(list);
		json_decref(list);
		return r;
	}
	out = open_memstream(&text, &size);
	if (out)
		put_rows(out, list);
	json_decref(list);
	if (!out || fclose(out) != 0) {
		free(text);
		(void)cli_error_memory(&err, "ps");
		return cli_say_error(&err);
	}
	r = cli_print(text, size);
	free(text);
	return r;
}
