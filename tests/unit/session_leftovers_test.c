/* SPDX-License-Identifier: Apache-2.0 */
/* What a start does about workspaces of the dead where many live: it looks at some, and
 * enough starts meet all. */
#include "session/workspace.h"

#include "tests/unit/session_tree.h"

#include <sys/file.h>
#include <sys/resource.h>

enum { CROWD = 300, STARTS = 5000 };

static unsigned looks;

/* In place of the C library's, for all that this program is linked with. */
int flock(int fd, int operation)
{
	looks++;
	return (int)syscall(SYS_flock, fd, operation);
}

/* base/ws is the directory that temporary ones are made in. */
struct place {
	struct tree tree;
	char temp[96];
};

static struct place place_open(void)
{
	struct place p = {.tree = tree_open()};

	(void)snprintf(p.temp, sizeof(p.temp), "%s/ws", p.tree.base);
	return p;
}

static size_t count_names(const struct place *p)
{
	return count_in(p->tree.base_fd, "ws");
}

static void allow_descriptors(void)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = limit.rlim_max < 4096 ? limit.rlim_max : 4096;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* Workspaces that this process holds, and directories with such names that nobody does.
 */
static void make_crowd(struct place *p, struct workspace *living, size_t count, int dead)
{
	char name[32], file[40];

	for (size_t i = 0; i < count; i++) {
		living[i] = WORKSPACE_INIT;
		assert_int_equal(workspace_open(NULL, p->temp, &living[i], NULL), 0);
	}
	for (int i = 0; i < dead; i++) {
		(void)snprintf(name, sizeof(name), "husk-ws-dead%c%caaaaaa", 'a' + i / 26,
			       'a' + i % 26);
		make_dir(p->tree.ws, name);
		(void)snprintf(file, sizeof(file), "%s/f", name);
		if (i % 2 == 0)
			put(p->tree.ws, file, "x");
	}
}

static void end_crowd(struct place *p, struct workspace *living, size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert_int_equal(workspace_deinit(&living[i], NULL), 0);
	assert_int_equal(count_names(p), 0);
	tree_close(&p->tree);
}

/* As the first call of a process does. */
static bool start_once(struct place *p)
{
	struct sample found;

	if (!workspace_look(p->temp, &found))
		return false;
	workspace_remove_found(p->temp, &found);
	return true;
}

static void a_start_looks_at_few_of_many(void **state)
{
	static struct workspace living[CROWD];
	struct place p = place_open();
	(void)state;

	make_crowd(&p, living, CROWD, 0);
	for (int i = 0; i < 100; i++) {
		looks = 0;
		assert_false(start_once(&p));
		assert_int_equal(looks, SAMPLE_NAMES);
	}
	looks = 0;
	assert_int_equal(workspace_sweep(p.temp), 0);
	assert_true(looks >= CROWD); /* who asks for all has all looked at */
	end_crowd(&p, living, CROWD);
}

static void starts_meet_all_of_the_dead(void **state)
{
	static struct workspace living[CROWD];
	struct place p = place_open();
	int starts = 0;
	(void)state;

	make_crowd(&p, living, CROWD, 10);
	while (count_names(&p) > CROWD && starts < STARTS) {
		looks = 0;
		(void)start_once(&p);
		/* Two for each dead one; after a round that found some there is another.
		 */
		assert_true(looks <= SAMPLE_NAMES * 12);
		starts++;
	}
	assert_int_equal(count_names(&p), CROWD);
	assert_true(starts > 1);
	end_crowd(&p, living, CROWD);
}

/* Among few that live, and however many they are themselves. */
static void one_start_removes_all_of_the_dead(void **state)
{
	static const struct {
		size_t living;
		int dead;
	} crowds[] = {{0, 1}, {20, 10}, {0, SAMPLE_NAMES}, {0, 200}};
	struct workspace living[20];
	(void)state;

	for (size_t i = 0; i < sizeof(crowds) / sizeof(crowds[0]); i++) {
		struct place p = place_open();

		make_crowd(&p, living, crowds[i].living, crowds[i].dead);
		assert_true(start_once(&p));
		assert_int_equal(count_names(&p), crowds[i].living);
		end_crowd(&p, living, crowds[i].living);
	}
}

int main(void)
{
	const struct CMUnitTest session_leftovers[] = {
	    cmocka_unit_test(a_start_looks_at_few_of_many),
	    cmocka_unit_test(starts_meet_all_of_the_dead),
	    cmocka_unit_test(one_start_removes_all_of_the_dead),
	};

	allow_descriptors();
	return cmocka_run_group_tests(session_leftovers, NULL, NULL);
}
