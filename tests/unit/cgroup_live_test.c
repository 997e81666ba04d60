/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control groups on this very kernel, whatever driver it comes to: what cannot be tried
 * here is skipped with the reason.
 *
 * Other programs may be making boxes in the same groups meanwhile, so nothing is
 * concluded from directories other than those of the boxes made here.
 */
#include "cgroup/cgroup.h"
#include "cgroup/place.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dirent.h>
#include <linux/sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define MIB (1024u * 1024u)

static struct cgroup_host host;

/* Make the box or fail the test with the words of the error. */
static struct cgroup_box *box_with(uint64_t memory, uint64_t cpu_milli, uint64_t pids)
{
	struct cgroup_caps caps = {
	    .memory_bytes = memory, .cpu_milli = cpu_milli, .pids = pids};
	struct husk_error err = {0};
	struct cgroup_box *box = NULL;

	if (cgroup_box_new(&caps, true, &box, &err) < 0)
		fail_msg("%s: %s (%s)", err.where, err.message, err.hint);
	return box;
}

static void need(const struct cgroup_host_controller *controller)
{
	if (controller->enforceable)
		return;
	print_message("skipped: no %s here: %s\n", controller->name, controller->why);
	skip();
}

/* Go into the box, as a box's init does: single-threaded, by "0". */
static void join(struct cgroup_box *box)
{
	int fds[CGROUP_JOIN_MAX];
	ssize_t count = cgroup_box_join_fds(box, fds);

	if (count <= 0)
		_exit(90);
	for (ssize_t i = 0; i < count; i++)
		if (write(fds[i], "0", 1) != 1)
			_exit(91);
}

/* Drop what a box's program never holds: the locks of the box. */
static void let_go(struct cgroup_box *box)
{
	for (int i = 0; i < CGROUP_GROUPS; i++)
		if (box->fds[i] >= 0)
			(void)close(box->fds[i]);
	if (box->join >= 0)
		(void)close(box->join);
}

typedef void (*action)(void);

/* Run an action in the box. The process, which is ours to wait for. */
static pid_t run_in(struct cgroup_box *box, action act)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		join(box);
		let_go(box);
		act();
		_exit(0);
	}
	return pid;
}

static int wait_for(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static bool is_there(const struct cgroup_place *place, size_t group, const char *name)
{
	struct stat st;

	return fstatat(place->groups[group].dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* What a box leaves is looked for after it is gone: keep what is needed for that. */
struct trace {
	struct cgroup_place *place;
	char name[CGROUP_NAME_SIZE];
};

static struct trace trace_of(const struct cgroup_box *box)
{
	struct trace trace = {.place = cgroup_place_get(CGROUP_ALLOW_MOVE)};

	assert_ptr_equal(trace.place, box->place);
	memcpy(trace.name, box->name, sizeof(trace.name));
	return trace;
}

static void assert_gone(struct trace *trace)
{
	for (size_t i = 0; i < trace->place->count; i++)
		assert_false(is_there(trace->place, i, trace->name));
	cgroup_place_put(trace->place);
}

static void free_and_check(struct cgroup_box *box)
{
	struct trace trace = trace_of(box);

	assert_null(cgroup_box_free(box));
	assert_gone(&trace);
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

/* What FILE of the box says, found by path and not through the code under test. */
static void read_box_file(const struct cgroup_box *box, enum cgroup_controller controller,
			  const char *file, char text[128])
{
	int group = cgroup_place_group(box->place, controller);
	char path[600];
	FILE *stream;

	assert_true(group >= 0);
	(void)snprintf(path, sizeof(path), "%s/%s/%s", box->place->groups[group].path,
		       box->name, file);
	stream = fopen(path, "re");
	if (!stream)
		fail_msg("%s: %s", path, strerror(errno));
	text[0] = '\0';
	(void)!fgets(text, 128, stream);
	(void)fclose(stream);
	text[strcspn(text, "\n")] = '\0';
}

static void assert_file(const struct cgroup_box *box, enum cgroup_controller controller,
			const char *v1, const char *v2, const char *expected)
{
	const char *file = box->place->driver == CGROUP_V1 ? v1 : v2;
	char text[128];

	if (!file)
		return;
	read_box_file(box, controller, file, text);
	assert_string_equal(text, expected);
}

static void caps_are_in_the_kernel(void **state)
{
	struct cgroup_box *box;

	(void)state;
	need(&host.memory);
	need(&host.pids);
	box = box_with(64 * MIB, 0, 32);
	assert_int_equal(cgroup_box_memory(box), CGROUP_ENFORCED);
	assert_int_equal(cgroup_box_pids(box), CGROUP_ENFORCED);
	assert_int_equal(cgroup_box_cpus(box), CGROUP_OFF);
	assert_false(cgroup_box_wants_rlimit_nproc(box));
	assert_file(box, CGROUP_MEMORY, "memory.limit_in_bytes", "memory.max",
		    "67108864");
	assert_file(box, CGROUP_PIDS, "pids.max", "pids.max", "32");
	if (box->place->driver == CGROUP_V1) {
		assert_file(box, CGROUP_MEMORY, "memory.memsw.limit_in_bytes", NULL,
			    "67108864");
		assert_false(cgroup_box_oom_ends_all(box));
	} else {
		assert_file(box, CGROUP_MEMORY, NULL, "memory.swap.max", "0");
		assert_file(box, CGROUP_MEMORY, NULL, "memory.oom.group", "1");
		assert_true(cgroup_box_oom_ends_all(box));
	}
	free_and_check(box);
}

static void cpu_caps_are_in_the_kernel(void **state)
{
	static const struct {
		uint64_t milli;
		const char *quota, *period, *both;
	} cases[] = {
	    {1, "1000", "1000000", "1000 1000000"},
	    {3, "1000", "333333", "1000 333333"},
	    {10, "1000", "100000", "1000 100000"},
	    {500, "50000", "100000", "50000 100000"},
	    {2500, "250000", "100000", "250000 100000"},
	};

	(void)state;
	need(&host.cpus);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cgroup_box *box = box_with(0, cases[i].milli, 0);

		assert_int_equal(cgroup_box_cpus(box), CGROUP_ENFORCED);
		assert_file(box, CGROUP_CPU, "cpu.cfs_quota_us", NULL, cases[i].quota);
		assert_file(box, CGROUP_CPU, "cpu.cfs_period_us", NULL, cases[i].period);
		assert_file(box, CGROUP_CPU, NULL, "cpu.max", cases[i].both);
		free_and_check(box);
	}
}

static void odd_values_are_rounded_and_hold(void **state)
{
	struct cgroup_box *box;
	struct cgroup_counters counters;

	(void)state;
	need(&host.memory);
	need(&host.pids);
	box = box_with(10 * MIB + 123, 0, UINT64_MAX - 1);
	assert_int_equal(cgroup_box_memory(box), CGROUP_ENFORCED);
	assert_int_equal(cgroup_box_pids(box), CGROUP_ENFORCED);
	assert_file(box, CGROUP_MEMORY, "memory.limit_in_bytes", "memory.max",
		    "10485760");
	cgroup_box_counters(box, &counters);
	assert_int_equal(counters.memory_limit, 10 * MIB);
	free_and_check(box);
	box = box_with(UINT64_MAX - 1, 0, 0);
	assert_int_equal(cgroup_box_memory(box), CGROUP_ENFORCED);
	free_and_check(box);
}

static void less_than_a_page_is_refused(void **state)
{
	struct cgroup_caps caps = {.memory_bytes = 4095};
	struct husk_error err = {0};
	struct cgroup_box *box = NULL;

	(void)state;
	assert_int_equal(cgroup_box_new(&caps, false, &box, &err), HUSK_E_INVALID);
	assert_null(box);
	assert_non_null(strstr(err.message, "4095"));
}

static void without_caps_it_works_everywhere(void **state)
{
	struct cgroup_caps caps = {0};
	struct cgroup_counters counters;
	struct husk_error err = {0};
	struct cgroup_box *box = NULL;

	(void)state;
	assert_int_equal(cgroup_box_new(&caps, true, &box, &err), 0);
	assert_int_equal(cgroup_box_memory(box), CGROUP_OFF);
	assert_int_equal(cgroup_box_cpus(box), CGROUP_OFF);
	assert_int_equal(cgroup_box_pids(box), CGROUP_OFF);
	cgroup_box_counters(box, &counters);
	assert_true(counters.memory_limit == CGROUP_UNKNOWN);
	assert_null(cgroup_box_free(box));
	assert_null(cgroup_box_free(NULL));
}

/* Every line of our /proc/self/cgroup that names the box: one for each of its
 * directories. */
static int lines_naming(const char *name)
{
	FILE *stream = fopen("/proc/self/cgroup", "re");
	char line[4096];
	int count = 0;

	while (stream && fgets(line, sizeof(line), stream))
		if (strstr(line, name))
			count++;
	if (stream)
		(void)fclose(stream);
	return count;
}

static void joining_moves_the_process(void **state)
{
	struct cgroup_box *box;
	int expected = 0, status;
	pid_t pid;

	(void)state;
	need(&host.pids);
	box = box_with(0, 0, 16);
	for (size_t i = 0; i < box->place->count; i++)
		expected += box->fds[i] >= 0;
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		join(box);
		_exit(lines_naming(box->name));
	}
	status = wait_for(pid);
	assert_true(WIFEXITED(status));
	if (host.driver == CGROUP_V1)
		/* Controllers that share a hierarchy share a line as well. */
		assert_int_equal(WEXITSTATUS(status), expected);
	else
		assert_int_equal(WEXITSTATUS(status), 1);
	free_and_check(box);
}

static void clone_puts_the_process_in(void **state)
{
	struct cgroup_box *box;
	struct clone_args args = {.flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD};
	long pid;
	int status;

	(void)state;
	need(&host.pids);
	box = box_with(0, 0, 16);
	if (cgroup_box_clone_fd(box) < 0) {
		free_and_check(box);
		print_message("skipped: no CLONE_INTO_CGROUP with driver %s\n",
			      host.driver_name);
		skip();
	}
	args.cgroup = (uint64_t)cgroup_box_clone_fd(box);
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0)
		_exit(lines_naming(box->name));
	if (pid < 0)
		fail_msg("clone3: %s", strerror(errno));
	status = wait_for((pid_t)pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	free_and_check(box);
}

static void use_much_memory(void)
{
	const size_t size = 256u * MIB;
	char *data =
	    mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (data == MAP_FAILED)
		_exit(92);
	for (size_t i = 0; i < size; i += 4096)
		data[i] = 1;
}

static void memory_cap_kills_and_is_counted(void **state)
{
	struct cgroup_counters counters;
	struct cgroup_box *box;
	int status;

	(void)state;
	need(&host.memory);
	box = box_with(32 * MIB, 0, 0);
	assert_int_equal(cgroup_box_oom_kills(box), 0);
	status = wait_for(run_in(box, use_much_memory));
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
	cgroup_box_counters(box, &counters);
	assert_int_equal(counters.oom_kills, 1);
	assert_int_equal(cgroup_box_oom_kills(box), 1);
	assert_int_equal(counters.memory_limit, 32 * MIB);
	if (counters.memory_peak != CGROUP_UNKNOWN) {
		assert_true(counters.memory_peak <= 32 * MIB);
		assert_true(counters.memory_peak >= 31 * MIB);
	}
	free_and_check(box);
}

static void ordinary_end_counts_no_oom(void **state)
{
	struct cgroup_counters counters;
	struct cgroup_box *box;
	pid_t pid;

	(void)state;
	need(&host.memory);
	box = box_with(64 * MIB, 0, 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		join(box);
		(void)raise(SIGKILL);
	}
	assert_true(WIFSIGNALED(wait_for(pid)));
	cgroup_box_counters(box, &counters);
	assert_int_equal(counters.oom_kills, 0);
	free_and_check(box);
}

/* The tasks that this process is (a sanitizer may add one). */
static int own_tasks(void)
{
	DIR *dir = opendir("/proc/self/task");
	int count = -2;

	while (dir && readdir(dir))
		count++;
	if (dir)
		(void)closedir(dir);
	return count;
}

/* Exits with how many tasks there were when no more could be started. */
static void fork_until_refused(void)
{
	int count = 0;
	pid_t children[64], pid;

	while (count < 64 && (pid = fork()) != 0) {
		if (pid < 0)
			break;
		children[count++] = pid;
	}
	if (count < 64 && pid == 0) {
		(void)pause();
		_exit(0);
	}
	if (errno != EAGAIN)
		count = 93;
	for (int i = 0; i < count && count <= 64; i++) {
		(void)kill(children[i], SIGKILL);
		(void)waitpid(children[i], NULL, 0);
	}
	_exit(count + own_tasks());
}

static void task_cap_refuses_and_is_counted(void **state)
{
	struct cgroup_counters counters;
	struct cgroup_box *box;
	int status;

	(void)state;
	need(&host.pids);
	box = box_with(0, 0, 4);
	status = wait_for(run_in(box, fork_until_refused));
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 4);
	cgroup_box_counters(box, &counters);
	assert_true(counters.pids_denied >= 1);
	if (counters.pids_peak != CGROUP_UNKNOWN)
		assert_int_equal(counters.pids_peak, 4);
	free_and_check(box);
}

/* A tenth of a second of CPU time, by the process's own clock; then a child that does the
 * same and is not waited for, so that only the group knows of its time. */
static void use_cpu(void)
{
	struct timespec used;

	(void)signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < 2; i++) {
		do
			clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
		while (used.tv_sec == 0 && used.tv_nsec < 100000000);
		if (i == 0 && fork() > 0) {
			while (waitpid(-1, NULL, 0) > 0)
				;
			return;
		}
	}
}

static void cpu_time_is_counted(void **state)
{
	struct cgroup_counters counters;
	struct cgroup_box *box;

	(void)state;
	need(&host.pids);
	box = box_with(0, 0, 16);
	assert_int_equal(wait_for(run_in(box, use_cpu)), 0);
	cgroup_box_counters(box, &counters);
	if (counters.cpu_us == CGROUP_UNKNOWN) {
		free_and_check(box);
		print_message("skipped: CPU time is not counted here\n");
		skip();
	}
	assert_true(counters.cpu_us >= 200000);
	free_and_check(box);
}

/* Everybody in the box holds the writing end of this pipe: its end-of-file says that all
 * of them are gone. */
static int alive[2];

static void sleep_stubbornly(void)
{
	(void)signal(SIGTERM, SIG_IGN);
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	for (int i = 0; i < 3; i++) {
		(void)fork();
		(void)setsid();
	}
	(void)!write(alive[1], "x", 1);
	for (;;)
		(void)pause();
}

static void multiply(void)
{
	(void)!write(alive[1], "x", 1);
	for (;;)
		(void)fork();
}

static void kill_ends(action act, int reports)
{
	struct cgroup_box *box = box_with(0, 0, 48);
	pid_t pid;
	char c;

	assert_int_equal(pipe2(alive, O_CLOEXEC), 0);
	pid = run_in(box, act);
	(void)close(alive[1]);
	for (int i = 0; i < reports; i++)
		assert_int_equal(read(alive[0], &c, 1), 1);
	assert_int_equal(cgroup_box_kill(box), 0);
	while (read(alive[0], &c, 1) > 0)
		;
	assert_true(WIFSIGNALED(wait_for(pid)));
	(void)close(alive[0]);
	free_and_check(box);
}

static void kill_ends_a_stubborn_tree(void **state)
{
	(void)state;
	need(&host.pids);
	kill_ends(sleep_stubbornly, 8);
}

static void kill_ends_a_fork_bomb(void **state)
{
	(void)state;
	need(&host.pids);
	kill_ends(multiply, 1);
}

static void kill_is_no_task_limit_hit(void **state)
{
	struct cgroup_counters counters;
	struct cgroup_box *box;
	pid_t pid;
	char c;

	(void)state;
	need(&host.pids);
	box = box_with(0, 0, 16);
	assert_int_equal(pipe2(alive, O_CLOEXEC), 0);
	pid = run_in(box, sleep_stubbornly);
	(void)close(alive[1]);
	for (int i = 0; i < 8; i++)
		assert_int_equal(read(alive[0], &c, 1), 1);
	assert_int_equal(cgroup_box_kill(box), 0);
	assert_true(WIFSIGNALED(wait_for(pid)));
	(void)close(alive[0]);
	cgroup_box_counters(box, &counters);
	assert_int_equal(counters.pids_denied, 0);
	free_and_check(box);
}

static void an_empty_box_can_be_killed(void **state)
{
	struct cgroup_box *box;

	(void)state;
	need(&host.pids);
	box = box_with(0, 0, 16);
	assert_int_equal(cgroup_box_kill(box), 0);
	free_and_check(box);
}

static void freeing_ends_what_is_left(void **state)
{
	struct cgroup_box *box;
	pid_t pid;
	char c;

	(void)state;
	need(&host.pids);
	box = box_with(0, 0, 16);
	assert_int_equal(pipe2(alive, O_CLOEXEC), 0);
	pid = run_in(box, sleep_stubbornly);
	(void)close(alive[1]);
	for (int i = 0; i < 8; i++)
		assert_int_equal(read(alive[0], &c, 1), 1);
	free_and_check(box);
	assert_int_equal(read(alive[0], &c, 1), 0);
	(void)close(alive[0]);
	assert_true(WIFSIGNALED(wait_for(pid)));
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
		struct cgroup_box *box = box_with(0, 0, 16);

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

static void the_next_process_sweeps_its_place(void **state)
{
	struct trace trace;
	pid_t pid;

	(void)state;
	need(&host.pids);
	leave_a_box(&trace);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct cgroup_place *place = cgroup_place_get(CGROUP_ALLOW_MOVE);

		/* As a process that has not made a box yet. */
		cgroup_place_lost(place);
		cgroup_place_put(place);
		(void)cgroup_box_free(box_with(0, 0, 16));
		_exit(0);
	}
	assert_int_equal(wait_for(pid), 0);
	assert_gone(&trace);
	(void)close(alive[0]);
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
	print_message(
	    "skipped: this sanitizer's allocator locks up in forks of threads\n");
	skip();
#endif
	need(&host.pids);
	stop = false;
	assert_int_equal(pthread_create(&thread, NULL, look_anew, NULL), 0);
	for (int i = 0; i < 50; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid == 0) {
			(void)alarm(30); /* a lock that is never released ends here */
			(void)cgroup_box_free(box_with(0, 0, 16));
			_exit(0);
		}
		assert_int_equal(wait_for(pid), 0);
	}
	stop = true;
	assert_int_equal(pthread_join(thread, NULL), 0);
}

/* As somebody who may write to none of the groups here. Exits 0 when all is as it should.
 */
static void as_nobody(bool look_first)
{
	struct cgroup_caps caps = {.pids = 16};
	struct husk_error err = {0};
	struct cgroup_box *box = NULL;

	if (look_first) {
		struct cgroup_place *place = cgroup_place_get(CGROUP_ALLOW_MOVE);

		cgroup_place_lost(place);
		cgroup_place_put(place);
	}
	if (setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0)
		_exit(2);
	if (cgroup_box_new(&caps, true, &box, &err) != HUSK_E_SYSTEM || box)
		_exit(3);
	if (!strstr(err.where, "task cap") ||
	    !strstr(err.message, "cannot be enforced") || !strstr(err.message, "/") ||
	    !err.hint[0])
		_exit(4);
	if (cgroup_box_new(&caps, false, &box, &err) < 0)
		_exit(5);
	if (cgroup_box_pids(box) != CGROUP_BEST_EFFORT ||
	    !cgroup_box_wants_rlimit_nproc(box))
		_exit(6);
	(void)cgroup_box_free(box);
	_exit(0);
}

static void who_may_not_is_told_why(void **state)
{
	(void)state;
	if (geteuid() != 0) {
		print_message("skipped: needs root to become somebody else\n");
		skip();
	}
	need(&host.pids);
	for (int look_first = 0; look_first < 2; look_first++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid == 0)
			as_nobody(look_first);
		assert_int_equal(wait_for(pid), 0);
	}
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

static int look(void **state)
{
	int r = cgroup_describe(&host);

	(void)state;
	print_message("control groups here: driver %s%s\n", host.driver_name,
		      host.moves_caller ? ", after moving the caller" : "");
	return r;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(caps_are_in_the_kernel),
	    cmocka_unit_test(cpu_caps_are_in_the_kernel),
	    cmocka_unit_test(odd_values_are_rounded_and_hold),
	    cmocka_unit_test(less_than_a_page_is_refused),
	    cmocka_unit_test(without_caps_it_works_everywhere),
	    cmocka_unit_test(joining_moves_the_process),
	    cmocka_unit_test(clone_puts_the_process_in),
	    cmocka_unit_test(memory_cap_kills_and_is_counted),
	    cmocka_unit_test(ordinary_end_counts_no_oom),
	    cmocka_unit_test(task_cap_refuses_and_is_counted),
	    cmocka_unit_test(cpu_time_is_counted),
	    cmocka_unit_test(kill_ends_a_stubborn_tree),
	    cmocka_unit_test(kill_ends_a_fork_bomb),
	    cmocka_unit_test(kill_is_no_task_limit_hit),
	    cmocka_unit_test(an_empty_box_can_be_killed),
	    cmocka_unit_test(freeing_ends_what_is_left),
	    cmocka_unit_test(sweep_removes_what_the_dead_left),
	    cmocka_unit_test(the_next_process_sweeps_its_place),
	    cmocka_unit_test(sweep_leaves_our_own),
	    cmocka_unit_test(two_threads_make_a_hundred),
	    cmocka_unit_test(a_hundred_threads_use_one_each),
	    cmocka_unit_test(a_fork_in_the_midst_works),
	    cmocka_unit_test(who_may_not_is_told_why),
	    cmocka_unit_test(nothing_is_left_open),
	};

	return cmocka_run_group_tests(tests, look, NULL);
}
