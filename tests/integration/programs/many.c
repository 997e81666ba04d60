/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many boxes from one process, and what they leave in it.
 *
 *	many enforce|best-effort THREADS RUNS HAMMERS DIR [FILES]
 *
 * THREADS threads share RUNS calls of one session, after a round of 4 calls each (100 at
 *most) that makes what is made once. They begin together. HAMMERS more threads allocate
 *and free without a pause meanwhile. Every box prints a number of its own and every
 *answer is compared. The private workspace is made in DIR. At most FILES descriptors may
 *be open; without that as many as may be had. Prints `failed COUNT WORDS` (of the last),
 *`refused COUNT` of calls that said that there were too few descriptors and what to do,
 *`descriptors A B`, `memory A B` (KiB) and `mounts A B`: before and after.
 */
#include <husk.h>

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { THREADS_MAX = 1024, STACK = 512 << 10, WARM_MAX = 100, DEADLINE_MS = 250000 };

static husk_session *session;
static atomic_long next_run, failed, refused;
static pthread_barrier_t together;
static atomic_int stop;
static char words[512];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long last_run;

static void fails(const char *what, const char *why)
{
	pthread_mutex_lock(&lock);
	failed++;
	(void)snprintf(words, sizeof(words), "%s %s", what, why);
	pthread_mutex_unlock(&lock);
}

static int says_too_few(const char *message, const char *hint)
{
	return strstr(message, "Too many open files") && strstr(hint, "ulimit -n");
}

static void run(long number)
{
	char text[32];
	const char *const argv[] = {"echo", text, NULL};
	struct husk_error err = {0};
	husk_result *result = NULL;
	size_t size;

	(void)snprintf(text, sizeof(text), "%ld", number);
	if (husk_session_run(session, argv, NULL, &result, &err) < 0) {
		if (says_too_few(err.message, err.hint))
			refused++;
		else
			fails(err.where, err.message);
		return;
	}
	if (husk_result_fault(result) &&
	    says_too_few(husk_result_fault_message(result), husk_result_hint(result)))
		refused++;
	else if (husk_result_fault(result))
		fails(husk_result_fault_name(result), husk_result_fault_message(result));
	else if (strtol(husk_result_stdout(result, &size), NULL, 10) != number ||
		 size == 0)
		fails("stdout", husk_result_stdout(result, NULL));
	husk_result_free(result);
}

static void *worker(void *unused)
{
	pthread_barrier_wait(&together);
	for (;;) {
		long number = next_run++;

		if (number >= last_run)
			return unused;
		run(number);
	}
}

static void *hammer(void *unused)
{
	void *blocks[64] = {NULL};

	for (unsigned i = 0; !stop; i++) {
		free(blocks[i % 64]);
		blocks[i % 64] = malloc(16u << (i % 14));
		if (blocks[i % 64])
			memset(blocks[i % 64], 1, 16);
	}
	for (unsigned i = 0; i < 64; i++)
		free(blocks[i]);
	return unused;
}

static void run_all(long threads, long runs)
{
	static pthread_t ids[THREADS_MAX];
	pthread_attr_t attr;

	next_run = 0;
	last_run = runs;
	pthread_barrier_init(&together, NULL, (unsigned)threads);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	for (long i = 0; i < threads; i++) {
		if (pthread_create(&ids[i], &attr, worker, NULL) != 0)
			abort(); /* the others would wait for ever */
	}
	for (long i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	pthread_attr_destroy(&attr);
	pthread_barrier_destroy(&together);
}

static void limit_files(const char *text)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	if (text)
		limit.rlim_cur = limit.rlim_max = (rlim_t)strtol(text, NULL, 10);
	setrlimit(RLIMIT_NOFILE, &limit);
}

static long lines_of(const char *path, const char *key)
{
	FILE *file = fopen(path, "re");
	char line[4096];
	long found = 0;

	while (file && fgets(line, sizeof(line), file)) {
		if (!key)
			found++;
		else if (strncmp(line, key, strlen(key)) == 0)
			found = strtol(line + strlen(key), NULL, 10);
	}
	if (file)
		fclose(file);
	return found;
}

static long descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	long count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

int main(int argc, char **argv)
{
	HUSK_OPTIONS(options);
	struct husk_error err = {0};
	long threads, runs, hammers, fds, memory, mounts;
	static pthread_t ids[THREADS_MAX];

	if (argc != 6 && argc != 7)
		return 2;
	limit_files(argv[6]);
	threads = strtol(argv[2], NULL, 10);
	runs = strtol(argv[3], NULL, 10);
	hammers = strtol(argv[4], NULL, 10);
	if (threads < 1 || threads > THREADS_MAX || hammers > THREADS_MAX)
		return 2;
	options.timeout_ms = DEADLINE_MS;
	options.temp_dir = argv[5];
	if (strcmp(argv[1], "best-effort") == 0)
		options.limits = HUSK_LIMITS_BEST_EFFORT;
	if (husk_session_open(&options, &session, &err) < 0) {
		fprintf(stderr, "%s: %s\n", err.where, err.message);
		return 2;
	}
	for (long i = 0; i < hammers; i++)
		pthread_create(&ids[i], NULL, hammer, NULL);
	run_all(1, 4); /* also where there are too few descriptors for many */
	run_all(threads < WARM_MAX ? threads : WARM_MAX,
		threads * 4 < WARM_MAX ? threads * 4 : WARM_MAX);
	fds = descriptors();
	mounts = lines_of("/proc/self/mountinfo", NULL);
	memory = lines_of("/proc/self/status", "VmRSS:");
	run_all(threads, runs);
	printf("failed %ld %s\n", failed, words);
	printf("refused %ld\n", refused);
	printf("descriptors %ld %ld\n", fds, descriptors());
	printf("memory %ld %ld\n", memory, lines_of("/proc/self/status", "VmRSS:"));
	printf("mounts %ld %ld\n", mounts, lines_of("/proc/self/mountinfo", NULL));
	stop = 1;
	for (long i = 0; i < hammers; i++)
		pthread_join(ids[i], NULL);
	husk_session_close(session);
	return 0;
}
