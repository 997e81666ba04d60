/* SPDX-License-Identifier: Apache-2.0 */
/* Control groups on this very kernel: caps are set and hold, use is counted, the end
 * comes. */
#include "tests/unit/cgroup_live.h"
#include "tests/unit/skipping.h"

#include <dirent.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

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

/* Only where counting has a directory of its own is there one less. */
static void cpu_time_need_not_be_counted(void **state)
{
	struct cgroup_caps caps = {.pids = 16, .rough_cpu_time = true};
	struct cgroup_counters counters;
	struct cgroup_box *box = NULL, *exact;
	int group, less = 0;

	(void)state;
	need(&host.pids);
	assert_int_equal(cgroup_box_new(&caps, true, &box, NULL), 0);
	exact = box_with(0, 0, 16);
	group = cgroup_place_group(box->place, CGROUP_CPUACCT);
	for (size_t i = 0; i < box->place->count; i++)
		less += (exact->fds[i] >= 0) - (box->fds[i] >= 0);
	if (group >= 0 &&
	    box->place->groups[group].controllers == CGROUP_BIT(CGROUP_CPUACCT))
		assert_int_equal(less, 1);
	else if (group < 0)
		assert_int_equal(less, 0);
	cgroup_box_counters(box, &counters);
	if (less)
		assert_true(counters.cpu_us == CGROUP_UNKNOWN);
	free_and_check(exact);
	free_and_check(box);
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
		skip_because("no CLONE_INTO_CGROUP with driver %s", host.driver_name);
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

static long cpu_time_ms(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return used.tv_sec * 1000 + used.tv_nsec / 1000000;
}

/* A tenth of a second of CPU time, by the process's own clock, spent in the box; then a
 * child that does the same and is not waited for, so that only the group knows of its
 * time. */
static void use_cpu(void)
{
	long start = cpu_time_ms();

	while (cpu_time_ms() - start <= 100)
		;
	(void)signal(SIGCHLD, SIG_IGN);
	if (fork() == 0)
		while (cpu_time_ms() <= 100)
			;
	else
		while (waitpid(-1, NULL, 0) > 0)
			;
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
		skip_because("CPU time is not counted here");
	}
	assert_true(counters.cpu_us >= 200000);
	free_and_check(box);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(caps_are_in_the_kernel),
	    cmocka_unit_test(cpu_caps_are_in_the_kernel),
	    cmocka_unit_test(odd_values_are_rounded_and_hold),
	    cmocka_unit_test(less_than_a_page_is_refused),
	    cmocka_unit_test(without_caps_it_works_everywhere),
	    cmocka_unit_test(cpu_time_need_not_be_counted),
	    cmocka_unit_test(joining_moves_the_process),
	    cmocka_unit_test(clone_puts_the_process_in),
	    cmocka_unit_test(memory_cap_kills_and_is_counted),
	    cmocka_unit_test(ordinary_end_counts_no_oom),
	    cmocka_unit_test(task_cap_refuses_and_is_counted),
	    cmocka_unit_test(cpu_time_is_counted),
	};

	return cmocka_run_group_tests(tests, look, NULL);
}
