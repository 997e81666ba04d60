/* SPDX-License-Identifier: Apache-2.0 */
/* What undoes that which cli/screen.c has seen. */
#include "cli/screen_modes.h"

#include <stdio.h>
#include <string.h>

enum { CAN = 0x18 };

const struct screen_mode screen_modes[CLI_SCREEN_MODES] = {
    {4, 0, false},   /* what is written moves the rest of the line */
    {12, 0, true},   /* off: keys are shown by the terminal itself */
    {20, 0, false},  /* Enter types two characters */
    {1, '?', false}, /* cursor keys send other codes */
    {5, '?', false}, /* black on white */
    {6, '?', false}, /* the top is that of the margins */
    {7, '?', true},  /* lines wrap */
    {9, '?', false}, /* mouse reports, in dialects */
    {1000, '?', false}, {1002, '?', false}, {1003, '?', false},
    {1004, '?', false}, /* the window's focus is typed */
    {1005, '?', false}, {1006, '?', false}, {1015, '?', false},
    {1016, '?', false}, {2004, '?', false}, /* pasted text is bracketed */
    {2026, '?', false},			    /* nothing is drawn until it is reset */
    {2031, '?', false}, {2048, '?', false}, /* other colours, sizes are typed */
    {25, '?', true},			    /* the cursor is seen */
    {47, '?', false},	{1047, '?', false}, {1049, '?', false}, /* in three dialects */
};

unsigned screen_is_alternate(const struct cli_screen *screen)
{
	for (size_t m = CLI_SCREEN_MODES - 3; m < CLI_SCREEN_MODES; m++) {
		if (screen->changed[m])
			return 1;
	}
	return 0;
}

struct text {
	char *at;
	size_t used;
};

static void add(struct text *text, const char *more)
{
	size_t size = strlen(more);

	if (size >= CLI_SCREEN_RESET - text->used)
		return;
	memcpy(text->at + text->used, more, size + 1);
	text->used += size;
}

static void add_number(struct text *text, const char *before, unsigned number,
		       const char *after)
{
	char more[48];

	(void)snprintf(more, sizeof(more), "%s%u%s", before, number, after);
	add(text, more);
}

static void reset_keyboard(struct text *text, unsigned pushed)
{
	if (pushed > 0)
		add_number(text, "\033[<", pushed, "u");
}

static void reset_modes(struct text *text, const struct cli_screen *screen)
{
	for (size_t m = 0; m < CLI_SCREEN_MODES; m++) {
		if (screen->changed[m])
			add_number(text, screen_modes[m].prefix ? "\033[?" : "\033[",
				   screen_modes[m].number,
				   screen_modes[m].fresh ? "h" : "l");
	}
}

static void reset_colours(struct text *text, const struct cli_screen *screen)
{
	if (screen->link)
		add(text, "\033]8;;\033\\");
	for (unsigned i = 0; i < 32; i++) {
		if (screen->palette & (1U << i))
			add_number(text, "\033]", 100 + i, "\033\\");
	}
	if (screen->coloured)
		add(text, "\033[0m");
}

size_t cli_screen_reset(const struct cli_screen *screen, char text[CLI_SCREEN_RESET])
{
	static const char can[] = {CAN, '\0'};
	struct text reset = {text, 0};

	text[0] = '\0';
	/* Or what is printed next would be the rest of it. */
	if (screen->state != 0)
		add(&reset, can);
	if (screen->coding)
		add(&reset, "\033%G");
	if (screen->charset)
		add(&reset, "\017\033(B");
	reset_keyboard(&reset, screen->keyboards[1]);
	reset_modes(&reset, screen);
	reset_keyboard(&reset, screen->keyboards[0]);
	if (screen->keyboard_set)
		add(&reset, "\033[=0u");
	for (unsigned i = 0; i < 8; i++) {
		if (screen->key_resources & (1U << i))
			add_number(&reset, "\033[>", i, "m");
	}
	if (screen->keypad)
		add(&reset, "\033>");
	if (screen->margins) /* it also moves the cursor */
		add(&reset, "\0337\033[r\0338");
	if (screen->cursor)
		add(&reset, "\033[0 q");
	reset_colours(&reset, screen);
	return reset.used;
}
