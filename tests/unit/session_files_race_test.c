/* SPDX-License-Identifier: Apache-2.0 */
/* The file API while others write, swap and fork. */
#include "tests/unit/session_place.h"

#include <pthread.h>
#include <stdatomic.h>

struct changer {
	int fd;
	atomic_bool stop;
};

/* Let a file grow without end, and shrink to nothing now and then. */
static void *grow(void *arg)
{
	struct changer *changer = arg;
	static char block[8192];
	unsigned long turns = 0;

	memset(block, 'x', sizeof(block));
	while (!atomic_load(&changer->stop)) {
		if (write(changer->fd, block, sizeof(block)) < 0)
			break;
		if (++turns % 100 == 0 && ftruncate(changer->fd, 0) < 0)
			break;
	}
	return NULL;
}

static void a_file_may_change_while_it_is_read(void **state)
{
	struct place p = place_open();
	struct changer changer = {
	    .fd =
		openat(p.tree.ws, "log", O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0644),
	};
	pthread_t thread;
	(void)state;

	assert_int_equal(pthread_create(&thread, NULL, grow, &changer), 0);
	for (int i = 0; i < 500; i++) {
		void *data = NULL;
		size_t size = 0;
		int r = files_read(&p.ws, "log", 400000, &data, &size, &p.err);

		assert_true(r == 0 || r == HUSK_E_TOO_BIG);
		assert_true(size <= 400000);
		for (size_t at = 0; r == 0 && at < size; at++)
			assert_true(((char *)data)[at] == 'x');
		free(data);
	}
	atomic_store(&changer.stop, true);
	(void)pthread_join(thread, NULL);
	(void)close(changer.fd);
	place_close(&p);
}

/* Readers see one content or the other, whole. */
static void *read_whole(void *arg)
{
	struct place *p = arg;

	for (int i = 0; i < 1000; i++) {
		void *data = NULL;
		size_t size = 0;

		if (files_read(&p->ws, "f", 0, &data, &size, NULL) < 0)
			return p;
		if (size != (((char *)data)[0] == 'a' ? 100000 : 50000) ||
		    memchr(data, ((char *)data)[0] == 'a' ? 'b' : 'a', size))
			return p;
		free(data);
	}
	return NULL;
}

static void writing_is_whole_or_not_at_all(void **state)
{
	static char a[100000], b[50000];
	struct place p = place_open();
	pthread_t thread;
	void *wrong = NULL;
	(void)state;

	memset(a, 'a', sizeof(a));
	memset(b, 'b', sizeof(b));
	assert_int_equal(files_write(&p.ws, "f", a, sizeof(a), NULL), 0);
	assert_int_equal(pthread_create(&thread, NULL, read_whole, &p), 0);
	for (int i = 0; i < 300; i++) {
		assert_int_equal(files_write(&p.ws, "f", b, sizeof(b), NULL), 0);
		assert_int_equal(files_write(&p.ws, "f", a, sizeof(a), NULL), 0);
	}
	(void)pthread_join(thread, &wrong);
	assert_null(wrong);
	assert_int_equal(count_entries(p.tree.ws), 1);
	place_close(&p);
}

/* -- races ------------------------------------------------------------------------------
 */

struct swapper {
	int ws;
	atomic_bool stop;
	atomic_ulong turns;
};

/* d is a directory, then a link to K, then a link to /proc/self, and so on; d/e too. */
static void *swap(void *arg)
{
	static const char *const targets[] = {"../K", "/proc/self", "..", "."};
	struct swapper *swapper = arg;
	const int ws = swapper->ws;
	unsigned long failed = 0, turn = 0; /* failures are the other side's work */

	while (!atomic_load(&swapper->stop)) {
		int d;

		failed += mkdirat(ws, "real", 0755) < 0;
		d = openat(ws, "real", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		failed += mkdirat(d, "e", 0755) < 0;
		failed += symlinkat("../../K/sub", d, "l") < 0;
		failed += symlinkat(targets[turn % 4], ws, "link") < 0;
		failed += renameat2(ws, "real", ws, "d", RENAME_EXCHANGE) < 0 &&
			  renameat(ws, "real", ws, "d") < 0;
		failed += renameat2(d, "e", d, "l", RENAME_EXCHANGE) < 0;
		failed += renameat2(ws, "link", ws, "d", RENAME_EXCHANGE) < 0;
		failed += renameat2(ws, "link", ws, "real", RENAME_NOREPLACE) < 0;
		failed += unlinkat(ws, "link", 0) < 0;
		(void)close(d);
		atomic_store(&swapper->turns, ++turn);
	}
	return failed ? swapper : NULL;
}

static void look_at_everything(struct place *p, unsigned int turn)
{
	static const char *const paths[] = {"d/secret",	 "d/f",	       "d/environ",
					    "d/e/deep",	 "d/K/secret", "d/e/new/x",
					    "d/sub/deep"};
	const char *path = paths[turn % 7];
	struct husk_listing *listing = NULL;
	void *data = NULL;
	size_t size = 0;

	switch (turn % 3) {
	case 0:
		(void)files_write(&p->ws, path, "inside", 6, NULL);
		break;
	case 1:
		if (files_read(&p->ws, path, 0, &data, &size, NULL) == 0)
			assert_string_equal(data, "inside");
		free(data);
		break;
	default:
		if (files_list(&p->ws, turn % 2 ? "d" : "", &listing, NULL) < 0)
			break;
		for (size_t i = 0; i < husk_listing_count(listing); i++)
			assert_int_equal(husk_listing_size(listing, i), 6);
		husk_listing_free(listing);
	}
}

static void a_race_never_leaves_the_workspace(void **state)
{
	struct place p = place_open();
	struct canary canary = canary_look(&p.tree);
	struct swapper swapper = {.ws = p.tree.ws};
	struct remove_report report;
	pthread_t thread;
	(void)state;

	assert_int_equal(pthread_create(&thread, NULL, swap, &swapper), 0);
	for (unsigned int i = 0; i < 20000; i++) {
		look_at_everything(&p, i);
		if (i % 500 == 0) {
			assert_canary(&p.tree, &canary);
			(void)remove_tree(p.tree.ws, &report);
		}
	}
	atomic_store(&swapper.stop, true);
	(void)pthread_join(thread, NULL);
	assert_true(atomic_load(&swapper.turns) > 100);
	assert_canary(&p.tree, &canary);
	place_close(&p);
}

/* A thread that forks all the time, and children that hold what they have inherited for a
 * while before they end: as when many boxes are started. */
static void *fork_around(void *arg)
{
	struct swapper *forker = arg;

	while (!atomic_load(&forker->stop)) {
		pid_t pid = fork();

		if (pid == 0) {
			(void)usleep(2000);
			_exit(0);
		}
		if (pid > 0)
			(void)waitpid(pid, NULL, 0);
		atomic_fetch_add(&forker->turns, 1);
	}
	return NULL;
}

static int execute(const struct place *p, const char *name)
{
	char path[160];
	char *const argv[] = {path, NULL};
	int status = -1;
	pid_t pid;

	(void)snprintf(path, sizeof(path), "%s/%s", p->ws.path, name);
	pid = vfork();
	if (pid == 0) {
		(void)execv(path, argv);
		_exit(errno == ETXTBSY ? 26 : 1);
	}
	(void)waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

static void what_is_written_can_be_executed_at_once(void **state)
{
	static const char script[] = "#!/bin/sh\nexit 7\n";
	struct place p = place_open();
	struct swapper forker = {.ws = -1};
	pthread_t threads[4];
	(void)state;

	for (size_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, fork_around, &forker),
				 0);
	while (atomic_load(&forker.turns) < 4)
		(void)usleep(100);
	for (int i = 0; i < 200; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "script-%d", i);
		assert_int_equal(write_text(&p, name, script), 0);
		assert_int_equal(fchmodat(p.tree.ws, name, 0755, 0), 0);
		assert_int_equal(execute(&p, name), 7);
	}
	atomic_store(&forker.stop, true);
	for (size_t i = 0; i < 4; i++)
		(void)pthread_join(threads[i], NULL);
	place_close(&p);
}

static int run(void)
{
	const struct CMUnitTest session_files_race[] = {
	    cmocka_unit_test(a_file_may_change_while_it_is_read),
	    cmocka_unit_test(writing_is_whole_or_not_at_all),
	    cmocka_unit_test(a_race_never_leaves_the_workspace),
	};

	return cmocka_run_group_tests(session_files_race, NULL, NULL);
}

int main(void)
{
	const struct CMUnitTest with_o_tmpfile[] = {
	    cmocka_unit_test(what_is_written_can_be_executed_at_once),
	};
	int failed = run_in_fallback(run);

	failed += run();
	failed += cmocka_run_group_tests(with_o_tmpfile, NULL, NULL);
	return failed != 0;
}
