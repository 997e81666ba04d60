/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a box that every kind of root has: devices, /proc, /sys, /tmp, /dev/shm,
 * the workspace and the extra mounts.
 *
 * Everything lies on one tmpfs, the carrier: the new root (or the layers that make it up)
 * and the writable directories are directories of it, seen through mounts of their own.
 * So one size bounds all that a box can write outside the workspace, and it is gone with
 * the box's mount namespace.
 */
#include "runtime/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	NOSUID = 2, /* mount(2) flags; <sys/mount.h> clashes with <linux/mount.h> */
	NODEV = 4,
	NOEXEC = 8,
	RDONLY = 1,
	INODE_BYTES = 1024, /* one inode for each KiB of the carrier's size */
	SKELETON_BYTES = 128 << 10,
};

static const uint64_t safe = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;

/* Sorted. The devices of a box; each is the host's own node. */
static const char *const devices[] = {"full", "null", "random", "tty", "urandom", "zero"};

/* Sorted by name. */
static const struct {
	const char *name, *target;
} device_links[] = {
    {"dev/fd", "/proc/self/fd"},       {"dev/ptmx", "pts/ptmx"},
    {"dev/stderr", "/proc/self/fd/2"}, {"dev/stdin", "/proc/self/fd/0"},
    {"dev/stdout", "/proc/self/fd/1"},
};

enum mask { MASK_FILE, MASK_DIR, MASK_READ_ONLY };

/* Sorted by path; those that this kernel lacks are passed over. What only root may open
 * (kmsg, kpageflags and their like, mode 0400) needs no row: no box is root. */
static const struct {
	const char *path;
	enum mask mask;
	const char *reason;
} proc_masks[] = {
    {"proc/1", MASK_READ_ONLY, "init: its scheduling group and scores"},
    {"proc/acpi", MASK_DIR, "hardware"},
    {"proc/asound", MASK_DIR, "hardware"},
    {"proc/buddyinfo", MASK_FILE, "layout of the kernel's memory"},
    {"proc/bus", MASK_READ_ONLY, "hardware"},
    {"proc/dynamic_debug", MASK_DIR, "the kernel's own debugging"},
    {"proc/fs", MASK_READ_ONLY, "file system controls"},
    {"proc/interrupts", MASK_FILE, "timing side channel"},
    {"proc/irq", MASK_READ_ONLY, "hardware"},
    {"proc/kallsyms", MASK_FILE, "kernel addresses"},
    {"proc/kcore", MASK_FILE, "kernel memory"},
    {"proc/key-users", MASK_FILE, "keyrings are not namespaced"},
    {"proc/keys", MASK_FILE, "keyrings are not namespaced"},
    {"proc/latency_stats", MASK_FILE, "timing side channel"},
    {"proc/modules", MASK_FILE, "kernel addresses, where the host hides none"},
    {"proc/pressure", MASK_READ_ONLY, "waits on the host's load"},
    {"proc/sched_debug", MASK_FILE, "processes of the host"},
    {"proc/schedstat", MASK_FILE, "timing side channel"},
    {"proc/scsi", MASK_DIR, "hardware"},
    {"proc/softirqs", MASK_FILE, "timing side channel"},
    {"proc/sys", MASK_READ_ONLY, "kernel settings"},
    {"proc/sysrq-trigger", MASK_READ_ONLY, "reboot and more"},
    {"proc/timer_list", MASK_FILE, "kernel addresses"},
    {"proc/timer_stats", MASK_FILE, "processes of the host"},
    {"proc/zoneinfo", MASK_FILE, "layout of the kernel's memory"},
};

/* Sorted. What runtimes read to size themselves. */
static const char *const sys_views[] = {
    "sys/devices/system/cpu",
    "sys/devices/system/node",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct opened {
	uint16_t workspace;
	uint16_t mounts[WIRE_SLOTS];
};

static uint16_t open_source(struct layout *layout, const struct source *source, int given,
			    uint64_t attributes)
{
	struct plan *plan = layout->plan;
	uint16_t slot;

	if (given >= 0)
		return plan_tree_given(plan, source->path, given);
	slot = plan_tree_open(plan, source->path, source->dev, source->ino);
	plan_tree_attr(plan, slot, source->path, attributes);
	return slot;
}

/* Pinned sources are opened before anything is attached that could hide them. */
static void open_session_trees(struct layout *layout, struct opened *opened)
{
	const struct box_spec *spec = layout->spec;
	const struct layout_trees *trees = layout->trees;

	opened->workspace = open_source(layout, &spec->workspace, trees->workspace, safe);
	for (size_t i = 0; i < spec->mount_count; i++) {
		uint64_t attributes = safe;

		if (!spec->mounts[i].writable)
			attributes |= MOUNT_ATTR_RDONLY;
		opened->mounts[i] =
		    open_source(layout, &spec->mounts[i].source,
				trees->mounts ? trees->mounts[i] : -1, attributes);
	}
}

/* The mount points in /dev, and its links; before the root becomes read-only. */
static void dev_nodes(struct plan *plan)
{
	char path[64];

	for (size_t i = 0; i < COUNT(devices); i++) {
		(void)snprintf(path, sizeof(path), "dev/%s", devices[i]);
		plan_node(plan, path, 0666);
	}
	for (size_t i = 0; i < COUNT(device_links); i++)
		plan_symlink(plan, device_links[i].name, device_links[i].target);
	plan_dir(plan, "dev/mqueue", 0755);
	plan_dir(plan, "dev/pts", 0755);
	plan_dir(plan, "dev/shm", 01777);
}

static void dev_mounts(struct plan *plan)
{
	char path[32], host[40];

	for (size_t i = 0; i < COUNT(devices); i++) {
		(void)snprintf(path, sizeof(path), "dev/%s", devices[i]);
		(void)snprintf(host, sizeof(host), "/%s", path);
		/* Read-only guards the node (its times, its mode), not the device. */
		plan_bind(plan, host, path,
			  MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC,
			  STEP_MOUNT_TREE);
	}
}

static void box_terminals(struct plan *plan)
{
	/* Terminals count for the whole machine, kernel.pty.max: a bound for each box. */
	plan_fs(plan, "dev/pts", "devpts", NOSUID | NOEXEC,
		"newinstance,ptmxmode=0666,mode=0600,max=128", 0);
	/* The message queues of the box's IPC namespace, mq_overview(7): they lie there,
	 * and Landlock is told of them by it. A kernel may be without. */
	plan_fs(plan, "dev/mqueue", "mqueue", NOSUID | NODEV | NOEXEC, NULL,
		WIRE_TOLERATE);
}

static void box_processes(struct plan *plan)
{
	plan_fs(plan, "proc", "proc", NOSUID | NODEV | NOEXEC, NULL, 0);
}

/* Directories of the carrier, writable in the box. ".." of the new root is the carrier.
 */
static void writable_mounts(struct plan *plan)
{
	plan_bind(plan, "../shm", "dev/shm", 0, STEP_MOUNT_TREE);
	plan_bind(plan, "../tmp", "tmp", 0, STEP_MOUNT_TREE);
}

/* What cannot be told to be missing counts as there: a mask is never left out because a
 * look has failed, and init says what it could not mount on. */
static bool may_be_there(const char *host)
{
	return faccessat(AT_FDCWD, host, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
	       errno != ENOENT;
}

/* Which rows of the tables this kernel has. */
void layout_find_rows(struct host_views *views)
{
	char host[64];

	for (size_t i = 0; i < COUNT(proc_masks); i++) {
		(void)snprintf(host, sizeof(host), "/%s", proc_masks[i].path);
		if (may_be_there(host))
			views->proc_masks |= UINT32_C(1) << i;
	}
	for (size_t i = 0; i < COUNT(sys_views); i++) {
		(void)snprintf(host, sizeof(host), "/%s", sys_views[i]);
		if (may_be_there(host))
			views->sys_views |= UINT32_C(1) << i;
	}
}

static void mask_proc(struct plan *plan, uint32_t present, const char *empty)
{
	for (size_t i = 0; i < COUNT(proc_masks); i++) {
		const char *path = proc_masks[i].path;

		if (!(present & UINT32_C(1) << i))
			continue;

		switch (proc_masks[i].mask) {
		case MASK_READ_ONLY:
			plan_bind(plan, path, path, MOUNT_ATTR_RDONLY, STEP_MASK);
			break;
		case MASK_DIR:
			plan_bind(plan, empty, path, MOUNT_ATTR_RDONLY, STEP_MASK);
			break;
		default:
			plan_bind(plan, "dev/null", path, 0, STEP_MASK);
			break;
		}
	}
}

/* Runtimes read their own limits there. A host that masks parts of its /sys/fs/cgroup
 * does not let a new one be mounted: then the box does without. */
static void view_cgroup(struct plan *plan)
{
	plan_fs(plan, "sys/fs/cgroup", "cgroup2", NOSUID | NODEV | NOEXEC | RDONLY, NULL,
		WIRE_TOLERATE);
}

void layout_sys_dirs(struct plan *plan, const char *prefix)
{
	char path[64];

	for (size_t i = 0; i < COUNT(sys_views); i++) {
		(void)snprintf(path, sizeof(path), "%s%s", prefix, sys_views[i]);
		plan_dirs(plan, path, true);
	}
	(void)snprintf(path, sizeof(path), "%ssys/fs/cgroup", prefix);
	plan_dirs(plan, path, true);
}

static void sys_mounts(struct plan *plan, const struct host_views *views)
{
	char host[64];

	for (size_t i = 0; i < COUNT(sys_views); i++) {
		if (!(views->sys_views & UINT32_C(1) << i))
			continue;
		(void)snprintf(host, sizeof(host), "/%s", sys_views[i]);
		plan_bind(plan, host, sys_views[i],
			  safe | MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC, STEP_MOUNT_TREE);
	}
}

static void session_mounts(struct plan *plan, const struct box_spec *spec,
			   const struct opened *opened)
{
	plan_mount(plan, opened->workspace, "workspace");
	for (size_t i = 0; i < spec->mount_count; i++)
		plan_mount_user(plan, opened->mounts[i], spec->mounts[i].target);
}

static void make_carrier(struct layout *layout, bool whole)
{
	struct plan *plan = layout->plan;
	uint64_t size = layout->extra + (whole ? layout->spec->tmp_bytes : 0);

	plan_carrier(plan, size, size / INODE_BYTES + 4096);
	plan_dir(plan, "root", 0755);
	if (!whole)
		return;
	plan_dir(plan, "tmp", 01777);
	plan_dir(plan, "shm", 01777);
	plan_dir(plan, "empty", 0555);
}

/* Mount points below /tmp, which is a directory of the carrier and covers that of the
 * root. */
static void tmp_targets(struct plan *plan, const struct box_spec *spec)
{
	for (size_t i = 0; i < spec->mount_count; i++) {
		const struct box_mount *mount = &spec->mounts[i];

		if (strncmp(mount->target, "tmp/", 4) != 0)
			continue;
		plan_dirs(plan, mount->target, mount->source.directory);
		if (!mount->source.directory)
			plan_node(plan, mount->target, 0644);
	}
}

static const char *code_name(const struct box_call *call)
{
	return call->code_name ? call->code_name : BOX_CODE_NAME;
}

static void add_code(struct plan *plan, const struct box_call *call)
{
	char path[64];

	if (!call->code)
		return;
	plan_dir(plan, "dev/husk", 0755);
	(void)snprintf(path, sizeof(path), "dev/husk/%s", code_name(call));
	plan_file(plan, path, call->code, call->code_size, 0444);
}

bool layout_can_share(const struct box_spec *spec)
{
	if (spec->writable_root)
		return false;
	for (size_t i = 0; i < spec->mount_count; i++) {
		const char *target = spec->mounts[i].target;

		if (strncmp(target, "tmp/", 4) == 0 || strcmp(target, "tmp") == 0 ||
		    strncmp(target, "dev/", 4) == 0)
			return false;
	}
	return true;
}

/* Pinned sources, the carrier, the root with every directory and mount point in it, what
 * is read-only; then all of that is restricted by one call. */
static void build_root(struct layout *layout, const struct box_call *call, bool whole,
		       struct opened *opened)
{
	const struct box_spec *spec = layout->spec;
	struct plan *plan = layout->plan;
	bool host = spec->root == BOX_ROOT_HOST;

	open_session_trees(layout, opened);
	if (!host)
		layout_dir_open(layout);
	make_carrier(layout, whole);
	if (whole)
		tmp_targets(plan, spec);
	if (host)
		layout_host_root(layout);
	else
		layout_dir_root(layout);
	dev_nodes(plan);
	if (whole)
		add_code(plan, call);
	else
		plan_dir(plan, "dev/husk", 0755);
	if (host)
		layout_host_fill(layout);
	sys_mounts(plan, spec->views);
	plan_restrict(plan, safe | (spec->writable_root ? 0 : MOUNT_ATTR_RDONLY));
	dev_mounts(plan);
}

/* The mounts are those of a template already. What the box can write to is one tmpfs,
 * seen in two places and then covered by the second. */
static void build_box(struct layout *layout, const struct box_call *call)
{
	uint64_t size = layout->spec->tmp_bytes + layout->extra;
	uint64_t inodes = size / INODE_BYTES + 4096;
	struct plan *plan = layout->plan;
	char options[96], path[64];

	(void)snprintf(options, sizeof(options), "size=%llu,nr_inodes=%llu,mode=0755",
		       (unsigned long long)size, (unsigned long long)inodes);
	plan_fs(plan, "tmp", "tmpfs", NOSUID | NODEV, options, 0);
	plan_dir(plan, "tmp/tmp", 01777);
	plan_dir(plan, "tmp/shm", 01777);
	plan_dir(plan, "tmp/empty", 0555);
	if (call->code) {
		plan_dir(plan, "tmp/husk", 0755);
		(void)snprintf(path, sizeof(path), "tmp/husk/%s", code_name(call));
		plan_file(plan, path, call->code, call->code_size, 0444);
		plan_bind(plan, "tmp/husk", "dev/husk", safe | MOUNT_ATTR_RDONLY,
			  STEP_MOUNT_TREE);
	}
	box_terminals(plan);
	box_processes(plan);
	plan_bounds(plan);
	mask_proc(plan, layout->spec->views->proc_masks, "tmp/empty");
	plan_bind(plan, "tmp/shm", "dev/shm", 0, STEP_MOUNT_TREE);
	plan_bind(plan, "tmp/tmp", "tmp", 0, STEP_MOUNT_TREE);
	if (layout->trees->cgroup_view)
		view_cgroup(plan);
}

void layout_build(struct plan *plan, const struct box_spec *spec,
		  const struct box_call *call, const struct layout_trees *trees,
		  enum layout_part part)
{
	struct layout layout = {.plan = plan,
				.spec = spec,
				.trees = trees,
				.extra = call->code_size + SKELETON_BYTES};
	struct opened opened = {0};

	if (part == LAYOUT_BOX) {
		build_box(&layout, call);
		return;
	}
	build_root(&layout, call, part == LAYOUT_WHOLE, &opened);
	if (part == LAYOUT_WHOLE) {
		box_terminals(plan);
		writable_mounts(plan);
	}
	/* Of a template's this one is covered by each box's own, which the kernel allows
	 * only where there is one to be seen, mount_namespaces(7). */
	box_processes(plan);
	/* A template's user namespace is above those of its boxes, which would share one
	 * bound, and are made in it. */
	if (part == LAYOUT_WHOLE) {
		plan_bounds(plan);
		mask_proc(plan, spec->views->proc_masks, "../empty");
		if (trees->cgroup_view)
			view_cgroup(plan);
	}
	session_mounts(plan, spec, &opened);
}
