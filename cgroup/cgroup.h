/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Caps on memory, CPU and tasks of one box, enforced by the kernel's control groups; the
 * box's use of them; and an end for everything in it.
 *
 * How a box is run with it:
 *
 *	struct cgroup_box *box = NULL;
 *	cgroup_box_new(&caps, true, &box, err);		directories made, caps read back
 *	clone3(... CLONE_INTO_CGROUP, .cgroup = cgroup_box_clone_fd(box));
 *	  or, where that is -1 or not known: the new process itself writes "0" into each
 *	  of cgroup_box_join_fds, before it runs anything that is not ours
 *	...
 *	cgroup_box_kill(box);				end everything in it
 *	cgroup_box_counters(box, &counters);		when everything in it has ended
 *	box = cgroup_box_free(box);			directories removed
 *
 * Where a box is joined through descriptors (v1), it can as well be made after the clone
 * (cgroup_joins_late), while the kernel makes the namespaces; that takes the making of
 * it, a fifth of a millisecond for three hierarchies, off the start of a box, and as much
 * again off the first, when the place is found.
 *
 * Where boxes are put is found out once per process, at the first box: by reading, and on
 * some hosts by acting (docs/LIMITS.md): the calling process may be moved into a leaf of
 * its own delegated group, or systemd asked for a delegated scope that the calling
 * process then lives in. All functions may be called from any thread and after fork; one
 * box is used by one thread at a time, except for cgroup_box_kill, which any thread may
 * call meanwhile.
 *
 * A box's directories are named husk-<16 hexadecimal digits> and live directly in the
 * place found: between two boxes nothing of ours exists. The descriptors held for a box
 * carry a lock on its directory, by which a sweeper tells a live box from what a dead
 * caller left.
 */
#ifndef CGROUP_CGROUP_H
#define CGROUP_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <husk/error.h>

enum cgroup_driver {
	CGROUP_NONE,  /* no usable control groups: nothing is enforced */
	CGROUP_V1,    /* one hierarchy per controller */
	CGROUP_V2,    /* the unified hierarchy, in a subtree that is ours to write */
	CGROUP_SCOPE, /* the same, in a delegated scope that systemd was asked for */
};

/* What to cap. 0: not asked for. */
struct cgroup_caps {
	uint64_t memory_bytes; /* with swap; rounded down to whole pages, at least one */
	uint64_t cpu_milli;    /* thousandths of one CPU */
	uint64_t pids;	       /* tasks, threads included; the box's init counts as one */
	bool rough_cpu_time;   /* v1: no directory only for counting CPU time exactly */
};

/* How far a cap holds. */
enum cgroup_hold {
	CGROUP_OFF,	    /* not asked for */
	CGROUP_BEST_EFFORT, /* asked for and not set, or not as asked */
	CGROUP_ENFORCED,    /* set and read back from the kernel */
};

enum { CGROUP_JOIN_MAX = 4 };

#define CGROUP_UNKNOWN UINT64_MAX

/* What the kernel counted. CGROUP_UNKNOWN where it does not tell. */
struct cgroup_counters {
	uint64_t cpu_us;      /* user and system time of everything that was in the box */
	uint64_t memory_peak; /* bytes; with swap where the kernel counts it so */
	uint64_t memory_limit; /* the cap as it held, bytes; unknown: there was none */
	uint64_t pids_peak;    /* tasks, the box's init included */
	uint64_t pids_denied;  /* new tasks refused for the cap */
	uint64_t oom_kills; /* processes ended for the memory cap, as far as is known */
};

struct cgroup_box;

/*
 * Make the directories of a box, write the caps and read them back.
 * enforce: a cap that cannot be had is an error that names the controller, the file and
 * its owner, and whose hint is the remedy. Otherwise what can be done is done;
 * cgroup_box_memory and its sisters tell what. Without any cap asked for it fails for
 * lack of memory only, and neither moves the calling process nor talks to systemd.
 * HUSK_E_INVALID for a memory cap below one page; HUSK_E_MEMORY; HUSK_E_SYSTEM.
 */
int cgroup_box_new(const struct cgroup_caps *caps, bool enforce, struct cgroup_box **ret,
		   struct husk_error *err) __attribute__((warn_unused_result));

/*
 * Whether boxes of this process are certain to be joined through descriptors (v1), so
 * that cgroup_box_new may be called while the new process is already being made. Only
 * looks, and at one small file where the place is not known yet.
 */
bool cgroup_joins_late(void);

/*
 * The directory to give clone3 with CLONE_INTO_CGROUP (Linux 5.7 and later, v2), or -1.
 * It stays the box's.
 */
int cgroup_box_clone_fd(const struct cgroup_box *box);

/*
 * Descriptors into each of which the box's init writes "0", which moves the writer. They
 * stay the box's and are close-on-exec. The writer must be single-threaded: on v1 they
 * are `tasks` files, since a thread that moves itself alone needs none of the kernel's
 * global locks. It must not have a cgroup namespace of its own yet (the group that it is
 * in when it makes one becomes the root that it sees), and the program in the box must
 * never hold them. Returns how many there are, or -errno where they cannot be had.
 */
ssize_t cgroup_box_join_fds(struct cgroup_box *box, int fds[CGROUP_JOIN_MAX]);

/* How far each cap holds. */
enum cgroup_hold cgroup_box_memory(const struct cgroup_box *box);
enum cgroup_hold cgroup_box_cpus(const struct cgroup_box *box);
enum cgroup_hold cgroup_box_pids(const struct cgroup_box *box);

/* True where a cap on tasks was asked for and is not enforced, so that RLIMIT_NPROC
 * inside the box's user namespace is the best there is. */
bool cgroup_box_wants_rlimit_nproc(const struct cgroup_box *box);

/* True where the kernel, when one process of the box must end for the memory cap, ends
 * all of them (memory.oom.group). Where false, a runtime that wants the same ends the box
 * when cgroup_box_oom_kills grows. */
bool cgroup_box_oom_ends_all(const struct cgroup_box *box);

/* Processes ended for the memory cap up to now, or CGROUP_UNKNOWN. */
uint64_t cgroup_box_oom_kills(const struct cgroup_box *box);

/*
 * End everything in the box with SIGKILL, whatever it does: cgroup.kill, or else forbid
 * new tasks and kill what is listed until nothing is. 0; -ETIMEDOUT where something would
 * not go within two seconds; -EOPNOTSUPP without control groups: then ending the PID
 * namespace's init is the only way. Safe in any thread while the box lives.
 */
int cgroup_box_kill(struct cgroup_box *box);

/* Read the counters; ask when everything in the box has ended. */
void cgroup_box_counters(const struct cgroup_box *box, struct cgroup_counters *ret);

/*
 * Remove the directories and release the box. Processes that are still in it are killed;
 * waits, up to two seconds, for the kernel to take them down. Accepts NULL, returns NULL.
 */
struct cgroup_box *cgroup_box_free(struct cgroup_box *box);

/*
 * Remove what dead callers left, everywhere in the visible trees where we may: processes
 * that are still in such a group are killed. Boxes of live callers are not touched.
 * Returns how many groups were removed, or -errno.
 */
int cgroup_sweep(void);

/*
 * The same in this process's own place alone, once, after its first box was made. It
 * takes the longer the more boxes live there: best called while the box starts. Where
 * nobody does, the end of the box does it (cgroup_box_free). Any thread.
 */
void cgroup_sweep_due(void);

/* One controller, as a person would ask about it. */
struct cgroup_host_controller {
	const char *name; /* "memory", "cpu" or "pids" */
	bool enforceable; /* a cap on it would hold */
	uid_t owner;	  /* of `path`; (uid_t)-1: unknown */
	char path[320]; /* the group that boxes are put in, or the obstacle; may be "" */
	char why[320];	/* why not, one line; "" where enforceable */
	char remedy[512]; /* what to do about it; "" where enforceable */
};

struct cgroup_host {
	enum cgroup_driver driver;
	const char *driver_name; /* "none", "v1", "v2", "scope" */
	bool moves_caller;	 /* the first box will move this process to get there */
	struct cgroup_host_controller memory, cpus, pids;
};

/* What the first box of this process would find. Nothing is made, moved or asked for.
 * 0 or -errno. */
int cgroup_describe(struct cgroup_host *ret);

#endif
