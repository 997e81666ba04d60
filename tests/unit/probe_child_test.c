/* SPDX-License-Identifier: Apache-2.0 */
/* The probing child itself: what comes back from it, and that it always ends. */
#include "tests/unit/probe_fork.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "base/rawsys.h"
#include "runtime/probe_child.h"

static int no_child_no_fd(int fds)
{
	CHECK(!has_child());
	CHECK(count_fds() == fds);
	return 0;
}

static struct probe_answer try(long (*act)(struct probe_child *), uint64_t spaces,
			       int limit_ms)
{
	struct probe_child *child = probe_child_new();
	struct probe_answer answer;

	assert_non_null(child);
	child->act = act;
	child->spaces = spaces;
	child->ids.uid = geteuid();
	child->ids.gid = getegid();
	if (limit_ms > 0)
		child->limit_ms = limit_ms;
	probe_child_run(child, &answer);
	return answer;
}

static long gives_seven(struct probe_child *child)
{
	child->step = STEP_OVERLAY;
	return 7;
}

static long gives_an_error(struct probe_child *child)
{
	child->step = STEP_OVERLAY;
	return -EXDEV;
}

static long never_returns(struct probe_child *child)
{
	child->step = STEP_PIVOT;
	for (;;)
		raw0(SYS_pause);
	return 0;
}

static long ends_by_signal(struct probe_child *child)
{
	child->step = STEP_MOUNT_FS;
	raw2(SYS_kill, raw0(SYS_getpid), SIGKILL);
	return 0;
}

static long exits_with_three(struct probe_child *child)
{
	child->step = STEP_EXEC_INIT;
	for (;;)
		raw1(SYS_exit_group, 3);
	return 0;
}

static void what_it_returns_comes_back(void **state)
{
	struct probe_answer answer = try(gives_seven, 0, 0);

	(void)state;
	assert_int_equal(answer.state, PROBE_WORKS);
	assert_int_equal(answer.value, 7);
	answer = try(gives_an_error, 0, 0);
	assert_int_equal(answer.state, PROBE_FAILS);
	assert_int_equal(answer.error, EXDEV);
	assert_int_equal(answer.step, STEP_OVERLAY);
	assert_int_equal(answer.signal, 0);
}

static void one_that_hangs_is_ended(void **state)
{
	int fds = count_fds();
	struct probe_answer answer = try(never_returns, 0, 50);

	(void)state;
	assert_int_equal(answer.state, PROBE_FAILS);
	assert_int_equal(answer.error, ETIMEDOUT);
	assert_int_equal(answer.step, STEP_PIVOT);
	assert_int_equal(no_child_no_fd(fds), 0);
}

static void one_that_is_killed_is_a_failure(void **state)
{
	int fds = count_fds();
	struct probe_answer answer = try(ends_by_signal, 0, 0);

	(void)state;
	assert_int_equal(answer.state, PROBE_FAILS);
	assert_int_equal(answer.signal, SIGKILL);
	assert_int_equal(answer.step, STEP_MOUNT_FS);
	assert_int_equal(no_child_no_fd(fds), 0);
}

static void one_that_leaves_without_a_word_is_a_failure(void **state)
{
	int fds = count_fds();
	struct probe_answer answer = try(exits_with_three, 0, 0);

	(void)state;
	assert_int_equal(answer.state, PROBE_FAILS);
	assert_int_equal(answer.step, STEP_EXEC_INIT);
	assert_int_equal(answer.signal, 0);
	assert_int_equal(no_child_no_fd(fds), 0);
}

static void a_clone_that_fails_names_the_clone(void **state)
{
	/* CLONE_FS and CLONE_NEWUSER exclude each other, clone(2). */
	struct probe_answer answer = try(gives_seven, CLONE_NEWUSER | CLONE_FS, 0);

	(void)state;
	assert_int_equal(answer.state, PROBE_FAILS);
	assert_int_equal(answer.step, STEP_CLONE);
	assert_int_equal(answer.error, EINVAL);
}

static int probe_all_quietly(void *unused)
{
	struct probe_answers answers;
	struct husk_error err = {0};

	(void)unused;
	CHECK(probe_all("/tmp", &answers, &err) == 0);
	for (int i = 0; i < PROBE_COUNT; i++) {
		if (answers.of[i].state == PROBE_FAILS)
			(void)fprintf(stderr, "probe %d: step %u, errno %d, signal %d\n",
				      i, answers.of[i].step, answers.of[i].error,
				      answers.of[i].signal);
	}
	CHECK(answers.of[PROBE_CLONE3].state == PROBE_WORKS);
	CHECK(answers.of[PROBE_INIT].state == PROBE_WORKS);
	CHECK(answers.of[PROBE_OPENAT2].state == PROBE_WORKS);
	return 0;
}

static int as_it_was(void *unused)
{
	int fds = count_fds(), dumpable = prctl(PR_GET_DUMPABLE);
	sigset_t before, after;
	char cwd[2][256];

	CHECK(pthread_sigmask(SIG_SETMASK, NULL, &before) == 0);
	CHECK(getcwd(cwd[0], sizeof(cwd[0])));
	CHECK(probe_all_quietly(unused) == 0);
	CHECK(no_child_no_fd(fds) == 0);
	CHECK(prctl(PR_GET_DUMPABLE) == dumpable);
	CHECK(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0);
	CHECK(pthread_sigmask(SIG_SETMASK, NULL, &after) == 0);
	for (int sig = 1; sig < NSIG; sig++)
		CHECK(sigismember(&before, sig) == sigismember(&after, sig));
	CHECK(getcwd(cwd[1], sizeof(cwd[1])) && strcmp(cwd[0], cwd[1]) == 0);
	return 0;
}

static void the_caller_stays_as_it_was(void **state)
{
	(void)state;
	fork_done(fork_and(NULL, NULL, as_it_was, NULL));
	fork_done(fork_and(become_ordinary, NULL, as_it_was, NULL));
	fork_done(fork_and(become_root_of_one, NULL, as_it_was, NULL));
}

static _Atomic bool stop;

static void *allocate(void *unused)
{
	while (!stop)
		free(malloc(1 + (size_t)rand() % 100000));
	return unused;
}

/* As an event loop does that knows of no other children. */
static void *wait_for_anybody(void *unused)
{
	while (!stop) {
		(void)waitpid(-1, NULL, WNOHANG);
		(void)sched_yield();
	}
	return unused;
}

static void *probe_twice(void *failures)
{
	for (int i = 0; i < 2; i++)
		*(int *)failures += probe_all_quietly(NULL) != 0;
	return NULL;
}

static int among_others(void *unused)
{
	pthread_t others[2], probing[2];
	int failures[2] = {0}, fds = count_fds();

	(void)unused;
	CHECK(signal(SIGCHLD, SIG_IGN) != SIG_ERR);
	CHECK(pthread_create(&others[0], NULL, allocate, NULL) == 0);
	CHECK(pthread_create(&others[1], NULL, wait_for_anybody, NULL) == 0);
	for (int i = 0; i < 2; i++)
		CHECK(pthread_create(&probing[i], NULL, probe_twice, &failures[i]) == 0);
	for (int i = 0; i < 2; i++)
		CHECK(pthread_join(probing[i], NULL) == 0);
	stop = true;
	for (int i = 0; i < 2; i++)
		CHECK(pthread_join(others[i], NULL) == 0);
	CHECK(failures[0] == 0 && failures[1] == 0);
	return no_child_no_fd(fds);
}

static volatile sig_atomic_t signals;

static void count_signal(int sig)
{
	(void)sig;
	signals = signals + 1;
}

static int without_signals(void *unused)
{
	(void)unused;
	CHECK(signal(SIGCHLD, count_signal) != SIG_ERR);
	CHECK(probe_all_quietly(NULL) == 0);
	CHECK(signals == 0);
	return 0;
}

static void the_caller_gets_no_signal(void **state)
{
	(void)state;
	fork_done(fork_and(NULL, NULL, without_signals, NULL));
}

static void threads_and_ignored_signals_do_not_matter(void **state)
{
	(void)state;
	fork_done(fork_and(NULL, NULL, among_others, NULL));
}

int main(void)
{
	const struct CMUnitTest probe_child[] = {
	    cmocka_unit_test(what_it_returns_comes_back),
	    cmocka_unit_test(one_that_hangs_is_ended),
	    cmocka_unit_test(one_that_is_killed_is_a_failure),
	    cmocka_unit_test(one_that_leaves_without_a_word_is_a_failure),
	    cmocka_unit_test(a_clone_that_fails_names_the_clone),
	    cmocka_unit_test(the_caller_stays_as_it_was),
	    cmocka_unit_test(the_caller_gets_no_signal),
	    cmocka_unit_test(threads_and_ignored_signals_do_not_matter),
	};

	return cmocka_run_group_tests(probe_child, NULL, NULL);
}
