/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times what the kernel alone needs, one line of microseconds each:
 *
 *	floor floor N PROGRAM
 *		clone3 with seven new namespaces, exec PROGRAM, exit
 *
 *	floor floors N WIDTH CALLS PROGRAM
 *		the same CALLS times one after the other in each of WIDTH threads; one
 *		line: the time until all have ended
 *
 *	floor steps N WIDTH LEVEL STEPS PROGRAM [ARG...]
 *		the same with STEPS LEVEL PROGRAM (see steps.c) in the new namespaces, in
 *		WIDTH threads at once
 *
 *	floor warm N LEVEL STEPS PROGRAM [ARG...]
 *		all steps are made before; timed is the rest, from a byte on the standard
 *		input to the end of the namespaces. LEVEL "6w": the byte lets PROGRAM be
 *		executed; "6q": PROGRAM has been, and waits for it
 *
 * LEVEL "6g": besides, a directory is made in each of the control groups' directories
 *that BENCH_GROUPS names (memory, pids and cpuacct of v1, in this order, with colons
 *between), filled, entered, read and removed, while the kernel makes the namespaces where
 *it can.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/rawsys.h"
#include "bench/crowd.h"

enum { FLOOR_STACK = 16384, GROUPS = 3 };

struct floor {
	char **argv;
	char *ids;	 /* what uid_map and gid_map get; NULL: left empty */
	const int *dirs; /* where control groups are made; NULL: none are */
	bool warm;	 /* all is done before the time is taken */
	long calls;
	int failed;
	int pipe[2]; /* over which the child is let go on */
	char stack[FLOOR_STACK] __attribute__((aligned(64)));
};

static int put(const char *path, const char *text)
{
	long fd = raw4(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0);
	long r = fd < 0 ? fd : raw3(SYS_write, fd, text, strlen(text));

	raw1(SYS_close, fd);
	return r < 0;
}

/* In the memory of its parent. */
static void floor_child(void *data, void *unused)
{
	static char *none[] = {NULL};
	struct floor *floor = data;

	(void)unused;
	if (floor->pipe[0] >= 0)
		(void)raw3(SYS_dup3, floor->pipe[0], STDIN_FILENO, 0);
	if (floor->ids && (put("/proc/self/setgroups", "deny") ||
			   put("/proc/self/uid_map", floor->ids) ||
			   put("/proc/self/gid_map", floor->ids)))
		raw1(SYS_exit_group, 1);
	raw3(SYS_execve, floor->argv[0], floor->argv, none);
	raw1(SYS_exit_group, 1);
}

static const struct knob {
	int group;
	const char *file, *value;
} knobs[] = {{0, "memory.limit_in_bytes", "536870912"},
	     {0, "memory.memsw.limit_in_bytes", "536870912"},
	     {0, "memory.kmem.tcp.limit_in_bytes", "134217728"},
	     {1, "pids.max", "65"}},
  counters[] = {{2, "cpuacct.usage", NULL},
		{0, "memory.memsw.max_usage_in_bytes", NULL},
		{1, "pids.peak", NULL},
		{1, "pids.events", NULL},
		{0, "memory.oom_control", NULL}};

static int open_in(const struct floor *floor, int group, const char *name,
		   const char *file, int flags)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", name, file);
	return openat(floor->dirs[group], path, flags | O_CLOEXEC);
}

static void groups_make(const struct floor *floor, const char *name)
{
	for (int i = 0; i < GROUPS; i++)
		(void)mkdirat(floor->dirs[i], name, 0755);
	for (size_t i = 0; i < sizeof(knobs) / sizeof(knobs[0]); i++) {
		int fd = open_in(floor, knobs[i].group, name, knobs[i].file, O_WRONLY);

		/* Without swap accounting or TCP there is no such file. */
		(void)!write(fd, knobs[i].value, strlen(knobs[i].value));
		(void)close(fd);
	}
}

static int groups_enter(const struct floor *floor, const char *name, long pid)
{
	char text[32];
	int n = snprintf(text, sizeof(text), "%ld", pid), failed = 0;

	for (int i = 0; i < GROUPS; i++) {
		int fd = open_in(floor, i, name, "tasks", O_WRONLY);

		failed |= write(fd, text, (size_t)n) != n;
		(void)close(fd);
	}
	return failed;
}

static int groups_end(const struct floor *floor, const char *name)
{
	char text[256];
	int failed = 0;

	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		int fd =
		    open_in(floor, counters[i].group, name, counters[i].file, O_RDONLY);

		failed |= read(fd, text, sizeof(text)) <= 0;
		(void)close(fd);
	}
	for (int i = 0; i < GROUPS; i++)
		failed |= unlinkat(floor->dirs[i], name, AT_REMOVEDIR) < 0;
	return failed;
}

/* The raw calls, so that threads may make them too. Returns the pid or -errno. */
static long floor_begin(struct floor *floor)
{
	struct clone_args args = {
	    .flags = CLONE_VM | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS |
		     CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP,
	    .exit_signal = SIGCHLD,
	    .stack = (uintptr_t)floor->stack,
	    .stack_size = FLOOR_STACK,
	};

	floor->pipe[0] = floor->pipe[1] = -1;
	if ((floor->dirs || floor->warm) && pipe2(floor->pipe, O_CLOEXEC) < 0)
		return -errno;
	return raw_clone3(&args, sizeof(args), floor_child, floor, NULL);
}

static int let_go(struct floor *floor)
{
	int failed = write(floor->pipe[1], "", 1) != 1;

	(void)close(floor->pipe[0]);
	(void)close(floor->pipe[1]);
	return failed;
}

static int floor_once(struct floor *floor)
{
	long pid = floor_begin(floor);
	int status, failed = 0;
	char name[64];

	if (pid < 0)
		return 1;
	if (floor->dirs) {
		(void)snprintf(name, sizeof(name), "bench-%d-%ld", (int)getpid(), pid);
		groups_make(floor, name);
		failed = groups_enter(floor, name, pid) || let_go(floor);
	}
	failed |= waitpid((pid_t)pid, &status, 0) < 0 || status != 0;
	if (floor->dirs)
		failed |= groups_end(floor, name);
	return failed;
}

static int run_one(int n, struct floor *floor)
{
	for (int i = 0; i < n; i++) {
		double begin = now_us();

		if (floor_once(floor))
			return 1;
		printf("%.1f\n", now_us() - begin);
	}
	return 0;
}

/* LEVEL STEPS PROGRAM... to STEPS LEVEL PROGRAM... */
static char **steps_argv(char **words)
{
	char *level = words[0];

	words[0] = words[1];
	words[1] = level;
	return words;
}

static int run_warm(int n, char **words)
{
	static const struct timespec rest = {.tv_nsec = 12000000},
				     start = {.tv_nsec = 60000000};
	static struct floor floor;
	bool starts = strchr(words[0], 'q');
	char ids[32];

	(void)snprintf(ids, sizeof(ids), "0 %u 1", (unsigned)getuid());
	floor = (struct floor){.argv = steps_argv(words), .ids = ids, .warm = true};
	for (int i = 0; i < n; i++) {
		long pid = floor_begin(&floor);
		double begin;
		int status;

		if (pid < 0)
			return 1;
		if (starts)
			nanosleep(&start, NULL);
		nanosleep(&rest, NULL);
		begin = now_us();
		if (let_go(&floor) || waitpid((pid_t)pid, &status, 0) < 0 || status != 0)
			return 1;
		printf("%.1f\n", now_us() - begin);
	}
	return 0;
}

static void *floor_thread(void *data)
{
	struct floor *floor = data;

	for (long i = 0; i < floor->calls; i++)
		floor->failed |= floor_once(floor);
	return NULL;
}

static int run_many(int n, int width, const struct floor *like)
{
	struct floor *floors =
	    width > 0 ? aligned_alloc(64, (size_t)width * sizeof(*floors)) : NULL;
	int failed = !floors;

	for (int i = 0; i < n && !failed; i++) {
		double begin = now_us();

		for (int t = 0; t < width; t++) {
			/* But for the stack. */
			memcpy(&floors[t], like, offsetof(struct floor, stack));
		}
		failed |= in_threads(width, floor_thread, floors, sizeof(*floors));
		for (int t = 0; t < width; t++)
			failed |= floors[t].failed;
		printf("%.1f\n", now_us() - begin);
	}
	free(floors);
	return failed;
}

static int open_groups(int dirs[GROUPS])
{
	char *list = getenv("BENCH_GROUPS"), *at = list ? strdup(list) : NULL, *save;
	int failed = !at;

	for (int i = 0; i < GROUPS && !failed; i++, at = NULL) {
		const char *path = strtok_r(at, ":", &save);

		dirs[i] = path ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
		failed = dirs[i] < 0;
	}
	if (failed)
		fprintf(stderr, "BENCH_GROUPS: not %d directories\n", GROUPS);
	return failed;
}

static int run_steps(int n, char **words)
{
	static struct floor floor;
	char *level = words[1], ids[32];
	int width = (int)strtol(words[0], NULL, 10), dirs[GROUPS];

	(void)snprintf(ids, sizeof(ids), "0 %u 1", (unsigned)getuid());
	if (strchr(level, 'g') && open_groups(dirs))
		return 1;
	floor = (struct floor){.argv = steps_argv(words + 1),
			       .ids = ids,
			       .dirs = strchr(level, 'g') ? dirs : NULL,
			       .calls = 1};
	return width == 1 ? run_one(n, &floor) : run_many(n, width, &floor);
}

int main(int argc, char **argv)
{
	static struct floor floor;
	int n = argc > 3 ? (int)strtol(argv[2], NULL, 10) : 0;

	floor.argv = argv + 3;
	if (n > 0 && strcmp(argv[1], "floor") == 0)
		return run_one(n, &floor);
	if (n > 0 && argc > 5 && strcmp(argv[1], "floors") == 0) {
		floor.argv = argv + 5;
		floor.calls = strtol(argv[4], NULL, 10);
		return run_many(n, (int)strtol(argv[3], NULL, 10), &floor);
	}
	if (n > 0 && argc >= 6 && strcmp(argv[1], "warm") == 0)
		return run_warm(n, argv + 3);
	if (n > 0 && argc >= 7 && strcmp(argv[1], "steps") == 0)
		return run_steps(n, argv + 3);
	fprintf(stderr, "usage: see the top of bench/floor.c\n");
	return 2;
}
