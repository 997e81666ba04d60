/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/screen.h"

#include "cli/screen_modes.h"

#include <string.h>

enum { PLAIN, ESCAPE, CHARSET, CSI, STRING, COMMAND };

/* CAN and SUB end a sequence or a string without effect; SO turns to the second set of
 * characters; on ENQ the terminal types its answerback. */
enum { ENQ = 0x05, SO = 0x0e, CAN = 0x18, SUB = 0x1a };

/* How OSC numbers and what resets them correspond: 100 more. */
enum { COMMAND_LINK = 8, RESET_OFFSET = 100 };

static void note_modes(struct cli_screen *screen, bool set)
{
	for (size_t i = 0; i < screen->count; i++) {
		for (size_t m = 0; m < CLI_SCREEN_MODES; m++) {
			if (screen_modes[m].prefix == screen->prefix &&
			    screen_modes[m].number == screen->numbers[i])
				screen->changed[m] = set != screen_modes[m].fresh;
		}
	}
}

/* kitty's protocol: each screen has a stack of its own. */
static void note_keyboard(struct cli_screen *screen)
{
	unsigned *pushed = &screen->keyboards[screen_is_alternate(screen)];
	unsigned popped = screen->numbers[0] > 0 ? screen->numbers[0] : 1;

	switch (screen->prefix) {
	case '>':
		*pushed += 1;
		break;
	case '<':
		*pushed -= popped < *pushed ? popped : *pushed;
		break;
	case '=':
		screen->keyboard_set = screen->numbers[0] != 0;
		break;
	default:
		screen->asked |= screen->prefix == '?';
		break;
	}
}

/* Select Graphic Rendition: without a number, or with a single 0, all is as at first. */
static void note_colours(struct cli_screen *screen)
{
	unsigned resource = screen->numbers[0];

	if (screen->prefix == 0)
		screen->coloured = screen->count > 1 || screen->numbers[0] != 0;
	else if (screen->prefix == '>' && resource < 8 && screen->count > 1)
		screen->key_resources |= 1U << resource;
	else if (screen->prefix == '>' && resource < 8)
		screen->key_resources &= ~(1U << resource);
	else
		screen->asked |= screen->prefix == '?';
}

/* The last byte of a CSI sequence. */
static void end_sequence(struct cli_screen *screen, char last)
{
	switch (last) {
	case 'h':
	case 'l':
		note_modes(screen, last == 'h');
		break;
	case 'm':
		note_colours(screen);
		break;
	case 'u':
		note_keyboard(screen);
		break;
	case 'r':
		if (screen->prefix == 0)
			screen->margins = screen->count > 1 || screen->numbers[0] > 0;
		break;
	case 'q':
		if (screen->intermediate == ' ')
			screen->cursor = screen->numbers[0] > 0;
		screen->asked |= screen->prefix == '>';
		break;
	case 'p':
		screen->asked |= screen->intermediate == '$';
		break;
	case 'c':
	case 'n':
	case 't':
	case 'x':
		screen->asked = true;
		break;
	default:
		break;
	}
}

static void see_sequence(struct cli_screen *screen, char c)
{
	if (c >= '0' && c <= '9') {
		if (screen->number < 100000)
			screen->number = screen->number * 10 + (unsigned)(c - '0');
		return;
	}
	if (c >= '<' && c <= '?') {
		screen->prefix = c;
		return;
	}
	if (c >= ' ' && c <= '/') {
		screen->intermediate = c;
		return;
	}
	if (screen->count < sizeof(screen->numbers) / sizeof(screen->numbers[0]))
		screen->numbers[screen->count++] = screen->number;
	screen->number = 0;
	if (c == ';' || c == ':')
		return;
	end_sequence(screen, c);
	screen->state = PLAIN;
}

/* OSC: a number and what is to be set, or a question mark in its place. */
static void see_command(struct cli_screen *screen, char c)
{
	unsigned kind = screen->number;

	if (!screen->rest && c >= '0' && c <= '9') {
		if (kind < 100000)
			screen->number = kind * 10 + (unsigned)(c - '0');
		return;
	}
	screen->rest = true;
	if (c == '?')
		screen->asked = true;
	if (kind == COMMAND_LINK && c != ';')
		screen->link = true;
	if (kind > COMMAND_LINK + RESET_OFFSET || kind >= 8 * sizeof(screen->palette))
		return;
	if (SCREEN_PALETTE & (1U << kind))
		screen->palette |= 1U << kind;
}

/* A full reset, RIS. What the terminal was asked it answers all the same. */
static void forget(struct cli_screen *screen)
{
	bool asked = screen->asked;

	memset(screen, 0, sizeof(*screen));
	screen->asked = asked;
}

static void begin_string(struct cli_screen *screen, char c)
{
	screen->state = c == ']' ? COMMAND : STRING; /* of OSC alone a BEL is the end */
	screen->rest = false;
	/* DCS and APC ask for settings and pictures, and are answered. */
	screen->asked |= c == 'P' || c == '_';
	if (c == ']')
		screen->link = false;
}

static void see_escape(struct cli_screen *screen, char c)
{
	screen->state = PLAIN;
	screen->number = 0;
	screen->count = 0;
	screen->prefix = screen->intermediate = 0;
	memset(screen->numbers, 0, sizeof(screen->numbers));
	if (c == '[')
		screen->state = CSI;
	else if (c == '\0')
		return;
	else if (strchr("]P_^X", c))
		begin_string(screen, c);
	else if (c >= ' ' && c <= '/') {
		screen->intermediate = c;
		screen->state = CHARSET;
	} else if (c == '=' || c == '>')
		screen->keypad = c == '=';
	else if (c == 'c')
		forget(screen);
	else if (c == 'Z')
		screen->asked = true;
}

/* ESC ( B is ASCII, ESC % G is UTF-8. */
static void see_charset(struct cli_screen *screen, char c)
{
	if (strchr("()*+", screen->intermediate))
		screen->charset = screen->charset || c != 'B';
	else if (screen->intermediate == '%')
		screen->coding = c != 'G';
	screen->state = PLAIN;
}

static void see(struct cli_screen *screen, char c)
{
	if (c == '\033')
		screen->state = ESCAPE;
	else if (c == CAN || c == SUB || (screen->state == COMMAND && c == '\a'))
		screen->state = PLAIN;
	else if (screen->state == ESCAPE)
		see_escape(screen, c);
	else if (screen->state == CHARSET)
		see_charset(screen, c);
	else if (screen->state == CSI)
		see_sequence(screen, c);
	else if (screen->state == COMMAND)
		see_command(screen, c);
}

/* Text without a sequence: what of it is more than text. */
static void see_plain(struct cli_screen *screen, const char *data, size_t size)
{
	screen->charset |= memchr(data, SO, size) != NULL;
	screen->asked |= memchr(data, ENQ, size) != NULL;
}

void cli_screen_see(struct cli_screen *screen, const char *data, size_t size)
{
	const char *end = data + size, *next;

	while (data < end) {
		if (screen->state == PLAIN) {
			next = memchr(data, '\033', (size_t)(end - data));
			see_plain(screen, data, (size_t)((next ? next : end) - data));
			if (!next)
				return;
			data = next;
		}
		see(screen, *data++);
	}
}
