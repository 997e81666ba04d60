/* SPDX-License-Identifier: Apache-2.0 */
/* What init takes from itself, and so from everything that it starts. */
#include "runtime/init/init.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/if.h>
#include <linux/in.h>
#include <linux/prctl.h>
#include <linux/sockios.h>
#include <sched.h>
#include <sys/resource.h>

enum {
	SOCKET_INET = 2,	      /* AF_INET */
	DGRAM_CLOEXEC = 2 | 02000000, /* SOCK_DGRAM | SOCK_CLOEXEC */
	KEYCTL_JOIN_SESSION = 1,      /* KEYCTL_JOIN_SESSION_KEYRING */
	INPUT_OF_PROCESS = 1,	      /* IOPRIO_WHO_PROCESS */
	INPUT_CLASS_SHIFT = 13,	      /* IOPRIO_CLASS_SHIFT */
	INPUT_REAL_TIME = 1,	      /* IOPRIO_CLASS_RT */
};

/* The setting is the user namespace's own, so of the box's, and the kernel asks each
 * namespace up to the first, namespaces(7). A container around us may have made settings
 * read-only: then the filter alone refuses them. */
static long forbid_user_spaces(void)
{
	long fd = raw4(SYS_openat, AT_FDCWD, "proc/sys/user/max_user_namespaces",
		       O_WRONLY | O_CLOEXEC, 0);
	long r;

	if (fd == -ENOENT || fd == -EROFS || fd == -EACCES || fd == -EPERM)
		return 0;
	if (fd < 0)
		return fd;
	r = raw3(SYS_write, fd, "0", 1);
	(void)raw1(SYS_close, fd);
	return r < 0 ? r : 0;
}

void lock_user_spaces(struct init *init)
{
	if (init->plan->no_user_spaces)
		(void)STEP(init, STEP_USER_SPACES, NULL, forbid_user_spaces());
}

void lock_hostname(struct init *init)
{
	const char *name = plan_text(init, init->plan->hostname);

	(void)STEP(init, STEP_HOSTNAME, name, raw2(SYS_sethostname, name, strlen(name)));
}

static long loopback_up(void)
{
	struct ifreq request;
	long fd = raw3(SYS_socket, SOCKET_INET, DGRAM_CLOEXEC, 0);
	long r;

	if (fd < 0)
		return fd;
	memset(&request, 0, sizeof(request));
	text_copy(request.ifr_name, sizeof(request.ifr_name), "lo");
	request.ifr_flags = IFF_UP | IFF_RUNNING;
	r = raw3(SYS_ioctl, fd, SIOCSIFFLAGS, &request);
	(void)raw1(SYS_close, fd);
	return r;
}

void lock_loopback(struct init *init)
{
	if (init->plan->loopback)
		(void)STEP(init, STEP_LOOPBACK, "lo", loopback_up());
}

static long set_rlimit(const struct wire_rlimit *want)
{
	struct {
		uint64_t soft, hard;
	} now, set;
	long r = raw4(SYS_prlimit64, 0, want->resource, NULL, &now);

	if (r < 0)
		return r;
	set = now;
	if (want->raise) {
		set.soft = now.hard;
	} else {
		set.hard = want->part && now.hard != RLIM_INFINITY ? now.hard / want->part
								   : now.hard;
		set.hard = want->hard < set.hard ? want->hard : set.hard;
		set.soft = want->soft < set.hard ? want->soft : set.hard;
	}
	return raw4(SYS_prlimit64, 0, want->resource, &set, NULL);
}

/* A caller that is above all others (real time, of processors or of disks), or that runs
 * without address randomization, keeps that for itself: the box would be so too. What
 * puts a caller below others holds for its boxes, sched(7), ioprio_set(2). */
static long be_ordinary(void)
{
	struct sched_param none = {.sched_priority = 0};
	long policy = raw1(SYS_sched_getscheduler, 0);
	long input = raw2(SYS_ioprio_get, INPUT_OF_PROCESS, 0), r = 0;

	if (policy == SCHED_FIFO || policy == SCHED_RR || policy == SCHED_DEADLINE)
		r = raw3(SYS_sched_setscheduler, 0, SCHED_OTHER, &none);
	if (r >= 0 && input >> INPUT_CLASS_SHIFT == INPUT_REAL_TIME)
		r = raw3(SYS_ioprio_set, INPUT_OF_PROCESS, 0, 0);
	if (r >= 0)
		r = raw1(SYS_personality, 0);
	return r < 0 ? r : 0;
}

void lock_rlimits(struct init *init)
{
	(void)STEP(init, STEP_RLIMITS, "scheduling", be_ordinary());
	for (uint32_t i = 0; i < init->plan->rlimit_count; i++)
		(void)STEP(init, STEP_RLIMITS, NULL, set_rlimit(&init->plan->rlimits[i]));
	(void)raw1(SYS_umask, 022);
}

/* Every set: bounding (so that uid 0 gains nothing by exec), ambient, and the three of
 * the task itself. Capabilities that this kernel does not know end the loop,
 * capabilities(7). */
static long drop_capabilities(void)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct none[2];
	long r;

	for (unsigned long cap = 0; cap < 64; cap++) {
		r = raw5(SYS_prctl, PR_CAPBSET_DROP, cap, 0, 0, 0);
		if (r == -EINVAL)
			break;
		if (r < 0)
			return r;
	}
	r = raw5(SYS_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (r < 0)
		return r;
	memset(none, 0, sizeof(none));
	return raw2(SYS_capset, &header, none);
}

void lock_capabilities(struct init *init)
{
	(void)STEP(init, STEP_CAPABILITIES, NULL, drop_capabilities());
}

void lock_privileges(struct init *init)
{
	/* A session keyring of the box's own; a kernel without keyrings has none to
	 * share. */
	(void)raw2(SYS_keyctl, KEYCTL_JOIN_SESSION, NULL);
	(void)STEP(init, STEP_NO_NEW_PRIVS, NULL,
		   raw5(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	(void)STEP(init, STEP_UNDUMPABLE, NULL,
		   raw5(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0));
}
