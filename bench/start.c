/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times starts, one line of microseconds each:
 *
 *	start spawn N PROGRAM [ARG...]
 *		posix_spawn and wait: commands and peers. Their output is discarded.
 *
 *	start rested N PROGRAM [ARG...]
 *		the same, each after a rest, as warm calls begin: what a busy loop keeps
 *in the processor's caches is gone by then
 *
 *	start crowd N WIDTH PROGRAM [ARG...]
 *		WIDTH of them at once; one line: the time until all have ended
 *
 *	start box N OPTIONS PROGRAM
 *		through the library; OPTIONS is a comma-separated list of enforce,
 *		best-effort, unlimited, heap=MIB, threads=N, parallel=N, code, files,
 *		calls=N, prewarm=N
 *
 * With prewarm=N each turn begins when N spares are ready, and fails where its first call
 * did not run in one. parallel=N prints one line: the time for N calls at once from N
 *threads, or for calls=N of them by each thread, one after the other. Without files the
 *workspace is not looked at for changes. An argument "@" of spawn and crowd becomes a
 *name that no other call has: what peers call a box by.
 */
#include <husk.h>

#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/crowd.h"

extern char **environ;

static pid_t spawn(char **argv, const posix_spawn_file_actions_t *actions)
{
	static char name[64];
	static int number;
	char *words[128];
	size_t count = 0;
	pid_t pid;

	(void)snprintf(name, sizeof(name), "bench-%d-%d", (int)getpid(), number++);
	for (; argv[count] && count < sizeof(words) / sizeof(words[0]) - 1; count++)
		words[count] = strcmp(argv[count], "@") == 0 ? name : argv[count];
	words[count] = NULL;
	if (count == 0)
		return -1;
	return posix_spawnp(&pid, words[0], actions, NULL, words, environ) == 0 ? pid
										: -1;
}

static const struct timespec rest = {.tv_nsec = 10000000};

/* width at once, each turn until the last has ended. */
static int run_spawn(int n, int width, bool rested, char **argv)
{
	posix_spawn_file_actions_t actions;
	int failed = 0;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY,
					 0);
	for (int i = 0; i < n && !failed; i++) {
		int status, started = 0;
		double begin;

		if (rested)
			nanosleep(&rest, NULL);
		begin = now_us();
		while (started < width && spawn(argv, &actions) > 0)
			started++;
		failed = started < width;
		for (; started > 0; started--)
			failed |= waitpid(-1, &status, 0) < 0 || status != 0;
		printf("%.1f\n", now_us() - begin);
	}
	posix_spawn_file_actions_destroy(&actions);
	return failed;
}

struct job {
	husk_session *session;
	uint32_t prewarm;
	const char *program;
	int code;   /* run it as Python code instead */
	int files;  /* tell which files changed */
	long calls; /* in each thread of many */
	int failed;
	int cold; /* it ran in a box made for it */
};

static int call(struct job *job)
{
	const char *argv[] = {job->program, NULL};
	husk_result *result = NULL;
	struct husk_error err = {0};
	HUSK_CALL(options);
	int r;

	options.skip_files = !job->files;
	if (job->code)
		r = husk_session_run_code(job->session, "python", job->program,
					  strlen(job->program), &options, &result, &err);
	else
		r = husk_session_run(job->session, argv, &options, &result, &err);
	if (r < 0)
		fprintf(stderr, "%s: %s\n", err.where, err.message);
	else if (!husk_result_success(result))
		fprintf(stderr, "%s %s\n", husk_result_fault_message(result),
			husk_result_stderr(result, NULL));
	r = r < 0 || !husk_result_success(result);
	job->cold = !r && husk_result_spare(result) !=
			      (job->code ? HUSK_SPARE_INTERPRETER : HUSK_SPARE_PROGRAM);
	husk_result_free(result);
	return r;
}

/* Until all spares are there, and the machine has come to rest. */
static void await_spares(const struct job *job)
{
	static const struct timespec nap = {.tv_nsec = 2000000};
	struct husk_spares spares = {.size = sizeof(spares)};

	if (job->prewarm == 0)
		return;
	do {
		nanosleep(&nap, NULL);
		husk_session_spares(job->session, &spares);
	} while ((job->code ? spares.interpreters : spares.programs) < job->prewarm);
	nanosleep(&rest, NULL);
}

static void *call_thread(void *data)
{
	struct job *job = data;

	job->failed = 0;
	for (long i = 0; i < job->calls; i++)
		job->failed |= call(job);
	return NULL;
}

static void *idle_thread(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static long option(const char *options, const char *name)
{
	const char *at = strstr(options, name);

	if (!at)
		return 0;
	at += strlen(name);
	return *at == '=' ? strtol(at + 1, NULL, 10) : 1;
}

static void burden(const char *options)
{
	size_t heap = (size_t)option(options, "heap") << 20;
	pthread_t thread;

	for (long i = option(options, "threads"); i > 0; i--)
		pthread_create(&thread, NULL, idle_thread, NULL);
	if (heap > 0) {
		char *memory = mmap(NULL, heap, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory == MAP_FAILED)
			exit(1);
		madvise(memory, heap, MADV_NOHUGEPAGE);
		memset(memory, 1, heap);
	}
}

static int run_parallel(int n, int width, const struct job *job)
{
	struct job *jobs = calloc((size_t)width, sizeof(*jobs));
	int failed = !jobs;

	for (int i = 0; i < n && !failed; i++) {
		double begin;

		await_spares(job);
		begin = now_us();
		for (int t = 0; t < width; t++)
			jobs[t] = *job;
		failed |= in_threads(width, call_thread, jobs, sizeof(*jobs));
		for (int t = 0; t < width; t++)
			failed |= jobs[t].failed;
		printf("%.1f\n", now_us() - begin);
	}
	free(jobs);
	return failed;
}

static int run_box(int n, const char *options, const char *program)
{
	struct job job = {.program = program,
			  .code = (int)option(options, "code"),
			  .files = (int)option(options, "files"),
			  .calls = option(options, "calls"),
			  .prewarm = (uint32_t)option(options, "prewarm")};
	/* Spares are interpreters from the first; "sys" is there in any case. */
	static const char *const interpreters[] = {"sys", NULL};
	int width = (int)option(options, "parallel"), failed = 0;
	struct husk_error err = {0};
	HUSK_OPTIONS(settings);

	settings.workspace = getenv("BENCH_WORKSPACE");
	if (option(options, "best-effort"))
		settings.limits = HUSK_LIMITS_BEST_EFFORT;
	if (option(options, "unlimited")) {
		settings.limits = HUSK_LIMITS_BEST_EFFORT;
		settings.memory_bytes = settings.pids = HUSK_UNLIMITED;
	}
	if (job.calls == 0)
		job.calls = 1;
	settings.prewarm = job.prewarm;
	if (job.prewarm > 0 && job.code)
		settings.preload = interpreters;
	if (husk_session_open(&settings, &job.session, &err) < 0) {
		fprintf(stderr, "%s: %s\n", err.where, err.message);
		return 1;
	}
	burden(options);
	failed = call(&job); /* the first one pays for what is found out once */
	if (width > 0)
		failed |= run_parallel(n, width, &job);
	for (int i = 0; i < n && width == 0 && !failed; i++) {
		double begin;

		await_spares(&job);
		begin = now_us();
		failed = call(&job);
		printf("%.1f\n", now_us() - begin);
		if (job.prewarm > 0 && job.cold) {
			fprintf(stderr, "a spare was ready and not used\n");
			failed = 1;
		}
	}
	husk_session_close(job.session);
	return failed;
}

int main(int argc, char **argv)
{
	int n = argc > 3 ? (int)strtol(argv[2], NULL, 10) : 0;

	if (n > 0 && strcmp(argv[1], "spawn") == 0)
		return run_spawn(n, 1, false, argv + 3);
	if (n > 0 && strcmp(argv[1], "rested") == 0)
		return run_spawn(n, 1, true, argv + 3);
	if (n > 0 && argc > 4 && strcmp(argv[1], "crowd") == 0)
		return run_spawn(n, (int)strtol(argv[3], NULL, 10), false, argv + 4);
	if (n > 0 && argc == 5 && strcmp(argv[1], "box") == 0)
		return run_box(n, argv[3], argv[4]);
	fprintf(stderr, "usage: see the top of bench/start.c\n");
	return 2;
}
