/* SPDX-License-Identifier: Apache-2.0 */
/* The workspace, the file API and the diff with every allocation failing once: each gives
 * HUSK_E_MEMORY or the right answer, closes what it opened and nothing else, and leaves
 * the workspace whole. */
#include "session/diff.h"

#include "session/files.h"
#include "session/listing.h"

#include "tests/unit/failing_malloc.h"
#include "tests/unit/session_tree.h"
#include "tests/unit/skipping.h"

#if !FAILING_MALLOC

/* A sanitizer has taken the place of malloc already. */
static void every_allocation_fails_once(void **state)
{
	(void)state;
	skip_because("a sanitizer has taken the place of malloc already");
}

#else

enum { LEVELS = 40 };

/* The call may fail for want of memory, and for nothing else. */
#define ALLOCATING(call)                                     \
	({                                                   \
		int r_;                                      \
                                                             \
		failing = true;                              \
		r_ = (call);                                 \
		failing = false;                             \
		assert_true(r_ == 0 || r_ == HUSK_E_MEMORY); \
		r_;                                          \
	})

/* A file on each of LEVELS levels, so that the arrays must grow. */
static void fill(const struct workspace *ws)
{
	char path[LEVELS * 4 + 2];
	size_t used = 0;

	for (int i = 0; i < LEVELS; i++) {
		used += (size_t)snprintf(path + used, sizeof(path) - used, "l%02d/", i);
		(void)snprintf(path + used, sizeof(path) - used, "f");
		assert_int_equal(files_write(ws, path, "x", 1, NULL), 0);
	}
}

static void use_files(const struct workspace *ws)
{
	struct husk_listing *listing = NULL;
	void *data = NULL;
	size_t size = 0;

	if (ALLOCATING(files_write(ws, "a/b/c", "12345", 5, NULL)) < 0) {
		assert_false(exists(ws->fd, "a"));
		assert_int_equal(files_write(ws, "a/b/c", "12345", 5, NULL), 0);
	}
	if (ALLOCATING(files_read(ws, "a/b/c", 0, &data, &size, NULL)) == 0)
		assert_int_equal(size, 5);
	free(data);
	if (ALLOCATING(files_list(ws, "", &listing, NULL)) == 0)
		assert_int_equal(husk_listing_count(listing), LEVELS + 1);
	husk_listing_free(listing);
}

static void use_diff(const struct workspace *ws)
{
	struct diff diff;

	diff_init(&diff, ws->fd);
	for (int i = 0; i < 2; i++) {
		struct diff_call call;
		struct husk_listing *changes = NULL;

		if (ALLOCATING(diff_begin(&diff, &call, NULL)) < 0)
			continue;
		put(ws->fd, i ? "second" : "first", "1");
		put(ws->fd, "l00/f", i ? "22" : "333");
		if (ALLOCATING(diff_end(&diff, &call, &changes, NULL)) == 0)
			assert_int_equal(husk_listing_count(changes), 2);
		husk_listing_free(changes);
	}
	diff_deinit(&diff);
}

/* One round. A workspace that could not be removed for want of memory is swept. */
static void use_all(const char *temp)
{
	struct workspace ws = WORKSPACE_INIT;
	struct husk_error err = {0};
	int r;

	if (ALLOCATING(workspace_open(NULL, temp, &ws, NULL)) == 0) {
		fill(&ws);
		use_files(&ws);
		use_diff(&ws);
	}
	failing = true;
	r = workspace_deinit(&ws, &err);
	failing = false;
	assert_true(r == 0 || err.sys_errno == ENOMEM);
	assert_int_equal(workspace_sweep(temp), r == 0 ? 0 : 1);
}

static void every_allocation_fails_once(void **state)
{
	struct tree tree = tree_open_large();
	unsigned long open;
	char temp[96];
	(void)state;

	(void)snprintf(temp, sizeof(temp), "%s/ws", tree.base);
	use_all(temp); /* what is allocated once for good */
	open = open_descriptors();
	for (fail_at = 1;; fail_at++) {
		allocation = 0;
		use_all(temp);
		assert_true(open == open_descriptors());
		if (allocation < fail_at)
			break;
	}
	assert_true(fail_at > 50);
	tree_close(&tree);
}

#endif

int main(void)
{
	const struct CMUnitTest session_memory[] = {
	    cmocka_unit_test(every_allocation_fails_once),
	};

	return cmocka_run_group_tests(session_memory, NULL, NULL);
}
