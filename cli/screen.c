/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/screen.h"

#include <stdio.h>
#include <string.h>

enum { PLAIN, ESCAPE, CSI, PRIVATE, STRING, COMMAND };

/* Both end a sequence or a string without effect. */
enum { CAN = 0x18, SUB = 0x1a };

/* In the order in which they are to be undone. */
static const struct {
	unsigned number;
	bool fresh; /* set on a fresh terminal */
} modes[CLI_SCREEN_MODES] = {
    {1, false}, /* cursor keys send other codes */
    {5, false}, /* black on white */
    {6, false}, /* the top is that of the margins */
    {7, true},	/* lines wrap */
    {9, false}, /* mouse reports, in dialects */
    {1000, false}, {1002, false}, {1003, false},
    {1004, false}, /* the window's focus is typed */
    {1005, false}, {1006, false}, {1015, false},
    {1016, false}, {2004, false}, /* pasted text is bracketed */
    {25, true},			  /* the cursor is seen */
    {47, false},		  /* the alternate screen, in three dialects */
    {1047, false}, {1049, false},
};

static void note_modes(struct cli_screen *screen, bool set)
{
	for (size_t i = 0; i < screen->count; i++) {
		for (size_t m = 0; m < CLI_SCREEN_MODES; m++) {
			if (modes[m].number == screen->numbers[i])
				screen->changed[m] = set != modes[m].fresh;
		}
	}
}

/* Select Graphic Rendition: without a number, or with 0 last, all is as at first. */
static void note_colours(struct cli_screen *screen)
{
	screen->coloured = screen->count > 0 && screen->numbers[screen->count - 1] != 0;
}

static void end_number(struct cli_screen *screen)
{
	if (screen->count < sizeof(screen->numbers) / sizeof(screen->numbers[0]))
		screen->numbers[screen->count++] = screen->number;
	screen->number = 0;
}

static void see_sequence(struct cli_screen *screen, char c)
{
	if (c >= '0' && c <= '9') {
		if (screen->number < 100000)
			screen->number = screen->number * 10 + (unsigned)(c - '0');
		return;
	}
	if (c == '?' && screen->state == CSI) {
		screen->state = PRIVATE;
		return;
	}
	end_number(screen);
	if (c == ';' || c == ':')
		return;
	if (screen->state == PRIVATE && (c == 'h' || c == 'l'))
		note_modes(screen, c == 'h');
	if (screen->state == CSI && c == 'm')
		note_colours(screen);
	screen->state = PLAIN;
}

/* A string (a title, the clipboard, ...) swallows what is printed until it ends. */
static int after_escape(char c)
{
	if (c == '[')
		return CSI;
	if (c == ']') /* OSC: of these alone a BEL is the end */
		return COMMAND;
	return c && strchr("P_^X", c) ? STRING : PLAIN;
}

static void see(struct cli_screen *screen, char c)
{
	if (c == '\033') {
		screen->state = ESCAPE;
	} else if (c == CAN || c == SUB || (screen->state == COMMAND && c == '\a')) {
		screen->state = PLAIN;
	} else if (screen->state == ESCAPE) {
		screen->state = after_escape(c);
		screen->count = 0;
		screen->number = 0;
		if (c == 'c') /* a full reset, RIS */
			memset(screen->changed, 0, sizeof(screen->changed));
	} else if (screen->state == CSI || screen->state == PRIVATE) {
		see_sequence(screen, c);
	}
}

void cli_screen_see(struct cli_screen *screen, const char *data, size_t size)
{
	const char *end = data + size;

	while (data < end) {
		if (screen->state == PLAIN) {
			data = memchr(data, '\033', (size_t)(end - data));
			if (!data)
				return;
		}
		see(screen, *data++);
	}
}

size_t cli_screen_reset(const struct cli_screen *screen, char text[CLI_SCREEN_RESET])
{
	size_t used = 0;

	/* Or what is printed next would be the rest of it. */
	if (screen->state != PLAIN)
		text[used++] = CAN;
	for (size_t m = 0; m < CLI_SCREEN_MODES; m++) {
		if (screen->changed[m])
			used += (size_t)snprintf(text + used, CLI_SCREEN_RESET - used,
						 "\033[?%u%c", modes[m].number,
						 modes[m].fresh ? 'h' : 'l');
	}
	if (screen->coloured)
		used += (size_t)snprintf(text + used, CLI_SCREEN_RESET - used, "\033[0m");
	text[used] = '\0';
	return used;
}
