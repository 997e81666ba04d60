/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interpreters that wait for their source: how they are started, and when one may serve a
 * call.
 *
 * One that has started has read files, and a call's own interpreter would have read them
 * later, perhaps with another outcome. So it starts without the workspace among the
 * places that it reads from, and serves a call only where that makes no difference:
 * docs/WARM.md has the rules.
 */
#ifndef SESSION_SPARE_CODE_H
#define SESSION_SPARE_CODE_H

#include <stdbool.h>

#include <husk/options.h>

#include "session/session.h"
#include "session/spares.h"

/* The kind that waits for a source of this language; SPARE_PROGRAM where none does. */
enum spare_kind spare_code_kind(const char *language);

/* Could an interpreter of this kind serve any call of the session? Its variables and
 * working directory decide. */
bool spare_code_allowed(const struct husk_session *session, enum spare_kind kind);

/* Could one serve this call of it? */
bool spare_code_fits(const struct husk_call *call, const char *code, size_t size);

/* Make slot->box. Errors: as box_park. */
int spare_code_park(struct husk_session *session, struct spare_slot *slot,
		    struct husk_error *err);

/* It waits: what it could not do is put into words. */
void spare_code_ready(const struct spare_slot *slot, char *trouble, size_t size);

/* Is what it has read still what a new one would read? */
bool spare_code_fresh(const struct husk_session *session, struct spare_slot *slot);

#endif
