/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which things are tried, and what each of them needs to be tried at all. */
#include "runtime/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "runtime/init_image.h"
#include "runtime/probe_child.h"

/* Filled by each probe's number. */
static const struct {
	enum probe stands_on;
	uint64_t spaces;
	long (*act)(struct probe_child *child);
} rows[PROBE_COUNT] = {
    [PROBE_CLONE3] = {PROBE_COUNT, 0, probe_try_clone3},
    [PROBE_USER] = {PROBE_CLONE3, CLONE_NEWUSER, probe_try_user},
    [PROBE_PID] = {PROBE_USER, CLONE_NEWUSER | CLONE_NEWPID, probe_try_pid},
    [PROBE_MOUNT] = {PROBE_USER, CLONE_NEWUSER | CLONE_NEWNS, probe_try_mount},
    [PROBE_NETWORK] = {PROBE_USER, CLONE_NEWUSER | CLONE_NEWNET, probe_try_network},
    [PROBE_IPC] = {PROBE_USER, CLONE_NEWUSER | CLONE_NEWIPC, probe_try_ipc},
    [PROBE_UTS] = {PROBE_USER, CLONE_NEWUSER | CLONE_NEWUTS, probe_try_uts},
    [PROBE_CGROUP] = {PROBE_USER, CLONE_NEWUSER, probe_try_cgroup},
    [PROBE_TREES] = {PROBE_MOUNT, CLONE_NEWUSER | CLONE_NEWNS, probe_try_trees},
    [PROBE_PIVOT] = {PROBE_TREES, CLONE_NEWUSER | CLONE_NEWNS, probe_try_pivot},
    [PROBE_PROCFS] = {PROBE_TREES, CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID,
		      probe_try_procfs},
    [PROBE_TERMINAL] = {PROBE_TREES, CLONE_NEWUSER | CLONE_NEWNS, probe_try_terminal},
    [PROBE_IDMAP] = {PROBE_USER, 0, probe_try_idmap},
    [PROBE_OVERLAY] = {PROBE_TREES, CLONE_NEWUSER | CLONE_NEWNS, probe_try_overlay},
    [PROBE_INIT] = {PROBE_CLONE3, 0, probe_try_init},
    [PROBE_NO_NEW_PRIVS] = {PROBE_CLONE3, 0, probe_try_no_new_privs},
    [PROBE_FILTER] = {PROBE_NO_NEW_PRIVS, 0, probe_try_filter},
    [PROBE_LISTENER] = {PROBE_FILTER, 0, probe_try_listener},
    [PROBE_PIDFD] = {PROBE_CLONE3, 0, probe_try_pidfd},
    [PROBE_OPENAT2] = {PROBE_CLONE3, 0, probe_try_openat2},
    [PROBE_CLOSE_RANGE] = {PROBE_CLONE3, 0, probe_try_close_range},
    [PROBE_LANDLOCK] = {PROBE_CLONE3, 0, probe_try_landlock},
};

/* One caller at a time: see restore. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

enum probe probe_stands_on(enum probe probe)
{
	return rows[probe].stands_on;
}

static void cannot(struct probe_answer *answer, uint32_t step, int r)
{
	*answer = (struct probe_answer){.state = PROBE_FAILS, .step = step, .error = -r};
}

/* Children of root take other ids in the caller's own memory, which makes that memory
 * undumpable, prctl(2): it gets back what it had. */
static void restore(int dumpable)
{
	if (dumpable == 1 && prctl(PR_GET_DUMPABLE) != 1)
		(void)prctl(PR_SET_DUMPABLE, 1);
}

static int run(enum probe probe, const struct ids *ids, int fd, int fd2,
	       struct probe_answer *ret)
{
	struct probe_child *child = probe_child_new();
	int dumpable = prctl(PR_GET_DUMPABLE);

	if (!child)
		return -ENOMEM;
	child->spaces = rows[probe].spaces;
	child->act = rows[probe].act;
	child->ids = *ids;
	child->fd = fd;
	child->fd2 = fd2;
	probe_child_run(child, ret);
	restore(dumpable);
	return 0;
}

/* Only root's boxes have files mapped; see trees_make. */
static int try_idmap(const char *path, const struct ids *ids, struct probe_answer *answer,
		     uint64_t *ret_fs_type)
{
	CLEANUP_FD int dir = -1, mapping = -1;
	struct statfs fs;

	if (!ids->foreign)
		return 0;
	dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0) {
		cannot(answer, STEP_SOURCE, -errno);
		return 0;
	}
	if (fstatfs(dir, &fs) == 0)
		*ret_fs_type = (uint64_t)fs.f_type;
	mapping = ids_mount_namespace(ids, 0, 0);
	if (mapping < 0) {
		cannot(answer, STEP_ID_MAP, mapping);
		return 0;
	}
	return run(PROBE_IDMAP, ids, dir, mapping, answer);
}

int probe_idmap(const struct probe_answers *answers, const char *dir,
		struct probe_answer *ret, uint64_t *ret_fs_type, struct husk_error *err)
{
	int r;

	*ret = (struct probe_answer){0};
	*ret_fs_type = 0;
	if (answers->of[PROBE_USER].state != PROBE_WORKS)
		return 0;
	pthread_mutex_lock(&lock);
	r = try_idmap(dir, &answers->ids, ret, ret_fs_type);
	pthread_mutex_unlock(&lock);
	return r < 0 ? error_oom(err, "probe") : 0;
}

static int try_init(struct probe_answers *answers)
{
	struct husk_error why = {0};
	CLEANUP_FD int fd = -1;

	if (init_image_open(&fd, &why) < 0) {
		cannot(&answers->of[PROBE_INIT], STEP_EXEC_INIT, -why.sys_errno);
		return 0;
	}
	answers->init_is_file = fcntl(fd, F_GET_SEALS) < 0;
	return run(PROBE_INIT, &answers->ids, fd, -1, &answers->of[PROBE_INIT]);
}

static int try_one(enum probe probe, const char *temp_dir, struct probe_answers *answers)
{
	enum probe below = rows[probe].stands_on;

	if (answers->of[probe].state != PROBE_UNTRIED) /* found out before */
		return 0;
	if (below != PROBE_COUNT && answers->of[below].state != PROBE_WORKS)
		return 0;
	switch (probe) {
	case PROBE_IDMAP:
		return try_idmap(temp_dir, &answers->ids, &answers->of[probe],
				 &answers->temp_fs_type);
	case PROBE_INIT:
		return try_init(answers);
	default:
		return run(probe, &answers->ids, -1, -1, &answers->of[probe]);
	}
}

int probe_all(const char *temp_dir, struct probe_answers *ret, struct husk_error *err)
{
	struct husk_error why = {0};
	int r = 0;

	*ret = (struct probe_answers){0};
	if (ids_choose(&ret->ids, &why) < 0)
		cannot(&ret->of[PROBE_USER], STEP_ID_MAP,
		       why.sys_errno ? -why.sys_errno : -ERANGE);
	pthread_mutex_lock(&lock);
	for (int probe = 0; r == 0 && probe < PROBE_COUNT; probe++)
		r = try_one((enum probe)probe, temp_dir, ret);
	pthread_mutex_unlock(&lock);
	return r < 0 ? error_oom(err, "probe") : 0;
}
