/* SPDX-License-Identifier: Apache-2.0 */
/* For the tests of the file API: a workspace in a tree of its own, and short ways to
 * write, read and count. */
#ifndef TESTS_UNIT_SESSION_PLACE_H
#define TESTS_UNIT_SESSION_PLACE_H

#include "session/files.h"
#include "session/listing.h"

#include "tests/unit/session_tree.h"

/* A tree with base/ws as a workspace that the caller has given. */
struct place {
	struct tree tree;
	struct workspace ws;
	struct husk_error err;
};

static inline struct workspace as_workspace(const struct tree *tree)
{
	struct workspace ws = WORKSPACE_INIT;
	char path[96];

	(void)snprintf(path, sizeof(path), "%s/ws", tree->base);
	ws.fd = tree->ws;
	ws.path = strdup(path);
	return ws;
}

static inline struct place place_open(void)
{
	struct place place = {.tree = tree_open()};

	place.ws = as_workspace(&place.tree);
	return place;
}

static inline void place_close(struct place *place)
{
	tree_close(&place->tree);
	free(place->ws.path);
}

static inline int write_text(struct place *p, const char *path, const char *text)
{
	p->err = (struct husk_error){0};
	return files_write(&p->ws, path, text, strlen(text), &p->err);
}

/* Read a small file; the code, or the size. */
static inline int read_text(struct place *p, const char *path, char text[256])
{
	void *data = NULL;
	size_t size = 0;
	int r;

	p->err = (struct husk_error){0};
	r = files_read(&p->ws, path, 255, &data, &size, &p->err);
	if (r < 0)
		return r;
	memcpy(text, data, size + 1);
	free(data);
	return (int)size;
}

static inline void assert_text(struct place *p, const char *path, const char *text)
{
	char found[256];

	assert_int_equal(read_text(p, path, found), (int)strlen(text));
	assert_string_equal(found, text);
}

static inline size_t count_entries(int dir)
{
	struct husk_listing *listing = NULL;
	struct workspace ws = {.fd = dir, .path = (char[]){"/nowhere"}};
	size_t count;

	assert_int_equal(files_list(&ws, NULL, &listing, NULL), 0);
	count = husk_listing_count(listing);
	husk_listing_free(listing);
	return count;
}

#endif
