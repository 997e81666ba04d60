/* SPDX-License-Identifier: Apache-2.0 */
/* The words for a start that failed. Init sends a step, an errno and a subject; here they
 * become a sentence, and the remedy for what usually stands behind it on such a host. */
#include <stdio.h>
#include <string.h>

#include "runtime/probe.h"
#include "runtime/run.h"

void failure_words(struct box_outcome *outcome)
{
	struct probe_facts facts;
	const char *hint, *subject = outcome->subject;
	char text[128];

	probe_facts_read(&facts);
	hint = probe_remedy(&facts, outcome->step, outcome->error);
	(void)snprintf(outcome->reason, sizeof(outcome->reason), "cannot %s%s%s: %s",
		       step_words(outcome->step), subject[0] ? " " : "", subject,
		       strerror_r(outcome->error, text, sizeof(text)));
	(void)snprintf(outcome->hint, sizeof(outcome->hint), "%s", hint ? hint : "");
}
