/* SPDX-License-Identifier: Apache-2.0 */
/* The workspace that calls work on, and its replacement by a fresh one. */
#include "cli/mcp.h"

#include "cli/config.h"
#include "cli/say.h"

#include <stdlib.h>

/* Two streams, each shown twice in an answer, and a byte may become six characters: what
 * is kept of a stream must fit into one message. */
static const uint64_t OUTPUT_MAX = 256 << 10;

struct mcp_place *mcp_place_take(struct mcp *mcp)
{
	struct mcp_place *place;

	pthread_mutex_lock(&mcp->lock);
	place = mcp->place;
	if (place)
		place->users++;
	pthread_mutex_unlock(&mcp->lock);
	return place;
}

/* Calls run all the same, so it is no part of their answers: once, for the log. */
static void tell_trouble(struct mcp *mcp, const struct mcp_place *place)
{
	struct husk_spares spares = {.size = sizeof(spares)};

	if (mcp->settings->box.prewarm == 0 || mcp->told)
		return;
	husk_session_spares(place->session, &spares);
	if (spares.trouble[0] != '\0' && !atomic_exchange(&mcp->told, true))
		cli_say("spares", spares.trouble, "calls run without them");
}

void mcp_place_leave(struct mcp *mcp, struct mcp_place *place)
{
	unsigned users;

	if (!place)
		return;
	tell_trouble(mcp, place);
	pthread_mutex_lock(&mcp->lock);
	users = --place->users;
	pthread_mutex_unlock(&mcp->lock);
	if (users > 0)
		return;
	(void)husk_session_close(place->session);
	free(place);
}

int mcp_place_open(struct mcp *mcp, struct husk_error *err)
{
	struct husk_options *box = &mcp->settings->box;
	struct mcp_place *place = calloc(1, sizeof(*place)), *old;
	int r;

	if (!place)
		return cli_error_memory(err, "mcp");
	if (box->max_output_bytes == 0 || box->max_output_bytes > OUTPUT_MAX)
		box->max_output_bytes = OUTPUT_MAX;
	r = husk_session_open(box, &place->session, err);
	if (r < 0) {
		cli_config_blame(mcp->settings, err);
		free(place);
		return r;
	}
	place->users = 1; /* of the server itself */
	pthread_mutex_lock(&mcp->lock);
	old = mcp->place;
	mcp->place = place;
	pthread_mutex_unlock(&mcp->lock);
	mcp_place_leave(mcp, old);
	return 0;
}
