/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes programs into the workspace and runs each at once, from many threads.
 *
 *	write_and_run enforce|best-effort THREADS RUNS
 *
 * Prints `failed COUNT WORDS` (of the last).
 */
#include <husk.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = 64, PATIENCE_MS = 600000 };

static husk_session *session;
static atomic_long next_run, failed;
static long last_run;
static char words[512];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void fails(const char *what, const char *why)
{
	pthread_mutex_lock(&lock);
	failed++;
	(void)snprintf(words, sizeof(words), "%s: %s", what, why);
	pthread_mutex_unlock(&lock);
}

/* The file has no execute bit when it is written: the box sets it and runs it. */
static void write_and_run(long number)
{
	char name[32], script[64], command[96];
	const char *const argv[] = {"sh", "-c", command, NULL};
	struct husk_error err = {0};
	husk_result *result = NULL;
	HUSK_CALL(call);

	call.skip_files = 1;
	(void)snprintf(name, sizeof(name), "tool-%ld", number);
	(void)snprintf(script, sizeof(script), "#!/bin/sh\necho %ld\n", number);
	(void)snprintf(command, sizeof(command), "chmod +x %s && ./%s", name, name);
	if (husk_session_write(session, name, script, strlen(script), &err) < 0) {
		fails(err.where, err.message);
		return;
	}
	if (husk_session_run(session, argv, &call, &result, &err) < 0) {
		fails(err.where, err.message);
		return;
	}
	if (!husk_result_success(result) ||
	    strtol(husk_result_stdout(result, NULL), NULL, 10) != number)
		fails("run", husk_result_stderr(result, NULL));
	husk_result_free(result);
}

static void *worker(void *unused)
{
	for (;;) {
		long number = next_run++;

		if (number >= last_run)
			return unused;
		write_and_run(number);
	}
}

int main(int argc, char **argv)
{
	HUSK_OPTIONS(options);
	struct husk_error err = {0};
	pthread_t ids[THREADS_MAX];
	long threads;

	if (argc != 4)
		return 2;
	threads = strtol(argv[2], NULL, 10);
	last_run = strtol(argv[3], NULL, 10);
	if (threads > THREADS_MAX)
		return 2;
	options.timeout_ms = PATIENCE_MS;
	if (strcmp(argv[1], "best-effort") == 0)
		options.limits = HUSK_LIMITS_BEST_EFFORT;
	if (husk_session_open(&options, &session, &err) < 0) {
		fprintf(stderr, "%s: %s\n", err.where, err.message);
		return 2;
	}
	for (long i = 0; i < threads; i++)
		pthread_create(&ids[i], NULL, worker, NULL);
	for (long i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	printf("failed %ld %s\n", failed, words);
	husk_session_close(session);
	return 0;
}
