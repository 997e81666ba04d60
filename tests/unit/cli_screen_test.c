/* SPDX-License-Identifier: Apache-2.0 */
/* What is undone on a terminal after a program that was ended in its midst. */
#include "cli/screen.h"
#include "cli/warning.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

static const struct {
	const char *shown, *undone;
} cases[] = {
    {"", ""},
    {"plain text\r\n", ""},
    /* A full-screen editor that was ended, and one that ended by itself. */
    {"\033[?1049h\033[?1h\033[?25l\033[2Jtext", "\033[?1l\033[?25h\033[?1049l"},
    {"\033[?1049h\033[?25ltext\033[?25h\033[?1049l", ""},
    /* Several in one sequence; the mouse; pasted text. */
    {"\033[?1000;1006;2004h", "\033[?1000l\033[?1006l\033[?2004l"},
    {"\033[?1000;1006h\033[?1006;1000l", ""},
    /* Colours. */
    {"\033[1;31mred", "\033[0m"},
    {"\033[31mred\033[0m", ""},
    {"\033[31mred\033[m", ""},
    {"\033[0;31mred", "\033[0m"},
    {"\033[38:2:1:2:3mred", "\033[0m"},
    /* A full reset undoes the modes. */
    {"\033[?1049h\033c", ""},
    {"\033[31;0m", "\033[0m"}, /* more than one number: looked at no further */
    {"\033[38;5;0mblack", "\033[0m"},
    /* What is no mode of ours, is not private, or is no sequence. */
    {"\033[?8l\033[25l\033[?h\033[?99999999999999999999h\033[1;2$r", "\0337\033[r\0338"},
    {"\033]0;title\007\033(B\033>\033%G\0337\0338", ""},
    /* Modes of ECMA-48; the keypad, sets of characters, margins, the cursor's form. */
    {"\033[4;20h\033[12l", "\033[4l\033[12h\033[20l"},
    {"\033[4h\033[4l\033[?4h", ""},
    {"\033=", "\033>"},
    {"\033=\033>", ""},
    {"\033(0", "\017\033(B"},
    {"text\016text", "\017\033(B"},
    {"\033%@", "\033%G"},
    {"\033[5;10r", "\0337\033[r\0338"},
    {"\033[5;10r\033[r", ""},
    {"\033[5 q", "\033[0 q"},
    {"\033[5 q\033[ q", ""},
    /* What keys send: xterm's resources, and kitty's stacks, one a screen. */
    {"\033[>4;2m", "\033[>4m"},
    {"\033[>4;2m\033[>4m", ""},
    {"\033[>1;3m\033[>4;1m", "\033[>1m\033[>4m"},
    {"\033[>1u", "\033[<1u"},
    {"\033[>1u\033[>3u\033[>5u\033[<u", "\033[<2u"},
    {"\033[>1u\033[<9u", ""},
    {"\033[>1u\033[?1049h\033[>1u", "\033[<1u\033[?1049l\033[<1u"},
    {"\033[?1049h\033[>1u\033[<u\033[?1049l", ""},
    {"\033[=5u", "\033[=0u"},
    {"\033[=5u\033[=0u", ""},
    /* Colours of the terminal itself, and a link that is not ended. */
    {"\033]4;1;#ff0000\a", "\033]104\033\\"},
    {"\033]10;red\033\\\033]11;blue\033\\", "\033]110\033\\\033]111\033\\"},
    {"\033]8;;http://example/\033\\text", "\033]8;;\033\\"},
    {"\033]8;;http://example/\atext\033]8;;\a", ""},
    {"\033]8;id=1;http://example/\atext\033]8;;\a", ""},
    {"\033]99999999999999999999;x\a", ""},
    {"\033\033\033[?25l", "\033[?25h"},
    /* What the window tells, and how lines are written. */
    {"\033[?1004h\033[?7l\033[?6h", "\033[?6l\033[?7h\033[?1004l"},
    /* The rest of these would be what is printed next. */
    {"\033]52;c;", "\x18"},
    {"\033]0;title\033\\", ""},
    {"\033P1$r\a text", "\x18"},
    {"\033[?25l\033[?1049", "\x18\033[?25h"},
    {"\033", "\x18"},
    {"\033_x\x18 text", ""},
    {"\033]x[?25l\a", ""},
    {"\033[?1;2;3;4;5;6;8;9;25l", ""}, /* more numbers than are looked at */
};

static void what_is_left_is_undone(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cli_screen screen = {0};
		char text[CLI_SCREEN_RESET];

		cli_screen_see(&screen, cases[i].shown, strlen(cases[i].shown));
		assert_int_equal(cli_screen_reset(&screen, text),
				 strlen(cases[i].undone));
		assert_string_equal(text, cases[i].undone);
	}
}

/* However the bytes are cut into pieces. */
static void pieces_make_no_difference(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cli_screen screen = {0};
		char text[CLI_SCREEN_RESET];

		for (const char *at = cases[i].shown; *at; at++)
			cli_screen_see(&screen, at, 1);
		(void)cli_screen_reset(&screen, text);
		assert_string_equal(text, cases[i].undone);
	}
}

/* What a terminal answers by typing. */
static void questions_are_seen(void **state)
{
	static const char *const asked[] = {"\033[c",
					    "\033[>c",
					    "\033[=c",
					    "\033[6n",
					    "\033[?6n",
					    "\033[14t",
					    "\033[x",
					    "\033[?1$p",
					    "\033[4$p",
					    "\033[?u",
					    "\033[>q",
					    "\033[?4m",
					    "\033]11;?\a",
					    "\033]4;1;?\a",
					    "\033P$qm\033\\",
					    "\033P+q544e\033\\",
					    "\033_Gi=31,a=q;AAAA\033\\",
					    "\033Z",
					    "a\005b",
					    "\033[c\033c"};
	static const char *const not_asked[] = {
	    "text",	      "\033[?1049h\033[2J", "\033]0;title\a",
	    "\033]11;blue\a", "\033[5 q",	    "\033[!p",
	    "\033[>1u",	      "\033[31m",	    "\033(B"};

	(void)state;
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		struct cli_screen screen = {0};

		cli_screen_see(&screen, asked[i], strlen(asked[i]));
		assert_true(screen.asked);
	}
	for (size_t i = 0; i < sizeof(not_asked) / sizeof(not_asked[0]); i++) {
		struct cli_screen screen = {0};

		cli_screen_see(&screen, not_asked[i], strlen(not_asked[i]));
		assert_false(screen.asked);
	}
}

static void everything_at_once_fits(void **state)
{
	static const char all[] = "\033[?1;5;6;9h\033[?7l\033[?1004;1015;1016h\033[?"
				  "1000h\033[?1002h\033[?1003h\033["
				  "?1005h\033[?1006h\033[?2004h\033[?25l\033[?47h"
				  "\033[?1047h\033[?1049h\033[4;20h\033[12l\033[?2026;"
				  "2031;2048h\033=\033(0\033%@\033[2;3r\033[5 "
				  "q\033[>0;1m\033[>1;1m\033[>2;1m\033[>3;1m\033[>4;1m"
				  "\033[>5;1m\033[>6;1m\033[>7;1m\033[>1u\033[=1u"
				  "\033]4;1;x\a\033]5;x\a\033]10;x\a\033]11;x\a\033]12;x"
				  "\a\033]13;x\a\033]14;x\a\033]17;x\a\033]19;x\a"
				  "\033]8;;x\a\033[31m\033]";
	struct cli_screen screen = {0};
	char text[CLI_SCREEN_RESET];
	size_t size;

	(void)state;
	cli_screen_see(&screen, all, sizeof(all) - 1);
	size = cli_screen_reset(&screen, text);
	assert_int_equal(size, strlen(text));
	assert_true(size < CLI_SCREEN_RESET - 1);
	assert_non_null(strstr(text, "\033[?1049l"));
	assert_string_equal(text + size - 4, "\033[0m");
}

static void warnings_come_in_time(void **state)
{
	(void)state;
	assert_int_equal(cli_warning_seconds(8 * 3600 * 1000), 60);
	assert_int_equal(cli_warning_seconds(600000), 60);
	assert_int_equal(cli_warning_seconds(300000), 30);
	assert_int_equal(cli_warning_seconds(10000), 1);
	assert_int_equal(cli_warning_seconds(9999), 0);
	assert_int_equal(cli_warning_seconds(1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_left_is_undone),
	    cmocka_unit_test(pieces_make_no_difference),
	    cmocka_unit_test(questions_are_seen),
	    cmocka_unit_test(everything_at_once_fits),
	    cmocka_unit_test(warnings_come_in_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
