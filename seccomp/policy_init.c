/* SPDX-License-Identifier: Apache-2.0 */
/* What the init program does once there is a program under it. It answers what a box
 * sends, so it is held to these calls before anything of the box runs; whatever else it
 * were made to ask for ends it, and the box with it. The tests hold the table to
 * runtime/init, which makes no other call after its guard is up. */
#include "seccomp/policy_row.h"

#include <linux/futex.h>
#include <linux/ioctl.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>

enum { SOURCE_RIGHT = 3 };

#define AT_MOST(a, v)                                         \
	{                                                     \
		.arg = (a), .op = SECCOMP_OP_LE, .value = (v) \
	}

static const struct seccomp_row rows[] = {
    PASS("clock_gettime", "the time that is left"),
    PASS_IF("close", "the streams, once the program has them", AT_MOST(0, SOURCE_RIGHT)),
    PASS("exit_group", "the end"),
    PASS("faccessat", "is there a program that could not be executed?"),
    PASS_IF("futex", "waits until the program is executed", IS(1, FUTEX_WAIT)),
    PASS_IF("futex", "lets it be executed", IS(1, FUTEX_WAKE)),
    PASS_IF("ioctl", "receives denied calls", IS(1, SECCOMP_IOCTL_NOTIF_RECV)),
    PASS_IF("kill", "lets the process of a parked box go on", IS(1, SIGCONT)),
    PASS_IF("kill", "ends what made one, and all at the end", IS(1, SIGKILL)),
    PASS("ppoll", "waits for whatever happens"),
    PASS("read", "takes the signals that say a child has ended, and requests"),
    PASS("restart_syscall", "the kernel's own, after it was stopped"),
    PASS("sendto", "reports"),
    PASS_IF("tgkill", "is a task one of the main process's?", IS(2, 0)),
    PASS("wait4", "reaps"),
};

/* And these where it traces the program to say what is refused. */
static const struct seccomp_row trace_rows[] = {
    PASS("process_vm_readv", "reads the names of files that calls were about"),
    PASS_IF("ptrace", "what call is it, and what came of it?",
	    IS(0, PTRACE_GET_SYSCALL_INFO)),
    PASS_IF("ptrace", "leaves a stopped job stopped", IS(0, PTRACE_LISTEN)),
    PASS_IF("ptrace", "lets it go on", IS(0, PTRACE_SYSCALL)),
    PASS("readlinkat", "where does a task work, and what is its descriptor of?"),
};

/* And these while it waits for a call, and until the call's program goes on. */
static const struct seccomp_row park_rows[] = {
    PASS("close", "what it needs no more"),
    PASS_IF("dup3", "makes a pipe the standard input", IS(1, 0)),
    PASS("fchdir", "enters the call's working directory"),
    PASS("openat2", "opens it"),
    PASS("recvmsg", "takes the call, and a pipe"),
    PASS("seccomp", "gives these calls up, runtime/init/narrow_filter.h"),
    PASS_IF("unshare", "keeps its working directory from the program's", IS(0, CLONE_FS)),
};

const struct seccomp_table seccomp_init_park_calls = {
    park_rows, sizeof(park_rows) / sizeof(park_rows[0])};
const struct seccomp_table seccomp_init_trace_calls = {
    trace_rows, sizeof(trace_rows) / sizeof(trace_rows[0])};
const struct seccomp_table seccomp_init_calls = {rows, sizeof(rows) / sizeof(rows[0])};
