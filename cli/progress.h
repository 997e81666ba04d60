/* SPDX-License-Identifier: Apache-2.0 */
/* How far the fetching of an image is, on stderr: bars that are drawn in place on a
 * terminal, lines elsewhere. The library reports on its own threads, one at a time; what
 * is here is called from there and, when the call has returned, from main's. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <husk/image.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cli_progress_style {
	CLI_PROGRESS_NONE,
	CLI_PROGRESS_BRIEF, /* one line, and only where something is fetched */
	CLI_PROGRESS_LINES, /* one for each change of a layer's state */
	CLI_PROGRESS_BARS
};

enum {
	CLI_PROGRESS_LAYERS = 512, /* as many as the library takes */
	CLI_PROGRESS_ROWS = 64,	   /* no more are ever drawn */
	CLI_PROGRESS_COLUMNS = 320
};

enum cli_layer_state {
	CLI_LAYER_UNKNOWN = 0, /* nothing was said about it yet */
	CLI_LAYER_WAITING,     /* another process fetches it */
	CLI_LAYER_COMING,
	CLI_LAYER_FOUND,
	CLI_LAYER_DONE
};

/* How fast something grows, smoothed. */
struct cli_rate {
	uint64_t at_us, bytes; /* of the last sample; at_us 0: none */
	double per_second;     /* 0: not known yet */
};

struct cli_progress_layer {
	enum cli_layer_state state;
	char id[16];
	uint64_t done, total;
	struct cli_rate rate;
};

struct cli_progress {
	enum cli_progress_style style;
	int fd;
	char image[512];
	struct cli_progress_layer layers[CLI_PROGRESS_LAYERS];
	size_t layer_count;
	bool assembling, announced, failed;
	struct cli_rate rate;
	uint64_t drawn_us; /* when the frame that stands there was drawn */
	size_t drawn_count;
	size_t drawn_widths[CLI_PROGRESS_ROWS]; /* of its lines */
};

/* *progress is all zero: it is large, and static memory that is not touched costs
 * nothing. */
void cli_progress_init(struct cli_progress *progress, enum cli_progress_style style,
		       int fd);

/* The style for stderr: NONE where quiet, BARS on a terminal, else `otherwise`. */
enum cli_progress_style cli_progress_style_of(bool quiet,
					      enum cli_progress_style otherwise);

/* husk_progress_fn; user is the struct. */
int cli_progress_event(void *user, const struct husk_progress *event);

/* Take away what is drawn. Before anything else is printed. */
void cli_progress_clear(struct cli_progress *progress);

/* -- inside (cli/progress_draw.c), with the clock and the size of the screen given ------
 */

/* The state after an event that came at now_us. true: the state of a layer changed, or of
 * all of it. */
bool cli_progress_take(struct cli_progress *progress, const struct husk_progress *event,
		       uint64_t now_us);

/* The lines of a frame for a screen of rows and columns: fewer than rows, each narrower
 * than columns. Returns how many. */
size_t cli_progress_frame(const struct cli_progress *progress, size_t rows,
			  size_t columns,
			  char lines[CLI_PROGRESS_ROWS][CLI_PROGRESS_COLUMNS]);

/* "12.3 MiB"; capacity at least 16. */
void cli_progress_bytes(char *text, size_t capacity, uint64_t bytes);

#endif
