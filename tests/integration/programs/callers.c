/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Callers in odd states. Takes one, runs a program in boxes from it, and looks whether
 *the library left the caller as it was.
 *
 *	callers STATE enforce|best-effort REPORT RUNS PROG [ARG...]
 *
 * REPORT is a file, since some states have no standard streams. Its lines: `failed WORDS`
 *for a run that was not what it should be, `changed WHAT` for what is other than before,
 *and last `stdout` with the output of the last run on the lines that follow.
 */
#include <husk.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SMALL_STACK = 1 << 20 }; /* their frames are larger */
#else
enum { SMALL_STACK = 64 << 10 };
#endif
enum { FDS = 4096 };

static FILE *report;
static atomic_long ticks, reaped;
static atomic_int stop;

/* -- what a caller is -------------------------------------------------------------------
 */

struct facts {
	mode_t mask;
	sigset_t blocked;
	struct sigaction actions[NSIG];
	char cwd[512];
	char fds[FDS];
	struct rlimit files;
	int dumpable, nice;
};

static void look(struct facts *facts)
{
	memset(facts, 0, sizeof(*facts));
	facts->mask = umask(0);
	umask(facts->mask);
	pthread_sigmask(SIG_SETMASK, NULL, &facts->blocked);
	for (int sig = 1; sig < NSIG; sig++)
		sigaction(sig, NULL, &facts->actions[sig]);
	if (!getcwd(facts->cwd, sizeof(facts->cwd)))
		facts->cwd[0] = '\0';
	for (int fd = 0; fd < FDS; fd++)
		facts->fds[fd] = fcntl(fd, F_GETFD) >= 0;
	getrlimit(RLIMIT_NOFILE, &facts->files);
	facts->dumpable = prctl(PR_GET_DUMPABLE);
	facts->nice = getpriority(PRIO_PROCESS, 0);
}

static int open_files(const struct facts *facts)
{
	int count = 0;

	for (int fd = 0; fd < FDS; fd++)
		count += facts->fds[fd];
	return count;
}

static void compare(const struct facts *a, const struct facts *b)
{
	if (a->mask != b->mask)
		fprintf(report, "changed umask\n");
	if (memcmp(&a->blocked, &b->blocked, sizeof(a->blocked)) != 0)
		fprintf(report, "changed blocked signals\n");
	for (int sig = 1; sig < NSIG; sig++) {
		if (a->actions[sig].sa_handler != b->actions[sig].sa_handler ||
		    a->actions[sig].sa_flags != b->actions[sig].sa_flags)
			fprintf(report, "changed disposition of signal %d\n", sig);
	}
	if (strcmp(a->cwd, b->cwd) != 0)
		fprintf(report, "changed working directory\n");
	for (int fd = 0; fd < FDS; fd++) {
		if (a->fds[fd] && !b->fds[fd])
			fprintf(report, "changed descriptor %d\n", fd);
	}
	if (memcmp(&a->files, &b->files, sizeof(a->files)) != 0)
		fprintf(report, "changed limit of descriptors\n");
	if (a->dumpable != b->dumpable)
		fprintf(report, "changed dumpable from %d to %d\n", a->dumpable,
			b->dumpable);
	if (a->nice != b->nice)
		fprintf(report, "changed nice\n");
}

/* -- the states -------------------------------------------------------------------------
 */

static void plain(void)
{
}

static void ignore_children(void)
{
	signal(SIGCHLD, SIG_IGN);
}

static void count_tick(int sig)
{
	(void)sig;
	ticks++;
}

/* No child of the library's is the caller's business: its handler must not be called. */
static void handle_children(void)
{
	struct sigaction action = {.sa_handler = count_tick};

	sigaction(SIGCHLD, &action, NULL);
}

static void ignore_much(void)
{
	static const int much[] = {SIGPIPE, SIGTERM, SIGINT, SIGHUP,
				   SIGCHLD, SIGUSR1, SIGALRM};

	for (size_t i = 0; i < sizeof(much) / sizeof(much[0]); i++)
		signal(much[i], SIG_IGN);
}

static void block_all(void)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
}

/* Somebody else's loop that reaps whatever child there is. */
static void *reap_for_ever(void *unused)
{
	struct timespec nap = {0, 200 * 1000};

	while (!stop) {
		if (waitpid(-1, NULL, 0) > 0)
			reaped++;
		else
			nanosleep(&nap, NULL);
	}
	return unused;
}

static pthread_t reapers[2];

static void foreign_wait(void)
{
	for (size_t i = 0; i < sizeof(reapers) / sizeof(reapers[0]); i++) {
		if (pthread_create(&reapers[i], NULL, reap_for_ever, NULL) != 0)
			exit(2);
	}
}

/* The thread sanitizer counts threads that nobody waited for. */
static void end_reapers(void)
{
	stop = 1;
	for (size_t i = 0; i < sizeof(reapers) / sizeof(reapers[0]); i++)
		pthread_join(reapers[i], NULL);
}

/* Without SA_RESTART: every call that can be interrupted is. */
static void interval_timer(void)
{
	struct sigaction action = {.sa_handler = count_tick};
	struct itimerval every = {{0, 1000}, {0, 1000}};

	sigaction(SIGALRM, &action, NULL);
	sigaction(SIGCHLD, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}

static void mask_077(void)
{
	umask(077);
}

static void limit_files(rlim_t soft)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = soft;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void files_20(void)
{
	limit_files(20);
}

static void files_32(void)
{
	limit_files(32);
}

static void small_files(void)
{
	struct rlimit limit = {1 << 20, RLIM_INFINITY};

	setrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = limit.rlim_max = RLIM_INFINITY;
	setrlimit(RLIMIT_CORE, &limit);
}

static void closed_0(void)
{
	close(0);
}

static void closed_0_1(void)
{
	close(0);
	close(1);
}

static void closed_0_1_2(void)
{
	close(0);
	close(1);
	close(2);
}

/* 3 to 9 taken, so that new descriptors land low and high in turn. */
static void closed_and_taken(void)
{
	for (int fd = 3; fd < 10; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			(void)!dup2(2, fd);
	}
	closed_0_1_2();
}

static void lost_directory(void)
{
	char name[] = "lost-XXXXXX", up[32];

	if (!mkdtemp(name) || chdir(name) < 0)
		exit(2);
	(void)snprintf(up, sizeof(up), "../%s", name);
	if (rmdir(up) < 0)
		exit(2);
}

static void nicer(void)
{
	(void)!nice(19);
}

static void one_processor(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void no_new_privileges(void)
{
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static const struct state {
	const char *name;
	void (*enter)(void);
} states[] = {
    {"blocked-signals", block_all},
    {"closed-0", closed_0},
    {"closed-0-1", closed_0_1},
    {"closed-0-1-2", closed_0_1_2},
    {"closed-and-taken", closed_and_taken},
    {"files-20", files_20},
    {"files-32", files_32},
    {"foreign-wait", foreign_wait},
    {"handled-children", handle_children},
    {"ignored-children", ignore_children},
    {"ignored-much", ignore_much},
    {"interval-timer", interval_timer},
    {"lost-directory", lost_directory},
    {"nice", nicer},
    {"no-new-privileges", no_new_privileges},
    {"one-processor", one_processor},
    {"plain", plain},
    {"small-files", small_files},
    {"small-stack", plain},
    {"umask-077", mask_077},
};

/* -- the runs ---------------------------------------------------------------------------
 */

struct job {
	const char *const *argv;
	long runs;
	int limits;
	int quiet, ticking; /* what the handler of the state must have seen: nothing,
			       something */
};

static void run_once(husk_session *session, const struct job *job, int last)
{
	struct husk_error err = {0};
	husk_result *result = NULL;

	if (husk_session_run(session, job->argv, NULL, &result, &err) < 0) {
		fprintf(report, "failed %s: %s\n", err.where, err.message);
		return;
	}
	if (!husk_result_success(result))
		fprintf(report, "failed exit %d %s %s\n", husk_result_exit_code(result),
			husk_result_fault(result) ? husk_result_fault_message(result)
						  : "-",
			husk_result_stderr(result, NULL));
	if (last)
		fprintf(report, "stdout\n%s", husk_result_stdout(result, NULL));
	husk_result_free(result);
}

static void *run_job(void *data)
{
	const struct job *job = data;
	HUSK_OPTIONS(options);
	struct husk_error err = {0};
	husk_session *session = NULL;
	struct facts before, during, after;
	long before_reaped = reaped;

	options.limits = job->limits;
	look(&before);
	if (husk_session_open(&options, &session, &err) < 0) {
		fprintf(report, "failed %s: %s\n", err.where, err.message);
		return NULL;
	}
	for (int i = 0; i < 2; i++) /* what is made once is made */
		run_once(session, job, 0);
	look(&during);
	for (long i = 3; i < job->runs; i++)
		run_once(session, job, 0);
	look(&after);
	compare(&before, &after);
	/* What is opened once for the process stays open: so not compared with `before`.
	 */
	if (open_files(&during) != open_files(&after))
		fprintf(report, "changed open descriptors from %d to %d\n",
			open_files(&during), open_files(&after));
	if (job->quiet && ticks > 0)
		fprintf(report, "changed SIGCHLD came %ld times\n", ticks);
	if (job->ticking && ticks == 0)
		fprintf(report, "failed the timer never ticked\n");
	if (reaped != before_reaped)
		fprintf(report, "changed a child of ours was reaped by somebody else\n");
	run_once(session, job, 1);
	husk_session_close(session);
	return NULL;
}

static void run_on_small_stack(struct job *job)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, SMALL_STACK);
	if (pthread_create(&thread, &attributes, run_job, job) != 0)
		exit(2);
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attributes);
}

int main(int argc, char **argv)
{
	struct job job = {.argv = (const char *const *)argv + 5};
	const struct state *state = NULL;

	for (size_t i = 0; argc >= 6 && i < sizeof(states) / sizeof(states[0]); i++) {
		if (strcmp(argv[1], states[i].name) == 0)
			state = &states[i];
	}
	if (!state)
		return 2;
	job.runs = strtol(argv[4], NULL, 10);
	if (strcmp(argv[2], "best-effort") == 0)
		job.limits = HUSK_LIMITS_BEST_EFFORT;
	report = fopen(argv[3], "we");
	if (!report)
		return 2;
	job.quiet = state->enter == handle_children;
	job.ticking = state->enter == interval_timer;
	state->enter();
	if (strcmp(state->name, "small-stack") == 0)
		run_on_small_stack(&job);
	else
		run_job(&job);
	if (state->enter == foreign_wait)
		end_reapers();
	return fclose(report) == 0 ? 0 : 2;
}
