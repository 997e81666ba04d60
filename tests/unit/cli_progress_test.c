/* SPDX-License-Identifier: Apache-2.0 */
/* What a pull looks like while it goes on, on screens of every size. */
#include "cli/progress.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char lines[CLI_PROGRESS_ROWS][CLI_PROGRESS_COLUMNS];

static struct cli_progress *fresh(enum cli_progress_style style, int fd)
{
	static struct cli_progress progress;

	memset(&progress, 0, sizeof(progress));
	cli_progress_init(&progress, style, fd);
	return &progress;
}

static struct husk_progress event(int32_t kind, int32_t layer, uint64_t done,
				  uint64_t total)
{
	static char digest[128];

	(void)snprintf(digest, sizeof(digest), "sha256:%02d3456789abcdef", layer);
	return (struct husk_progress){.size = sizeof(struct husk_progress),
				      .kind = kind,
				      .layer = layer,
				      .image = "docker.io/library/thing:latest",
				      .digest = digest,
				      .done = done,
				      .total = total};
}

static bool take(struct cli_progress *progress, int32_t kind, int32_t layer,
		 uint64_t done, uint64_t total, uint64_t now_us)
{
	struct husk_progress e = event(kind, layer, done, total);

	return cli_progress_take(progress, &e, now_us);
}

static void test_a_pull(void **state)
{
	struct cli_progress *progress = fresh(CLI_PROGRESS_BARS, -1);

	(void)state;
	assert_true(take(progress, HUSK_PROGRESS_RESOLVED, -1, 0, 3, 1));
	assert_true(take(progress, HUSK_PROGRESS_LAYER_FOUND, 0, 0, 0, 1));
	assert_true(take(progress, HUSK_PROGRESS_LAYER, 1, 0, 40 << 20, 1));
	assert_true(take(progress, HUSK_PROGRESS_WAITING, 2, 0, 0, 1));
	assert_false(take(progress, HUSK_PROGRESS_WAITING, 2, 0, 0, 1));
	assert_false(take(progress, HUSK_PROGRESS_LAYER, 1, 10 << 20, 40 << 20, 1000001));
	assert_int_equal(cli_progress_frame(progress, 24, 120, lines), 4);
	assert_string_equal(lines[0],
			    "docker.io/library/thing:latest: 1 of 3 layers, 10.0 MiB of "
			    "40.0 MiB, 10.0 MiB/s, 3 s left");
	assert_string_equal(lines[1], "  003456789abc  there already");
	assert_string_equal(lines[2],
			    "  013456789abc  [=======                       ] 10.0 MiB "
			    "of 40.0 MiB  10.0 MiB/s, 3 s left");
	assert_string_equal(lines[3], "  023456789abc  another process is fetching it");
	assert_false(take(progress, HUSK_PROGRESS_LAYER, 1, 40 << 20, 40 << 20, 2000001));
	(void)cli_progress_frame(progress, 24, 120, lines);
	assert_string_equal(lines[2], "  013456789abc  unpacking");
	assert_true(take(progress, HUSK_PROGRESS_LAYER_DONE, 1, 0, 0, 3000001));
	assert_true(take(progress, HUSK_PROGRESS_ASSEMBLING, -1, 0, 0, 3000001));
	(void)cli_progress_frame(progress, 24, 120, lines);
	assert_string_equal(lines[0], "docker.io/library/thing:latest: assembling");
	assert_string_equal(lines[2], "  013456789abc  done");
}

/* A frame leaves the last row free, and no line reaches the last column. */
static void test_small_screens(void **state)
{
	struct cli_progress *progress = fresh(CLI_PROGRESS_BARS, -1);

	(void)state;
	(void)take(progress, HUSK_PROGRESS_RESOLVED, -1, 0, 100, 1);
	for (int32_t i = 0; i < 100; i++)
		(void)take(progress,
			   i % 3 ? HUSK_PROGRESS_LAYER : HUSK_PROGRESS_LAYER_FOUND, i,
			   1234567, 98765432, 1);
	for (size_t rows = 0; rows < 90; rows++) {
		for (size_t columns = 0; columns < 400; columns += 7) {
			size_t count = cli_progress_frame(progress, rows, columns, lines);

			assert_true(count >= 1 && count <= CLI_PROGRESS_ROWS);
			assert_true(rows < 2 || count < rows);
			for (size_t i = 0; i < count; i++)
				assert_true(strlen(lines[i]) <
					    (columns > 0 ? columns : 1));
		}
	}
	/* Where there is no room for all, those that move are shown. */
	assert_int_equal(cli_progress_frame(progress, 6, 100, lines), 5);
	for (size_t i = 1; i < 5; i++)
		assert_non_null(strstr(lines[i], "MiB"));
}

/* What a registry says is never a command for the terminal, and a layer number that does
 * not exist is nobody's. */
static void test_hostile_events(void **state)
{
	struct cli_progress *progress = fresh(CLI_PROGRESS_BARS, -1);
	struct husk_progress e = event(HUSK_PROGRESS_RESOLVED, -1, 0, UINT64_MAX);

	(void)state;
	e.image = "a\x1b]0;x\a\n\xff";
	assert_true(cli_progress_take(progress, &e, 1));
	assert_int_equal(progress->layer_count, CLI_PROGRESS_LAYERS);
	e = event(HUSK_PROGRESS_LAYER, CLI_PROGRESS_LAYERS, 1, 2);
	assert_false(cli_progress_take(progress, &e, 1));
	e.layer = -5;
	assert_false(cli_progress_take(progress, &e, 1));
	e = event(HUSK_PROGRESS_LAYER, 0, UINT64_MAX, 1);
	e.digest = "\x1b[2J\x1b[2J\x1b[2J";
	(void)cli_progress_take(progress, &e, 1);
	e.kind = 99;
	assert_false(cli_progress_take(progress, &e, 1));
	for (size_t i = 0; i < cli_progress_frame(progress, 40, 200, lines); i++) {
		for (const char *at = lines[i]; *at; at++)
			assert_true((unsigned char)*at >= 0x20 && *at != 0x7f);
	}
}

static void test_bytes(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} rows[] = {
	    {0, "0 B"},
	    {1023, "1023 B"},
	    {1024, "1.0 KiB"},
	    {1536, "1.5 KiB"},
	    {(1 << 20) - 1, "1.0 MiB"},
	    {UINT64_C(5) << 30, "5.0 GiB"},
	    {UINT64_MAX, "16.0 EiB"},
	};
	char text[24];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cli_progress_bytes(text, sizeof(text), rows[i].bytes);
		assert_string_equal(text, rows[i].text);
	}
}

/* All that a style writes for one small pull. */
static void run_style(enum cli_progress_style style, char *text, size_t capacity)
{
	static const int32_t kinds[] = {HUSK_PROGRESS_LAYER, HUSK_PROGRESS_LAYER,
					HUSK_PROGRESS_LAYER_DONE};
	struct cli_progress *progress;
	struct husk_progress e;
	int pipe_fds[2];
	ssize_t n;

	assert_int_equal(pipe(pipe_fds), 0);
	progress = fresh(style, pipe_fds[1]);
	e = event(HUSK_PROGRESS_RESOLVED, -1, 0, 2);
	assert_int_equal(cli_progress_event(progress, &e), 0);
	e = event(HUSK_PROGRESS_LAYER_FOUND, 0, 0, 0);
	assert_int_equal(cli_progress_event(progress, &e), 0);
	for (uint64_t i = 0; i < 3; i++) {
		e = event(kinds[i], 1, i * 512, 1024);
		assert_int_equal(cli_progress_event(progress, &e), 0);
	}
	e = event(HUSK_PROGRESS_DONE, -1, 0, 0);
	assert_int_equal(cli_progress_event(progress, &e), 0);
	cli_progress_clear(progress);
	assert_int_equal(close(pipe_fds[1]), 0);
	n = read(pipe_fds[0], text, capacity - 1);
	assert_true(n >= 0);
	text[n] = '\0';
	assert_int_equal(close(pipe_fds[0]), 0);
}

static void test_styles(void **state)
{
	static const char clear[] = "\r\x1b[3A\x1b[J";
	char text[8192];

	(void)state;
	run_style(CLI_PROGRESS_NONE, text, sizeof(text));
	assert_string_equal(text, "");
	run_style(CLI_PROGRESS_BRIEF, text, sizeof(text));
	assert_string_equal(text, "husk: fetching docker.io/library/thing:latest\n");
	run_style(CLI_PROGRESS_LINES, text, sizeof(text));
	assert_string_equal(text, "docker.io/library/thing:latest: 2 layers\n"
				  "003456789abc: there already\n"
				  "013456789abc: fetching, 1.0 KiB\n"
				  "013456789abc: done, 1.0 KiB\n");
	/* The last thing is that what was drawn is taken away. */
	run_style(CLI_PROGRESS_BARS, text, sizeof(text));
	assert_true(strlen(text) > sizeof(clear));
	assert_string_equal(text + strlen(text) - strlen(clear), clear);
}

/* That nobody reads stderr any more does not end the pull. */
static void test_no_reader(void **state)
{
	struct cli_progress *progress = fresh(CLI_PROGRESS_LINES, -1);
	struct husk_progress e = event(HUSK_PROGRESS_RESOLVED, -1, 0, 2);

	(void)state;
	assert_int_equal(cli_progress_event(progress, &e), 0);
	assert_true(progress->failed);
	e = event(HUSK_PROGRESS_LAYER, 1, 0, 2);
	assert_int_equal(cli_progress_event(progress, &e), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_a_pull),	   cmocka_unit_test(test_small_screens),
	    cmocka_unit_test(test_hostile_events), cmocka_unit_test(test_bytes),
	    cmocka_unit_test(test_styles),	   cmocka_unit_test(test_no_reader),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
