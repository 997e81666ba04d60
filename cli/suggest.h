/* SPDX-License-Identifier: Apache-2.0 */
/* "Did you mean": the nearest of a set of names to one that does not exist. */
#ifndef CLI_SUGGEST_H
#define CLI_SUGGEST_H

struct cli_suggestion {
	const char *input; /* what was typed */
	const char *best;  /* the nearest candidate so far; NULL: none is near */
	unsigned distance; /* of best */
};

/* Offer one candidate. It is taken where it is nearer than the best so far and near
 * enough: one edit for up to seven letters, two for more, or a name that begins with
 * three or more typed letters. Case does not count; two neighbours swapped are one
 * edit. */
void cli_suggestion_offer(struct cli_suggestion *suggestion, const char *candidate);

#endif
