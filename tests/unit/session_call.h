/* SPDX-License-Identifier: Apache-2.0 */
/* For the tests of the diff: a "call" is whatever a test does between begin and end. */
#ifndef TESTS_UNIT_SESSION_CALL_H
#define TESTS_UNIT_SESSION_CALL_H

#include "session/diff.h"
#include "session/listing.h"

#include "tests/unit/session_tree.h"

struct call {
	struct tree tree;
	struct diff diff;
	struct diff_call call;
	struct husk_listing *changes;
};

static inline void call_open(struct call *c)
{
	*c = (struct call){.tree = tree_open()};
	diff_init(&c->diff, c->tree.ws);
}

static inline void begin(struct call *c)
{
	assert_int_equal(diff_begin(&c->diff, &c->call, NULL), 0);
}

static inline void end(struct call *c)
{
	husk_listing_free(c->changes);
	c->changes = NULL;
	assert_int_equal(diff_end(&c->diff, &c->call, &c->changes, NULL), 0);
	assert_null(c->call.before);
}

static inline void call_close(struct call *c)
{
	husk_listing_free(c->changes);
	diff_deinit(&c->diff);
	tree_close(&c->tree);
}

/* The changes as text: "+a *b -c", in their order. */
static const char *text_of(const struct husk_listing *changes, char text[4096])
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < changes->count && used < 4000; i++) {
		static const char signs[] = "?+*-";
		int n = snprintf(text + used, 4096 - used, "%s%c%s", i ? " " : "",
				 signs[listing_at(changes, i)->change],
				 husk_listing_path(changes, i));

		assert_true(n > 0);
		used += (size_t)n;
	}
	return text;
}

static inline void assert_changes(struct call *c, const char *want)
{
	char text[4096];

	end(c);
	assert_string_equal(text_of(c->changes, text), want);
}

#endif
