/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/progress.h"

#include "cli/say.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum {
	FRAME_US = 100000, /* between two frames, unless a state changes */
	ROWS = 24,	   /* of a terminal that does not say */
	COLUMNS = 80,
};

static uint64_t now_us(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

void cli_progress_init(struct cli_progress *progress, enum cli_progress_style style,
		       int fd)
{
	progress->style = style;
	progress->fd = fd;
}

enum cli_progress_style cli_progress_style_of(bool quiet,
					      enum cli_progress_style otherwise)
{
	const char *term = getenv("TERM");

	if (quiet)
		return CLI_PROGRESS_NONE;
	if (!isatty(STDERR_FILENO) || !term || strcmp(term, "dumb") == 0)
		return otherwise;
	return CLI_PROGRESS_BARS;
}

static void put(struct cli_progress *progress, const char *text, size_t size)
{
	if (!progress->failed && cli_write_all(progress->fd, text, size) < 0)
		progress->failed = true; /* nobody looks any more; the pull goes on */
}

/* -- bars --------------------------------------------------------------------------- */

static void screen(int fd, size_t *ret_rows, size_t *ret_columns)
{
	struct winsize size = {0};

	(void)ioctl(fd, TIOCGWINSZ, &size);
	*ret_rows = size.ws_row > 0 ? size.ws_row : ROWS;
	*ret_columns = size.ws_col > 0 ? size.ws_col : COLUMNS;
}

/* Go back to where the last frame begins. On a screen that has become narrower its lines
 * take more rows than they did. */
static size_t put_back(const struct cli_progress *progress, size_t columns, char *text,
		       size_t capacity)
{
	size_t rows = 0;

	for (size_t i = 0; i < progress->drawn_count; i++)
		rows += 1 + (progress->drawn_widths[i] > 0
				 ? (progress->drawn_widths[i] - 1) / columns
				 : 0);
	if (rows == 0)
		return 0;
	return (size_t)snprintf(text, capacity, "\r\x1b[%zuA\x1b[J", rows);
}

void cli_progress_clear(struct cli_progress *progress)
{
	size_t rows, columns, size;
	char text[32];

	if (progress->style != CLI_PROGRESS_BARS)
		return;
	screen(progress->fd, &rows, &columns);
	size = put_back(progress, columns, text, sizeof(text));
	put(progress, text, size);
	progress->drawn_count = 0;
}

static void draw(struct cli_progress *progress)
{
	static char lines[CLI_PROGRESS_ROWS][CLI_PROGRESS_COLUMNS];
	static char text[sizeof(lines) + 64]; /* events come one at a time */
	size_t rows, columns, used;

	screen(progress->fd, &rows, &columns);
	used = put_back(progress, columns, text, sizeof(text));
	progress->drawn_count = cli_progress_frame(progress, rows, columns, lines);
	for (size_t i = 0; i < progress->drawn_count; i++) {
		size_t size = strlen(lines[i]);

		memcpy(text + used, lines[i], size);
		used += size;
		text[used++] = '\n';
		progress->drawn_widths[i] = size;
	}
	put(progress, text, used);
}

/* -- lines -------------------------------------------------------------------------- */

static void say_state(struct cli_progress *progress, const struct husk_progress *event)
{
	const struct cli_progress_layer *layer = NULL;
	char line[700], bytes[24];
	int size = 0;

	if (event->layer >= 0 && event->layer < CLI_PROGRESS_LAYERS)
		layer = &progress->layers[event->layer];
	if (event->kind == HUSK_PROGRESS_RESOLVED)
		size = snprintf(line, sizeof(line), "%s: %zu layer%s\n", progress->image,
				progress->layer_count,
				progress->layer_count == 1 ? "" : "s");
	else if (event->kind == HUSK_PROGRESS_ASSEMBLING)
		size = snprintf(line, sizeof(line), "assembling\n");
	else if (layer && layer->state == CLI_LAYER_FOUND)
		size = snprintf(line, sizeof(line), "%s: there already\n", layer->id);
	else if (layer && layer->state == CLI_LAYER_WAITING)
		size = snprintf(line, sizeof(line),
				"%s: another process is fetching it\n", layer->id);
	else if (layer) {
		cli_progress_bytes(bytes, sizeof(bytes), layer->total);
		size = snprintf(line, sizeof(line),
				layer->state == CLI_LAYER_DONE ? "%s: done, %s\n"
							       : "%s: fetching, %s\n",
				layer->id, bytes);
	}
	put(progress, line, (size_t)size);
}

/* One line, once there is something to wait for. */
static void say_once(struct cli_progress *progress, const struct husk_progress *event)
{
	char line[600];
	int size;

	if (progress->announced || event->kind != HUSK_PROGRESS_LAYER)
		return;
	progress->announced = true;
	size = snprintf(line, sizeof(line), "husk: fetching %s\n",
			progress->image[0] != '\0' ? progress->image : "the image");
	put(progress, line, (size_t)size);
}

int cli_progress_event(void *user, const struct husk_progress *event)
{
	struct cli_progress *progress = user;
	uint64_t now = now_us();
	bool changed;

	if (progress->style == CLI_PROGRESS_NONE)
		return 0;
	changed = cli_progress_take(progress, event, now);
	if (progress->style == CLI_PROGRESS_BRIEF) {
		say_once(progress, event);
	} else if (progress->style == CLI_PROGRESS_LINES) {
		if (changed)
			say_state(progress, event);
	} else if (changed || now - progress->drawn_us >= FRAME_US) {
		draw(progress);
		progress->drawn_us = now;
	}
	return 0;
}
