/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/suggest.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

/* Longer names are no slip of the finger for any name that husk has. */
enum { MAX_NAME = 31 };

static unsigned char lower(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static unsigned min(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Insertions, deletions, replacements and swaps of neighbours that make b of a. */
static unsigned edit_distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
	unsigned cost[MAX_NAME + 1][MAX_NAME + 1];

	for (size_t i = 0; i <= a_size; i++)
		cost[i][0] = (unsigned)i;
	for (size_t j = 0; j <= b_size; j++)
		cost[0][j] = (unsigned)j;
	for (size_t i = 1; i <= a_size; i++) {
		for (size_t j = 1; j <= b_size; j++) {
			bool same = lower(a[i - 1]) == lower(b[j - 1]);
			unsigned best = cost[i - 1][j - 1] + (same ? 0 : 1);

			best = min(best, cost[i - 1][j] + 1);
			best = min(best, cost[i][j - 1] + 1);
			if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
			    lower(a[i - 2]) == lower(b[j - 1]))
				best = min(best, cost[i - 2][j - 2] + 1);
			cost[i][j] = best;
		}
	}
	return cost[a_size][b_size];
}

void cli_suggestion_offer(struct cli_suggestion *suggestion, const char *candidate)
{
	size_t typed = strlen(suggestion->input), size = strlen(candidate);
	unsigned distance, limit = typed <= 7 ? 1 : 2;

	if (typed < 2 || typed > MAX_NAME || size > MAX_NAME)
		return;
	distance = edit_distance(suggestion->input, typed, candidate, size);
	/* A beginning is a near miss however much is left to type. */
	if (typed >= 3 && distance > limit &&
	    strncasecmp(suggestion->input, candidate, typed) == 0)
		distance = limit;
	/* Two letters for a name of two is another name, not a slip. */
	if (distance > limit || distance >= typed)
		return;
	if (suggestion->best && distance >= suggestion->distance)
		return;
	suggestion->best = candidate;
	suggestion->distance = distance;
}
