/* SPDX-License-Identifier: Apache-2.0 */
/* Control groups on this very kernel: nothing is left behind, whoever dies, forks or does
 * many things at once. */
#include "tests/unit/cgroup_live.h"
#include "tests/unit/skipping.h"

#include "base/sample.h"
#include "cgroup/sweep.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum { STARTS = 5000 };

static bool is_of_a_box(const char *name)
{
	return cgroup_name_kind(name) == CGROUP_NAME_BOX;
}

static size_t open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

/* A caller that dies by SIGKILL with a box, in which a process lives on. Returns with the
 * name of the box; the pipe `alive` tells when that process is gone. */
static void leave_a_box(struct trace *ret)
{
	int name[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe2(alive, O_CLOEXEC), 0);
	assert_int_equal(pipe2(name, O_CLOEXEC), 0);
	ret->place = cgroup_place_get(CGROUP_ALLOW_MOVE);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct cgroup_box *box = child_box(16);

		(void)run_in(box, sleep_stubbornly);
		(void)!write(name[1], box->name, sizeof(box->name));
		for (;;)
			(void)pause();
	}
	(void)close(alive[1]);
	(void)close(name[1]);
	assert_int_equal(read(name[0], ret->name, sizeof(ret->name)), sizeof(ret->name));
	(void)close(name[0]);
	for (int i = 0; i < 8; i++)
		assert_int_equal(read(alive[0], &c, 1), 1);
	/* Alive, its box is nobody's business. */
	(void)cgroup_sweep();
	assert_true(is_there(ret->place, 0, ret->name));
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_true(WIFSIGNALED(wait_for(pid)));
	assert_true(is_there(ret->place, 0, ret->name));
}

static void sweep_removes_what_the_dead_left(void **state)
{
	struct trace trace;
	char c;

	(void)state;
	need(&host.pids);
	leave_a_box(&trace);
	/* (Somebody else's sweep may have been quicker.) */
	assert_true(cgroup_sweep() >= 0);
	assert_gone(&trace);
	assert_int_equal(read(alive[0], &c, 1), 0);
	(void)close(alive[0]);
}

/* Are there so few in the place that a start looks at all? */
static bool has_few(const struct cgroup_place *place)
{
	struct sample sample;

	assert_int_equal(sample_init(&sample), 0);
	for (unsigned i = 0; i < place->count; i++)
		assert_int_equal(
		    sample_take(&sample, place->groups[i].dir, i, is_of_a_box), 0);
	return sample.whole;
}

/* As a process that has not made a box yet. */
static void start_anew(void)
{
	struct cgroup_place *place;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		place = cgroup_place_get(CGROUP_ALLOW_MOVE);
		cgroup_place_lost(place);
		cgroup_place_put(place);
		(void)cgroup_box_free(child_box(16));
		_exit(0);
	}
	assert_int_equal(wait_for(pid), 0);
}

static void the_next_process_sweeps_its_place(void **state)
{
	struct trace trace;
	bool few;
	int starts = 0;

	(void)state;
	need(&host.pids);
	leave_a_box(&trace);
	do {
		few = has_few(trace.place);
		start_anew();
	} while (!few && is_there(trace.place, 0, trace.name) && starts++ < STARTS);
	assert_gone(&trace);
	(void)close(alive[0]);
}

/* -- among many that live ---------------------------------------------------------------
 */

enum { LIVING = 300, DEAD = 4 };

static unsigned looks;

/* In place of the C library's, for all that this program is linked with. */
int flock(int fd, int operation)
{
	looks++;
	return (int)syscall(SYS_flock, fd, operation);
}

/* As dead callers leave them: in all groups, and in one after a removal that was cut. */
static void make_dead(const struct cgroup_place *place,
		      char names[DEAD][CGROUP_NAME_SIZE])
{
	for (size_t i = 0; i < DEAD; i++) {
		assert_int_equal(cgroup_name_random(CGROUP_BOX_PREFIX, names[i]), 0);
		for (size_t k = 0; k < place->count; k++)
			if (i % 2 == 0 || k == place->count - 1)
				assert_int_equal(
				    mkdirat(place->groups[k].dir, names[i], 0755), 0);
	}
}

static size_t count_dead(const struct cgroup_place *place,
			 char names[DEAD][CGROUP_NAME_SIZE])
{
	size_t count = 0;

	for (size_t i = 0; i < DEAD; i++)
		for (size_t k = 0; k < place->count; k++)
			count += is_there(place, k, names[i]);
	return count;
}

static void starts_look_at_few_and_meet_all(void **state)
{
	static struct cgroup_box *living[LIVING];
	char names[DEAD][CGROUP_NAME_SIZE];
	struct cgroup_place *place;
	int starts = 0;

	(void)state;
	need(&host.pids);
	for (int i = 0; i < LIVING; i++)
		living[i] = box_with(0, 0, 16);
	place = cgroup_place_get(CGROUP_ALLOW_MOVE);
	make_dead(place, names);
	/* (Other programs' starts help.) */
	for (; count_dead(place, names) > 0 && starts < STARTS; starts++) {
		looks = 0;
		cgroup_sweep_place(place);
		/* Each of the dead in each group may be worth another round. */
		assert_in_range(
		    looks, 1, (SAMPLE_NAMES + place->count) * (1 + DEAD * place->count));
	}
	assert_int_equal(count_dead(place, names), 0);
	for (int i = 0; i < 100; i++) {
		looks = 0;
		cgroup_sweep_place(place);
		assert_in_range(looks, SAMPLE_NAMES / 2, SAMPLE_NAMES);
	}
	for (int i = 0; i < LIVING; i++)
		free_and_check(living[i]);
	cgroup_place_put(place);
}

static void sweep_leaves_our_own(void **state)
{
	struct cgroup_box *box;

	(void)state;
	need(&host.pids);
	box = box_with(0, 0, 16);
	assert_true(cgroup_sweep() >= 0);
	for (size_t i = 0; i < box->place->count; i++)
		if (box->fds[i] >= 0)
			assert_true(is_there(box->place, i, box->name));
	free_and_check(box);
}

enum { THREADS = 2, BOXES = 50, CROWD = 100 };

static void *make_many(void *arg)
{
	struct cgroup_box *boxes[BOXES] = {0};
	bool *good = arg;

	*good = true;
	for (int i = 0; i < BOXES; i++) {
		struct cgroup_caps caps = {.memory_bytes = 64 * MIB, .pids = 16};

		if (cgroup_box_new(&caps, true, &boxes[i], NULL) < 0)
			*good = false;
	}
	for (int i = 0; i < BOXES; i++)
		(void)cgroup_box_free(boxes[i]);
	return NULL;
}

static void two_threads_make_a_hundred(void **state)
{
	pthread_t threads[THREADS];
	bool good[THREADS];
	size_t fds = open_fds();

	(void)state;
	need(&host.memory);
	need(&host.pids);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, make_many, &good[i]),
				 0);
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_true(good[i]);
	}
	assert_int_equal(open_fds(), fds);
}

static void *use_one(void *arg)
{
	struct cgroup_caps caps = {.memory_bytes = 64 * MIB, .pids = 16};
	struct cgroup_box *box = NULL;
	int status;
	bool *good = arg;
	pid_t pid;

	*good = false;
	if (cgroup_box_new(&caps, true, &box, NULL) < 0)
		return NULL;
	pid = fork();
	if (pid == 0) {
		join(box);
		_exit(7);
	}
	*good = pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
		WEXITSTATUS(status) == 7;
	(void)cgroup_box_free(box);
	return NULL;
}

static void a_hundred_threads_use_one_each(void **state)
{
	pthread_t threads[CROWD];
	bool good[CROWD];

	(void)state;
	need(&host.memory);
	need(&host.pids);
	for (int i = 0; i < CROWD; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, use_one, &good[i]), 0);
	for (int i = 0; i < CROWD; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_true(good[i]);
	}
}

static atomic_bool stop;

static void *look_anew(void *arg)
{
	(void)arg;
	while (!stop) {
		struct cgroup_place *place = cgroup_place_get(CGROUP_ALLOW_MOVE);

		/* Long searches under the lock, so that forks fall into them. */
		cgroup_place_lost(place);
		cgroup_place_put(place);
	}
	return NULL;
}

static void a_fork_in_the_midst_works(void **state)
{
	pthread_t thread;

	(void)state;
#ifdef __SANITIZE_ADDRESS__
	skip_because("this sanitizer's allocator locks up in forks of threads");
#endif
	need(&host.pids);
	stop = false;
	assert_int_equal(pthread_create(&thread, NULL, look_anew, NULL), 0);
	for (int i = 0; i < 50; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid == 0) {
			(void)alarm(30); /* a lock that is never released ends here */
			(void)cgroup_box_free(child_box(16));
			_exit(0);
		}
		assert_int_equal(wait_for(pid), 0);
	}
	stop = true;
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void nothing_is_left_open(void **state)
{
	size_t fds;

	(void)state;
	need(&host.pids);
	free_and_check(box_with(0, 0, 16));
	fds = open_fds();
	for (int i = 0; i < 20; i++)
		free_and_check(box_with(0, 0, 16));
	assert_int_equal(open_fds(), fds);
}

static void allow_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max < 4096 ? limit.rlim_max : 4096;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sweep_removes_what_the_dead_left),
	    cmocka_unit_test(the_next_process_sweeps_its_place),
	    cmocka_unit_test(starts_look_at_few_and_meet_all),
	    cmocka_unit_test(sweep_leaves_our_own),
	    cmocka_unit_test(two_threads_make_a_hundred),
	    cmocka_unit_test(a_hundred_threads_use_one_each),
	    cmocka_unit_test(a_fork_in_the_midst_works),
	    cmocka_unit_test(nothing_is_left_open),
	};

	allow_descriptors();
	return cmocka_run_group_tests(tests, look, NULL);
}
