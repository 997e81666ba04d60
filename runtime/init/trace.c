/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watching every system call of the box, for a run that is to say what was refused.
 *
 * Init traces its own child and whatever that starts, ptrace(2). Nothing about the box is
 * another than usual: the same filter is in force and the same kernel answers. At the
 * entry of a call its number and arguments are in registers, which nobody can change
 * while the task is stopped, so what the filter is about to answer is found by asking the
 * same filter; at its exit the kernel's own answer is read. It costs two stops a call.
 */
#include "runtime/init/init.h"

#include <linux/prctl.h>
#include <linux/ptrace.h>
#include <signal.h>

#include "base/bpf.h"

enum {
	SYSCALL_STOP = SIGTRAP | 0x80, /* PTRACE_O_TRACESYSGOOD */
	/* Calls that are under way. Task numbers in a box are small and follow each
	 * other; where two share a place, the one that came last is known. */
	UNDER_WAY = 1024,
};

int trace_wanted(const struct init *init)
{
	return init->plan->denials != 0;
}

/* Until it executes, the child is as undumpable as we are, and who is that cannot be
 * attached to. Nothing of the box runs yet. It first stops when it has executed. */
long trace_begin(struct init *init, int child)
{
	const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK |
			     PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
			     PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
	long r = raw5(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0), again;

	(void)init;
	if (r == 0)
		r = raw4(SYS_ptrace, PTRACE_SEIZE, child, 0, options);
	again = raw5(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
	return r < 0 ? r : again;
}

static uint32_t answer_of(const struct init *init, const struct ptrace_syscall_info *info)
{
	struct seccomp_data data;

	if (init->plan->filter_count == 0)
		return SECCOMP_RET_ALLOW;
	memset(&data, 0, sizeof(data));
	data.nr = (int)info->entry.nr;
	data.arch = info->arch;
	data.instruction_pointer = info->instruction_pointer;
	memcpy(data.args, info->entry.args, sizeof(data.args));
	return bpf_answer(
	    (const struct sock_filter *)(const void *)plan_text(init, init->plan->filter),
	    init->plan->filter_count, &data);
}

/* Will the call come back with an errno of the filter's? */
static int is_errno(uint32_t answer)
{
	return (answer & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO;
}

static int is_let_pass(uint32_t answer)
{
	return answer == SECCOMP_RET_ALLOW || answer == SECCOMP_RET_LOG;
}

static void at_entry(struct init *init, struct refused *call, int task,
		     const struct ptrace_syscall_info *info)
{
	call->task = task;
	call->nr = (uint32_t)info->entry.nr;
	call->arch = info->arch;
	memcpy(call->args, info->entry.args, sizeof(call->args));
	call->answer = answer_of(init, info);
	/* What does not come back is noted now. */
	if (!is_let_pass(call->answer) && !is_errno(call->answer))
		refused_by_filter(init, call);
}

static void at_exit(struct init *init, struct refused *call, int task,
		    const struct ptrace_syscall_info *info)
{
	if (call->task != task)
		return; /* new, or its place was taken */
	if (is_errno(call->answer))
		refused_by_filter(init, call);
	else if (info->exit.is_error && is_let_pass(call->answer))
		refused_by_kernel(init, call, (int)-info->exit.rval);
	call->task = 0;
}

static void look_at_call(struct init *init, int task)
{
	static struct refused under_way[UNDER_WAY];
	struct refused *call = &under_way[(unsigned)task % UNDER_WAY];
	struct ptrace_syscall_info info;

	memset(&info, 0, sizeof(info));
	if (raw4(SYS_ptrace, PTRACE_GET_SYSCALL_INFO, task, sizeof(info), &info) <= 0)
		return;
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
		at_entry(init, call, task, &info);
	else if (info.op == PTRACE_SYSCALL_INFO_EXIT)
		at_exit(init, call, task, &info);
}

static int stops_jobs(int sig)
{
	return sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;
}

void trace_stop(struct init *init, int task, int status)
{
	int sig = status >> 8 & 0xff, event = status >> 16, deliver = 0;

	if (sig == SYSCALL_STOP) {
		look_at_call(init, task);
	} else if (event == PTRACE_EVENT_STOP && stops_jobs(sig)) {
		/* Stopped as by a terminal, and to be left so until it is continued. */
		(void)raw4(SYS_ptrace, PTRACE_LISTEN, task, 0, 0);
		return;
	} else if (event == 0) {
		deliver = sig;
	}
	(void)raw4(SYS_ptrace, PTRACE_SYSCALL, task, 0, deliver);
}
