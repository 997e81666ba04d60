/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/denials.h"

#include "cli/escape.h"
#include "cli/say.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The subject is the box's own words: nothing in it may steer the terminal or be taken
 * for a line of ours. */
static void put_what(FILE *out, const husk_result *result, size_t index)
{
	const char *call = husk_result_denial_call(result, index);
	const char *subject = husk_result_denial_subject(result, index);
	char shown[1100];

	(void)cli_escape(shown, sizeof(shown), subject, strlen(subject),
			 CLI_ESCAPE_EXACT);
	(void)fprintf(out, "%s%s%s", call, call[0] && shown[0] ? " " : "", shown);
}

static void put_row(FILE *out, const husk_result *result, size_t index)
{
	const char *loosen = husk_result_denial_loosen(result, index);

	(void)fprintf(out, "%-12s %-12s %7" PRIu64 "  ",
		      husk_result_denial_layer(result, index),
		      husk_result_denial_answer(result, index),
		      husk_result_denial_times(result, index));
	put_what(out, result, index);
	if (loosen)
		(void)fprintf(out, "\n%36sloosened by: %s\n", "", loosen);
	else
		(void)fprintf(out, "\n%36snothing loosens this\n", "");
}

static void put_all(FILE *out, const husk_result *result)
{
	size_t count = husk_result_denial_count(result);

	if (count == 0) {
		(void)fprintf(out, "husk: nothing was refused\n");
		return;
	}
	(void)fprintf(out, "%-12s %-12s %7s  %s\n", "LAYER", "ANSWER", "TIMES", "WHAT");
	for (size_t i = 0; i < count; i++)
		put_row(out, result, i);
	if (!husk_result_denials_complete(result))
		(void)fprintf(out, "husk: there were more kinds than are kept\n");
}

void cli_denials_say(const husk_result *result)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	put_all(out, result);
	if (fclose(out) == 0)
		(void)cli_write_all(STDERR_FILENO, text, size);
	free(text);
}
