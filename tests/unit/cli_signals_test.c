/* SPDX-License-Identifier: Apache-2.0 */
/* Signals while a box runs. Each case is a process of its own: signals are for good. */
#include "cli/signals.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const int watched[] = {SIGHUP, SIGINT, SIGTERM};

static void watch(void)
{
	struct husk_error err = {0};
	husk_cancel *cancel = NULL;

	if (husk_cancel_new(&cancel, &err) < 0)
		_exit(99);
	cli_signals_watch(cancel);
}

static void default_effect(int number)
{
	(void)signal(number, SIG_DFL);
}

/* The wait status of a child that runs play(number). */
static int status_of(void (*play)(int number), int number)
{
	pid_t child = fork();
	int status = -1;

	assert_true(child >= 0);
	if (child == 0) {
		play(number);
		_exit(98);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void play_once(int number)
{
	default_effect(number);
	watch();
	if (cli_signals_caught() != 0)
		_exit(1);
	(void)raise(number);
	_exit(cli_signals_caught());
}

static void test_first_is_caught(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		int status = status_of(play_once, watched[i]);

		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), watched[i]);
	}
}

static void play_twice(int number)
{
	default_effect(number);
	watch();
	(void)raise(number);
	(void)raise(number);
}

static void test_second_ends(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		int status = status_of(play_twice, watched[i]);

		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), watched[i]);
	}
}

static void play_two_kinds(int number)
{
	default_effect(SIGINT);
	default_effect(number);
	watch();
	(void)raise(SIGINT);
	(void)raise(number);
	_exit(cli_signals_caught());
}

static void test_first_kind_counts(void **state)
{
	int status = status_of(play_two_kinds, SIGTERM);

	(void)state;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), SIGINT);
}

static void play_ignored(int number)
{
	(void)signal(number, SIG_IGN);
	watch();
	(void)raise(number);
	cli_signals_release();
	(void)raise(number);
	_exit(cli_signals_caught());
}

static void test_ignored_stays_ignored(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		int status = status_of(play_ignored, watched[i]);

		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
	}
}

static void play_released(int number)
{
	default_effect(number);
	watch();
	cli_signals_release();
	(void)raise(number);
}

static void test_release(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		int status = status_of(play_released, watched[i]);

		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), watched[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_first_is_caught),
	    cmocka_unit_test(test_second_ends),
	    cmocka_unit_test(test_first_kind_counts),
	    cmocka_unit_test(test_ignored_stays_ignored),
	    cmocka_unit_test(test_release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
