/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a command and makes one system call of it fail: the Nth of all that the command
 *and what it starts make, in the order in which they come, init in its namespaces
 *included.
 *
 *	failing_call REPORT NTH WHICH SECONDS COMMAND [ARGUMENT...]
 *
 * NTH 0: none fails. WHICH: the first (0), second, ... of the errors that fit the call
 * (calls, below); a call that has none such does what it does. A call that fails is not
 * made, except close, which closes whatever it says (close(2)). Not counted: what cannot
 * fail, the dynamic loader before main(), and the program in the box, which is let go
 * when it is executed: the third program in a row, after husk and init.
 *
 * REPORT: a file for lines of
 *	call N NAME ROLE ERRORS		with NTH 0: what could fail, and in how many ways
 *	hit NAME ROLE ERRNO STARTED	what failed; STARTED: a program was executed
 *before memory-limit N, pids-limit N	of the control group (v1) of the program in the
 *box total N				calls that were counted left N
 *processes that outlived the command by SECONDS hang				it did not
 *end within SECONDS, and was killed The exit status is the command's; 128 + N for a
 *signal; 2 for mistakes of ours.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef PTRACE_GET_SYSCALL_INFO
#define PTRACE_GET_SYSCALL_INFO 0x420e
#endif
/* As in linux/ptrace.h, which cannot be had beside sys/ptrace.h. */
struct call_info {
	uint8_t op;
	uint8_t pad[3];
	uint32_t arch;
	uint64_t instruction_pointer, stack_pointer;
	union {
		struct {
			uint64_t nr, args[6];
		} entry;
		struct {
			int64_t value;
			uint8_t is_error;
		} exit;
	};
};
enum { OP_ENTRY = 1, OP_EXIT = 2 };

enum { ERRORS = 5, TASKS = 256, PROGRAM_DEPTH = 3 };

#define OPEN	EMFILE, ENOMEM, EPERM, EIO
#define MAKE_FD EMFILE, ENOMEM
#define LOOK	EIO, ENOMEM
#define CHANGE	ENOSPC, EIO, EPERM
#define REMOVE	EIO, EPERM
#define MOUNT	EPERM, ENOMEM, ENOSPC
#define RIGHTS	EPERM, ENOMEM
#define START	EAGAIN, ENOMEM, EPERM
#define NEVER	0

struct call {
	long nr;
	const char *name;
	int errors[ERRORS]; /* ended by 0 */
};

/* What a call may say when it fails, likely things first. What is not here: EPERM. Of
 * munmap the C library expects that it works, and aborts. Sorted. */
/* clang-format off */
#define ROW(name, ...) {SYS_##name, #name, {__VA_ARGS__}}
static const struct call calls[] = {
	ROW(accept4, MAKE_FD),
	ROW(access, LOOK),
	ROW(alarm, NEVER),
	ROW(arch_prctl, NEVER),
	ROW(brk, NEVER),
	ROW(capget, RIGHTS),
	ROW(capset, RIGHTS),
	ROW(chdir, LOOK),
	ROW(chmod, CHANGE),
	ROW(chroot, MOUNT),
	ROW(clock_nanosleep, EINTR),
	ROW(clone, START),
	ROW(clone3, START),
	ROW(close, EIO, EINTR),
	ROW(close_range, ENOMEM),
	ROW(connect, EPERM, EINTR),
	ROW(copy_file_range, ENOSPC, EIO),
	ROW(dup, MAKE_FD),
	ROW(dup2, MAKE_FD),
	ROW(dup3, MAKE_FD),
	ROW(epoll_create1, MAKE_FD),
	ROW(epoll_ctl, ENOMEM),
	ROW(epoll_wait, EINTR),
	ROW(eventfd2, MAKE_FD),
	ROW(execve, ENOMEM, EPERM, EIO),
	ROW(execveat, ENOMEM, EPERM, EIO),
	ROW(exit, NEVER),
	ROW(exit_group, NEVER),
	ROW(faccessat, LOOK),
	ROW(faccessat2, LOOK),
	ROW(fadvise64, NEVER),
	ROW(fallocate, CHANGE),
	ROW(fchdir, LOOK),
	ROW(fchmod, CHANGE),
	ROW(fchmodat, CHANGE),
	ROW(fchown, CHANGE),
	ROW(fchownat, CHANGE),
	ROW(fcntl, NEVER),
	ROW(fdatasync, CHANGE),
	ROW(flistxattr, LOOK),
	ROW(flock, ENOLCK, EINTR),
	ROW(fsconfig, MOUNT),
	ROW(fsmount, MOUNT),
	ROW(fsopen, MOUNT),
	ROW(fstat, LOOK),
	ROW(fstatfs, LOOK),
	ROW(fsync, CHANGE),
	ROW(ftruncate, CHANGE),
	ROW(futex, NEVER),
	ROW(getcwd, LOOK),
	ROW(getdents64, LOOK),
	ROW(getegid, NEVER),
	ROW(geteuid, NEVER),
	ROW(getgid, NEVER),
	ROW(getpeername, ENOMEM),
	ROW(getpgid, NEVER),
	ROW(getpid, NEVER),
	ROW(getppid, NEVER),
	ROW(getrandom, EINTR, ENOSYS),
	ROW(getresgid, NEVER),
	ROW(getresuid, NEVER),
	ROW(getrusage, NEVER),
	ROW(getsid, NEVER),
	ROW(getsockname, ENOMEM),
	ROW(getsockopt, ENOMEM),
	ROW(gettid, NEVER),
	ROW(getuid, NEVER),
	ROW(getxattr, LOOK),
	ROW(ioctl, ENOMEM, EPERM),
	ROW(kill, EPERM),
	ROW(landlock_add_rule, RIGHTS),
	ROW(landlock_create_ruleset, MAKE_FD),
	ROW(landlock_restrict_self, RIGHTS),
	ROW(lgetxattr, LOOK),
	ROW(link, CHANGE),
	ROW(linkat, CHANGE),
	ROW(lseek, EINVAL),
	ROW(lstat, LOOK),
	ROW(madvise, ENOMEM),
	ROW(memfd_create, MAKE_FD),
	ROW(mkdir, CHANGE),
	ROW(mkdirat, CHANGE),
	ROW(mknod, CHANGE),
	ROW(mknodat, CHANGE),
	ROW(mmap, ENOMEM),
	ROW(mount, MOUNT),
	ROW(mount_setattr, MOUNT),
	ROW(move_mount, MOUNT),
	ROW(mprotect, ENOMEM),
	ROW(mremap, ENOMEM),
	ROW(munmap, NEVER),
	ROW(nanosleep, EINTR),
	ROW(newfstatat, LOOK),
	ROW(open, OPEN),
	ROW(open_tree, MOUNT),
	ROW(openat, OPEN),
	ROW(openat2, OPEN, EAGAIN),
	ROW(pidfd_open, MAKE_FD),
	ROW(pidfd_send_signal, EPERM),
	ROW(pipe2, MAKE_FD),
	ROW(pivot_root, MOUNT),
	ROW(poll, EINTR, ENOMEM),
	ROW(ppoll, EINTR, ENOMEM),
	ROW(prctl, RIGHTS),
	ROW(pread64, EIO, EINTR),
	ROW(prlimit64, RIGHTS),
	ROW(pwrite64, ENOSPC, EIO, EINTR),
	ROW(read, EIO, EINTR),
	ROW(readlink, LOOK),
	ROW(readlinkat, LOOK),
	ROW(recvfrom, ENOMEM, EINTR),
	ROW(recvmsg, ENOMEM, EINTR),
	ROW(rename, CHANGE),
	ROW(renameat, CHANGE),
	ROW(renameat2, CHANGE),
	ROW(restart_syscall, NEVER),
	ROW(rmdir, REMOVE),
	ROW(rseq, NEVER),
	ROW(rt_sigaction, NEVER),
	ROW(rt_sigpending, NEVER),
	ROW(rt_sigprocmask, NEVER),
	ROW(rt_sigreturn, NEVER),
	ROW(rt_sigtimedwait, EAGAIN),
	ROW(sched_getaffinity, ENOMEM),
	ROW(sched_yield, NEVER),
	ROW(seccomp, RIGHTS),
	ROW(sendfile, EIO, EINTR, ENOMEM),
	ROW(sendmsg, ENOMEM, EINTR),
	ROW(sendto, ENOMEM, EINTR),
	ROW(set_robust_list, NEVER),
	ROW(set_tid_address, NEVER),
	ROW(setgroups, RIGHTS),
	ROW(sethostname, RIGHTS),
	ROW(setns, RIGHTS),
	ROW(setresgid, RIGHTS),
	ROW(setresuid, RIGHTS),
	ROW(setsid, NEVER),
	ROW(setsockopt, ENOMEM),
	ROW(shutdown, ENOMEM),
	ROW(sigaltstack, NEVER),
	ROW(signalfd4, MAKE_FD),
	ROW(socket, MAKE_FD),
	ROW(socketpair, MAKE_FD),
	ROW(splice, EIO, ENOMEM),
	ROW(stat, LOOK),
	ROW(statfs, LOOK),
	ROW(statx, LOOK),
	ROW(symlink, CHANGE),
	ROW(symlinkat, CHANGE),
	ROW(sysinfo, NEVER),
	ROW(tgkill, EAGAIN),
	ROW(timerfd_create, MAKE_FD),
	ROW(timerfd_settime, ENOMEM),
	ROW(truncate, CHANGE),
	ROW(umask, NEVER),
	ROW(umount2, MOUNT),
	ROW(uname, NEVER),
	ROW(unlink, REMOVE),
	ROW(unlinkat, REMOVE),
	ROW(unshare, MOUNT),
	ROW(utimensat, CHANGE),
	ROW(vfork, START),
	ROW(wait4, EINTR),
	ROW(waitid, EINTR),
	ROW(write, ENOSPC, EIO, EINTR),
	ROW(writev, ENOSPC, EIO, EINTR),
};
#undef ROW
/* clang-format on */

struct task {
	pid_t pid;
	int depth;	 /* programs executed so far, in it and before it */
	uint64_t loader; /* where the dynamic loader lies, to its end; 0: there is none */
	uint64_t loader_end;
	bool begun;   /* past the loader */
	int error;    /* the call that it is in says so; 0: whatever comes */
	bool replace; /* and is not made */
	bool known;   /* its birth was told of: it is what it says here */
	bool held;    /* and until then it waits at its first stop */
	bool thread;  /* of the command itself */
};

static struct task tasks[TASKS];
static pid_t command_pid;
static FILE *report;
static long nth, total;
static int which;
static bool started, hit;

static _Noreturn void die(const char *what)
{
	perror(what);
	exit(2);
}

static struct task *task_of(pid_t pid)
{
	struct task *unused = NULL;

	for (size_t i = 0; i < TASKS; i++) {
		if (tasks[i].pid == pid)
			return &tasks[i];
		if (tasks[i].pid == 0 && !unused)
			unused = &tasks[i];
	}
	if (!unused) {
		(void)fprintf(stderr, "more than %d tasks at once\n", TASKS);
		exit(2);
	}
	*unused = (struct task){.pid = pid, .depth = 1, .begun = true};
	return unused;
}

static size_t count_tasks(void)
{
	size_t count = 0;

	for (size_t i = 0; i < TASKS; i++)
		count += tasks[i].pid != 0;
	return count;
}

/* -- what is known of calls ---------------------------------------------------------- */

static struct call look_up(long nr, const struct call_info *info)
{
	struct call unknown = {nr, "other", {EPERM}};

	/* Of the many things that fcntl does, these can fail with a good descriptor. */
	if (nr == SYS_fcntl &&
	    (info->entry.args[1] == F_DUPFD || info->entry.args[1] == F_DUPFD_CLOEXEC))
		return (struct call){nr, "fcntl", {MAKE_FD}};
	if (nr == SYS_fcntl && info->entry.args[1] == F_ADD_SEALS)
		return (struct call){nr, "fcntl", {EPERM}};
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (calls[i].nr == nr)
			return calls[i];
	}
	return unknown;
}

static int count_errors(const struct call *call)
{
	int count = 0;

	while (count < ERRORS && call->errors[count])
		count++;
	return count;
}

static const char *role_of(const struct task *task)
{
	if (task->depth > 1)
		return "init";
	return task->pid == command_pid || task->thread ? "caller" : "child";
}

/* -- the loader ---------------------------------------------------------------------- */

/* Where the dynamic loader of a program that was just executed lies. */
static void find_loader(struct task *task)
{
	char path[64], line[512];
	uint64_t begin, end;
	FILE *maps;

	task->loader = task->loader_end = 0;
	task->begun = true;
	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)task->pid);
	maps = fopen(path, "re");
	while (maps && fgets(line, sizeof(line), maps)) {
		const char *slash = strrchr(line, '/');

		if (!slash || strncmp(slash, "/ld-linux", 9) != 0 ||
		    sscanf(line, "%lx-%lx", &begin, &end) != 2)
			continue;
		if (task->loader == 0)
			task->loader = begin;
		task->loader_end = end;
		task->begun = false;
	}
	if (maps)
		(void)fclose(maps);
}

static bool is_loading(struct task *task, const struct call_info *info)
{
	if (!task->begun && (info->instruction_pointer < task->loader ||
			     info->instruction_pointer >= task->loader_end))
		task->begun = true;
	return !task->begun;
}

/* -- calls --------------------------------------------------------------------------- */

static void entered(struct task *task, const struct call_info *info)
{
	struct call call = look_up((long)info->entry.nr, info);
	int errors = count_errors(&call);

	task->error = 0;
	if (errors == 0 || is_loading(task, info))
		return;
	total++;
	if (nth == 0)
		(void)fprintf(report, "call %ld %s %s %d\n", total, call.name,
			      role_of(task), errors);
	if (total != nth || which >= errors)
		return;
	hit = true;
	task->error = call.errors[which];
	task->replace = call.nr != SYS_close;
	(void)fprintf(report, "hit %s %s %s %d\n", call.name, role_of(task),
		      strerrorname_np(task->error), started);
	/* Not "no call": a filter of the program's may mind that. */
	if (task->replace &&
	    ptrace(PTRACE_POKEUSER, task->pid,
		   offsetof(struct user_regs_struct, orig_rax), SYS_getpid) < 0)
		die("replace a call");
}

static void left(struct task *task)
{
	if (task->error == 0)
		return;
	if (ptrace(PTRACE_POKEUSER, task->pid, offsetof(struct user_regs_struct, rax),
		   -(long)task->error) < 0)
		die("set a result");
	task->error = 0;
}

static void call_stop(struct task *task)
{
	struct call_info info = {0};

	if (ptrace(PTRACE_GET_SYSCALL_INFO, task->pid, sizeof(info), &info) < 0)
		return; /* killed meanwhile */
	if (info.op == OP_ENTRY)
		entered(task, &info);
	else if (info.op == OP_EXIT)
		left(task);
}

/* -- programs ------------------------------------------------------------------------ */

static void print_limit(const char *word, const char *controller, const char *group,
			const char *file)
{
	char path[4400];
	unsigned long long value;
	FILE *limit;

	(void)snprintf(path, sizeof(path), "/sys/fs/cgroup/%s%s/%s", controller, group,
		       file);
	limit = fopen(path, "re");
	if (limit && fscanf(limit, "%llu", &value) == 1)
		(void)fprintf(report, "%s %llu\n", word, value);
	if (limit)
		(void)fclose(limit);
}

/* What holds for the program, as the host sees it, before its first instruction. */
static void print_limits(pid_t pid)
{
	char path[64], line[4200];
	FILE *groups;

	(void)snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	groups = fopen(path, "re");
	while (groups && fgets(line, sizeof(line), groups)) {
		char *name = strchr(line, ':'),
		     *group = name ? strchr(name + 1, ':') : NULL;

		if (!group)
			continue;
		*group++ = '\0';
		group[strcspn(group, "\n")] = '\0';
		if (strcmp(name + 1, "memory") == 0)
			print_limit("memory-limit", "memory", group,
				    "memory.limit_in_bytes");
		if (strcmp(name + 1, "pids") == 0)
			print_limit("pids-limit", "pids", group, "pids.max");
	}
	if (groups)
		(void)fclose(groups);
}

static void executed(struct task *task)
{
	/* The loader's answer for the call that is still to be left. */
	task->error = 0;
	task->depth++;
	if (task->depth < PROGRAM_DEPTH) {
		find_loader(task);
		return;
	}
	started = true;
	print_limits(task->pid);
	(void)ptrace(PTRACE_DETACH, task->pid, NULL, NULL);
	task->pid = 0;
}

/* The new task may have been seen before its birth is told of, or come later. */
static void born(const struct task *parent)
{
	unsigned long pid = 0;
	struct task *child;
	char path[64];

	if (ptrace(PTRACE_GETEVENTMSG, parent->pid, NULL, &pid) < 0)
		return;
	child = task_of((pid_t)pid);
	child->known = true;
	child->depth = parent->depth;
	child->begun = parent->begun;
	child->loader = parent->loader;
	child->loader_end = parent->loader_end;
	(void)snprintf(path, sizeof(path), "/proc/%d/task/%lu", (int)command_pid, pid);
	child->thread = access(path, F_OK) == 0;
	if (child->held)
		(void)ptrace(PTRACE_SYSCALL, child->pid, NULL, 0);
	child->held = false;
}

/* -- the loop ------------------------------------------------------------------------ */

/* Go on with what a stop was about. */
static void stopped(struct task *task, int status)
{
	int sig = WSTOPSIG(status), event = status >> 16;
	pid_t pid = task->pid;

	if (sig == (SIGTRAP | 0x80)) {
		call_stop(task);
		sig = 0;
	} else if (event == PTRACE_EVENT_STOP) {
		task->held = !task->known && sig == SIGTRAP;
		if (task->held)
			return;
		/* Born (SIGTRAP), or stopped with its group. */
		if (sig != SIGTRAP) {
			(void)ptrace(PTRACE_LISTEN, pid, NULL, NULL);
			return;
		}
		sig = 0;
	} else if (event == PTRACE_EVENT_EXEC) {
		executed(task);
		sig = 0;
	} else if (event != 0) {
		born(task);
		sig = 0;
	}
	if (task->pid != 0)
		(void)ptrace(PTRACE_SYSCALL, pid, NULL, sig);
}

static void begin(char **argv, int ready[2])
{
	char byte;

	(void)close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		_exit(2);
	(void)execv(argv[0], argv);
	perror(argv[0]);
	_exit(127);
}

static void start(char **argv)
{
	int ready[2];

	if (pipe2(ready, O_CLOEXEC) < 0)
		die("pipe");
	command_pid = fork();
	if (command_pid < 0)
		die("fork");
	if (command_pid == 0)
		begin(argv, ready);
	if (ptrace(PTRACE_SEIZE, command_pid, NULL,
		   PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
		       PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL) < 0)
		die("trace");
	tasks[0] =
	    (struct task){.pid = command_pid, .depth = 0, .begun = false, .known = true};
	tasks[0].loader_end = UINT64_MAX; /* nothing counts before the command */
	if (write(ready[1], "", 1) != 1)
		die("pipe");
	(void)close(ready[0]);
	(void)close(ready[1]);
}

static volatile sig_atomic_t time_is_up;

static void on_alarm(int sig)
{
	(void)sig;
	time_is_up = 1;
}

/* Until all are gone, or too late. Returns the wait status of the command. */
static int follow(unsigned seconds)
{
	int status, command_status = -1;

	while (count_tasks() > 0) {
		pid_t pid = waitpid(-1, &status, __WALL);

		if (pid < 0 && errno == EINTR && time_is_up)
			break;
		if (pid < 0 && errno == EINTR)
			continue;
		if (pid < 0)
			break;
		if (WIFSTOPPED(status)) {
			stopped(task_of(pid), status);
			continue;
		}
		task_of(pid)->pid = 0;
		if (pid != command_pid)
			continue;
		command_status = status;
		(void)alarm(seconds);
	}
	if (command_status == -1)
		(void)fprintf(report, "hang\n");
	else
		(void)fprintf(report, "left %zu\n", time_is_up ? count_tasks() : 0);
	return command_status;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_alarm}; /* interrupts waitpid */
	unsigned seconds;
	int status;

	if (argc < 6) {
		(void)fprintf(stderr, "usage: failing_call REPORT NTH WHICH SECONDS "
				      "COMMAND [ARGUMENT...]\n");
		return 2;
	}
	report = fopen(argv[1], "we");
	if (!report)
		die(argv[1]);
	nth = strtol(argv[2], NULL, 10);
	which = (int)strtol(argv[3], NULL, 10);
	seconds = (unsigned)strtoul(argv[4], NULL, 10);
	(void)sigaction(SIGALRM, &action, NULL);
	start(argv + 5);
	(void)alarm(seconds);
	status = follow(seconds);
	(void)fprintf(report, "total %ld\n", total);
	(void)fclose(report);
	if (status == -1)
		return 2;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
