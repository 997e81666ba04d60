/* SPDX-License-Identifier: Apache-2.0 */
/* What the progress of a pull looks like; nothing is printed here. */
#include "cli/escape.h"
#include "cli/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	SAMPLE_US = 250000,   /* between two samples of a rate */
	LEFT_MAX_S = 90 * 60, /* what is longer is a guess */
	BAR_MAX = 30,
	BAR_MIN = 6,
	LAYER_TEXT = 66, /* columns of a layer's line besides its bar */
};

/* No cable carries that; a number that does not fit must not be converted. */
static const double PER_SECOND_MAX = 1e15;

/* -- state -------------------------------------------------------------------------- */

static void sample(struct cli_rate *rate, uint64_t bytes, uint64_t now_us)
{
	double now;

	if (rate->at_us == 0 || bytes < rate->bytes) {
		*rate = (struct cli_rate){.at_us = now_us, .bytes = bytes};
		return;
	}
	if (now_us - rate->at_us < SAMPLE_US)
		return;
	now = (double)(bytes - rate->bytes) * 1e6 / (double)(now_us - rate->at_us);
	if (now > PER_SECOND_MAX)
		now = PER_SECOND_MAX;
	rate->per_second =
	    rate->per_second > 0 ? 0.7 * rate->per_second + 0.3 * now : now;
	rate->at_us = now_us;
	rate->bytes = bytes;
}

static void count_all(const struct cli_progress *progress, size_t *ret_done,
		      uint64_t *ret_bytes, uint64_t *ret_total)
{
	*ret_done = 0;
	*ret_bytes = *ret_total = 0;
	for (size_t i = 0; i < progress->layer_count; i++) {
		const struct cli_progress_layer *layer = &progress->layers[i];

		*ret_done += layer->state >= CLI_LAYER_FOUND;
		*ret_bytes += layer->done;
		*ret_total += layer->total;
	}
}

/* "sha256:0123456789ab...": the twelve digits that people know from elsewhere. */
static void set_id(struct cli_progress_layer *layer, const char *digest)
{
	const char *colon = strchr(digest, ':');
	const char *digits = colon ? colon + 1 : digest;

	(void)cli_escape(layer->id, 13, digits, strnlen(digits, 12), 0);
}

static bool set_state(struct cli_progress_layer *layer, enum cli_layer_state state)
{
	if (layer->state == state)
		return false;
	layer->state = state;
	return true;
}

static bool take_layer(struct cli_progress *progress, const struct husk_progress *event,
		       uint64_t now_us)
{
	struct cli_progress_layer *layer;
	size_t done;
	uint64_t bytes, total;
	bool changed = false;

	if (event->layer < 0 || event->layer >= CLI_PROGRESS_LAYERS)
		return false;
	layer = &progress->layers[event->layer];
	if ((size_t)event->layer >= progress->layer_count)
		progress->layer_count = (size_t)event->layer + 1;
	if (event->digest[0] != '\0')
		set_id(layer, event->digest);
	switch (event->kind) {
	case HUSK_PROGRESS_LAYER_FOUND:
		return set_state(layer, CLI_LAYER_FOUND);
	case HUSK_PROGRESS_WAITING:
		return set_state(layer, CLI_LAYER_WAITING);
	case HUSK_PROGRESS_LAYER_DONE:
		layer->done = layer->total;
		changed = set_state(layer, CLI_LAYER_DONE);
		break;
	default:
		layer->done = event->done;
		layer->total = event->total;
		changed = set_state(layer, CLI_LAYER_COMING);
	}
	sample(&layer->rate, layer->done, now_us);
	count_all(progress, &done, &bytes, &total);
	sample(&progress->rate, bytes, now_us);
	return changed;
}

bool cli_progress_take(struct cli_progress *progress, const struct husk_progress *event,
		       uint64_t now_us)
{
	switch (event->kind) {
	case HUSK_PROGRESS_RESOLVED:
		(void)cli_escape(progress->image, sizeof(progress->image), event->image,
				 strlen(event->image), 0);
		progress->layer_count = event->total < CLI_PROGRESS_LAYERS
					    ? (size_t)event->total
					    : CLI_PROGRESS_LAYERS;
		return true;
	case HUSK_PROGRESS_LAYER:
	case HUSK_PROGRESS_LAYER_DONE:
	case HUSK_PROGRESS_LAYER_FOUND:
	case HUSK_PROGRESS_WAITING:
		return take_layer(progress, event, now_us);
	case HUSK_PROGRESS_ASSEMBLING:
		progress->assembling = true;
		return true;
	case HUSK_PROGRESS_DONE:
		progress->assembling = false;
		return true;
	default:
		return false; /* of a newer library */
	}
}

/* -- text --------------------------------------------------------------------------- */

void cli_progress_bytes(char *text, size_t capacity, uint64_t bytes)
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double value = (double)bytes / 1024;
	size_t unit = 0;

	if (bytes < 1024) {
		(void)snprintf(text, capacity, "%" PRIu64 " B", bytes);
		return;
	}
	/* 1023.95 would be shown as 1024.0. */
	for (; value >= 1023.95 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
		value /= 1024;
	(void)snprintf(text, capacity, "%.1f %s", value, units[unit]);
}

/* "12.3 MiB/s, 8 s left", as far as it is known. */
static void put_speed(char *text, size_t capacity, const struct cli_rate *rate,
		      uint64_t done, uint64_t total)
{
	char speed[24];
	double left;

	text[0] = '\0';
	if (rate->per_second < 1)
		return;
	cli_progress_bytes(speed, sizeof(speed), (uint64_t)rate->per_second);
	left = total > done ? (double)(total - done) / rate->per_second : 0;
	if (left < 1 || left > LEFT_MAX_S)
		(void)snprintf(text, capacity, "%s/s", speed);
	else if (left < 90)
		(void)snprintf(text, capacity, "%s/s, %.0f s left", speed, left);
	else
		(void)snprintf(text, capacity, "%s/s, %.0f min left", speed, left / 60);
}

/* Text of ours and escaped text, which may be UTF-8: cut where a character begins, and
 * bytes count as columns, so that a line is never too wide. */
static void cut(char *line, size_t columns)
{
	size_t size = strlen(line);

	if (columns == 0)
		columns = 1;
	if (size < columns)
		return;
	size = columns - 1;
	while (size > 0 && ((unsigned char)line[size] & 0xc0) == 0x80)
		size--;
	line[size] = '\0';
}

static void put_summary(const struct cli_progress *progress, char *line)
{
	char done_text[24], total_text[24], speed[64];
	uint64_t bytes, total;
	size_t done;

	count_all(progress, &done, &bytes, &total);
	if (progress->assembling) {
		(void)snprintf(line, CLI_PROGRESS_COLUMNS, "%.120s: assembling",
			       progress->image);
		return;
	}
	cli_progress_bytes(done_text, sizeof(done_text), bytes);
	cli_progress_bytes(total_text, sizeof(total_text), total);
	put_speed(speed, sizeof(speed), &progress->rate, bytes, total);
	(void)snprintf(line, CLI_PROGRESS_COLUMNS,
		       "%.80s: %zu of %zu layer%s, %s of %s%s%s", progress->image, done,
		       progress->layer_count, progress->layer_count == 1 ? "" : "s",
		       done_text, total_text, speed[0] != '\0' ? ", " : "", speed);
}

static void put_bar(char *bar, size_t width, uint64_t done, uint64_t total)
{
	size_t filled = total > 0 && done < total
			    ? (size_t)((double)done / (double)total * (double)width)
			    : width;

	memset(bar, '=', filled);
	memset(bar + filled, ' ', width - filled);
	bar[width] = '\0';
}

static void put_layer(const struct cli_progress_layer *layer, size_t columns, char *line)
{
	static const char *const words[] = {
	    [CLI_LAYER_WAITING] = "another process is fetching it",
	    [CLI_LAYER_FOUND] = "there already",
	    [CLI_LAYER_DONE] = "done",
	};
	char bar[BAR_MAX + 1], done[24], total[24], speed[64];
	size_t width = columns > LAYER_TEXT ? columns - LAYER_TEXT : 0;

	if (layer->state != CLI_LAYER_COMING) {
		(void)snprintf(line, CLI_PROGRESS_COLUMNS, "  %-12s  %s", layer->id,
			       words[layer->state]);
		return;
	}
	if (layer->done >= layer->total) {
		(void)snprintf(line, CLI_PROGRESS_COLUMNS, "  %-12s  unpacking",
			       layer->id);
		return;
	}
	width = width > BAR_MAX ? BAR_MAX : width;
	put_bar(bar, width, layer->done, layer->total);
	cli_progress_bytes(done, sizeof(done), layer->done);
	cli_progress_bytes(total, sizeof(total), layer->total);
	put_speed(speed, sizeof(speed), &layer->rate, layer->done, layer->total);
	(void)snprintf(line, CLI_PROGRESS_COLUMNS, "  %-12s  %s%s%s%s of %s  %s",
		       layer->id, width >= BAR_MIN ? "[" : "",
		       width >= BAR_MIN ? bar : "", width >= BAR_MIN ? "] " : "", done,
		       total, speed);
}

/* Where not all layers find room, those that move go first. */
static bool is_shown(const struct cli_progress_layer *layer, bool all)
{
	if (layer->state == CLI_LAYER_UNKNOWN)
		return false;
	return all || layer->state == CLI_LAYER_COMING ||
	       layer->state == CLI_LAYER_WAITING;
}

size_t cli_progress_frame(const struct cli_progress *progress, size_t rows,
			  size_t columns,
			  char lines[CLI_PROGRESS_ROWS][CLI_PROGRESS_COLUMNS])
{
	size_t room = rows > 1 ? rows - 1 : 1, count = 1;
	bool all;

	if (room > CLI_PROGRESS_ROWS)
		room = CLI_PROGRESS_ROWS;
	if (columns > CLI_PROGRESS_COLUMNS)
		columns = CLI_PROGRESS_COLUMNS;
	all = progress->layer_count < room;
	put_summary(progress, lines[0]);
	for (size_t i = 0; i < progress->layer_count && count < room; i++) {
		if (is_shown(&progress->layers[i], all))
			put_layer(&progress->layers[i], columns, lines[count++]);
	}
	for (size_t i = 0; i < count; i++)
		cut(lines[i], columns);
	return count;
}
