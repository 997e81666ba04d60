/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mount operations of the plan, one function a kind.
 *
 * Until the pivot the process still stands in its copy of the host's mounts. The new root
 * is built on a tmpfs (the carrier) that is attached over the host's /proc, the one
 * directory that must be there (the id maps were just written through it); it is of no
 * more use. Everything of the box is reached from descriptors. Trees are cloned before
 * anything is attached, so that nothing attached can hide a source.
 */
#include "runtime/init/init.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <linux/stat.h>

/* <sys/mount.h> and <linux/mount.h> cannot be included together here. */
enum {
	OLD_MS_NOSUID = 2,
	OLD_MS_NODEV = 4,
	OLD_MS_BIND = 1 << 12,
	OLD_MS_REC = 1 << 14,
	OLD_MS_PRIVATE = 1 << 18,
	OLD_MNT_DETACH = 2,
	AT_RECURSIVE_TREE = 0x8000, /* AT_RECURSIVE */
	REGULAR = 0100000,	    /* S_IFREG */
};

static long open_checked(const char *path, const struct wire_op *op)
{
	struct statx st;
	long fd, r;

	fd = raw4(SYS_openat, AT_FDCWD, path, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	memset(&st, 0, sizeof(st));
	r = raw5(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_INO, &st);
	if (r == 0 && (((uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor) != op->x ||
		       st.stx_ino != op->y))
		r = -ESTALE;
	if (r == 0)
		return fd;
	(void)raw1(SYS_close, fd);
	return r;
}

static long op_tree_open(struct init *init, const struct wire_op *op)
{
	long fd = open_checked(plan_text(init, op->a), op), tree;

	if (fd < 0)
		return fd;
	tree =
	    raw3(SYS_open_tree, fd, "",
		 OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE_TREE);
	(void)raw1(SYS_close, fd);
	init->slots[op->slot] = (int)tree;
	return tree;
}

static long add_attributes(long dir, const char *path, long flags, uint64_t attributes,
			   uint64_t propagation)
{
	struct mount_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.attr_set = attributes;
	attr.propagation = propagation;
	return raw5(SYS_mount_setattr, dir, path, flags, &attr, sizeof(attr));
}

static long set_option(int fs, unsigned command, const char *key, const char *value)
{
	return raw5(SYS_fsconfig, fs, command, key, value, 0);
}

static char *put_number(char *end, uint64_t number)
{
	*--end = '\0';
	do {
		*--end = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	return end;
}

/* The carrier. Not on top of "/": the old root would then be two mounts deep, and
 * detaching the top one would leave the host reachable by "/..". */
static long op_carrier(struct init *init, const struct wire_op *op)
{
	char text[24];
	char *end = text + sizeof(text);
	long fs, fd, r;

	fs = raw2(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC);
	if (fs < 0)
		return fs;
	r = set_option((int)fs, FSCONFIG_SET_STRING, "size", put_number(end, op->x));
	if (r == 0)
		r = set_option((int)fs, FSCONFIG_SET_STRING, "nr_inodes",
			       put_number(end, op->y));
	if (r == 0)
		r = set_option((int)fs, FSCONFIG_SET_STRING, "mode", "0755");
	if (r == 0)
		r = set_option((int)fs, FSCONFIG_CMD_CREATE, NULL, NULL);
	if (r < 0)
		return r;
	fd = raw3(SYS_fsmount, fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	(void)raw1(SYS_close, fs);
	if (fd < 0)
		return fd;
	init->carrier_fd = (int)fd;
	init->root_fd = (int)fd;
	r = raw5(SYS_move_mount, fd, "", AT_FDCWD, "/proc", MOVE_MOUNT_F_EMPTY_PATH);
	return r < 0 ? r : raw1(SYS_fchdir, fd);
}

static long op_enter(struct init *init, const struct wire_op *op)
{
	long fd = raw4(SYS_openat, init->carrier_fd, plan_text(init, op->a),
		       O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);

	if (fd < 0)
		return fd;
	init->root_fd = (int)fd;
	return raw1(SYS_fchdir, fd);
}

static long op_file(struct init *init, const struct wire_op *op)
{
	const char *data = plan_text(init, op->b);
	uint64_t done = 0;
	long fd, r = 0;

	fd = raw4(SYS_openat, init->root_fd, plan_text(init, op->a),
		  O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, op->x);
	if (fd < 0)
		return fd;
	while (done < op->y && r >= 0) {
		r = raw3(SYS_write, fd, data + done, op->y - done);
		if (r > 0)
			done += (uint64_t)r;
		else if (r == 0)
			r = -EIO;
	}
	(void)raw1(SYS_close, fd);
	return r < 0 ? r : 0;
}

/* Overlay by mount(2): its option text may be a page long, fsconfig(2) takes 255 bytes.
 * The paths in it are relative to the working directory, the carrier. */
static long op_overlay(struct init *init, const struct wire_op *op)
{
	return raw5(SYS_mount, "overlay", plan_text(init, op->a), "overlay",
		    OLD_MS_NOSUID | OLD_MS_NODEV, plan_text(init, op->b));
}

/* A new file system on a directory that is ours; the working directory is the new root.
 */
static long op_fs(struct init *init, const struct wire_op *op)
{
	const char *type = plan_text(init, op->b);

	return raw5(SYS_mount, type, plan_text(init, op->a), type, op->x,
		    op->y ? plan_text(init, (uint32_t)op->y) : NULL);
}

/* The slot's descriptor stays open until all mounts are made, then one call closes all.
 */
static long op_mount(struct init *init, const struct wire_op *op)
{
	return raw5(SYS_move_mount, init->slots[op->slot], "", init->root_fd,
		    plan_text(init, op->a), MOVE_MOUNT_F_EMPTY_PATH);
}

/* The target lies in a tree that an image or a workspace shaped: no link is followed. */
static long op_mount_user(struct init *init, const struct wire_op *op)
{
	struct open_how how;
	int slot = init->slots[op->slot];
	long target, r;

	memset(&how, 0, sizeof(how));
	how.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW;
	how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
	target =
	    raw4(SYS_openat2, init->root_fd, plan_text(init, op->a), &how, sizeof(how));
	if (target < 0)
		return target;
	r = raw5(SYS_move_mount, slot, "", target, "",
		 MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
	(void)raw1(SYS_close, target);
	return r;
}

/* By mount(2): one call, where cloning and attaching a tree takes two and a descriptor.
 * Both paths are ours or the host's own; "/" still leads to the host, the working
 * directory is the new root. */
static long op_bind(struct init *init, const struct wire_op *op)
{
	const char *target = plan_text(init, op->a);
	long r = raw5(SYS_mount, plan_text(init, op->b), target, NULL,
		      OLD_MS_BIND | (op->flags & WIRE_RECURSIVE ? OLD_MS_REC : 0), NULL);

	if (r < 0 || op->x == 0)
		return r;
	return add_attributes(AT_FDCWD, target, AT_RECURSIVE_TREE, op->x, 0);
}

static long apply_tree(struct init *init, const struct wire_op *op)
{
	switch (op->kind) {
	case WIRE_TREE_OPEN:
		return op_tree_open(init, op);
	case WIRE_TREE_GIVEN:
		init->slots[op->slot] = (int)op->y;
		return 0;
	case WIRE_TREE_ATTR:
		return add_attributes(init->slots[op->slot], "",
				      AT_EMPTY_PATH | AT_RECURSIVE_TREE, op->x,
				      OLD_MS_PRIVATE);
	case WIRE_MOUNT:
		return op_mount(init, op);
	case WIRE_MOUNT_USER:
		return op_mount_user(init, op);
	case WIRE_BIND:
		return op_bind(init, op);
	case WIRE_RESTRICT:
		return add_attributes(init->root_fd, "",
				      AT_EMPTY_PATH | AT_RECURSIVE_TREE, op->x,
				      OLD_MS_PRIVATE);
	default:
		return -EINVAL;
	}
}

static long apply(struct init *init, const struct wire_op *op)
{
	const char *a = plan_text(init, op->a);
	long r;

	switch (op->kind) {
	case WIRE_CARRIER:
		return op_carrier(init, op);
	case WIRE_ENTER:
		return op_enter(init, op);
	case WIRE_DIR:
		r = raw3(SYS_mkdirat, init->root_fd, a, op->x);
		return r == -EEXIST ? 0 : r;
	case WIRE_NODE:
		r = raw4(SYS_mknodat, init->root_fd, a, REGULAR | op->x, 0);
		return r == -EEXIST ? 0 : r;
	case WIRE_FILE:
		return op_file(init, op);
	case WIRE_SYMLINK:
		r = raw3(SYS_symlinkat, plan_text(init, op->b), init->root_fd, a);
		return r == -EEXIST ? 0 : r;
	case WIRE_OVERLAY:
		return op_overlay(init, op);
	case WIRE_FS:
		return op_fs(init, op);
	case WIRE_BOUNDS:
		lock_user_spaces(init);
		lock_counts(init);
		return 0;
	default:
		return apply_tree(init, op);
	}
}

static void apply_all(struct init *init)
{
	const struct wire_op *ops =
	    (const struct wire_op *)plan_text(init, init->plan->ops);

	for (uint32_t i = 0; i < init->plan->op_count; i++) {
		long r = step_begin(init, ops[i].step);

		if (r == 0)
			r = apply(init, &ops[i]);
		if (r < 0 && (ops[i].flags & WIRE_TOLERATE))
			continue;
		if (r < 0)
			step_fail(init, ops[i].step, -r,
				  ops[i].a ? plan_text(init, ops[i].a) : NULL);
	}
}

/* Nothing may lie on top of the new root: "/.." must be "/" itself. statx(2), stx_mnt_id.
 */
static long check_detached(void)
{
	struct statx root, above;
	long r;

	memset(&root, 0, sizeof(root));
	memset(&above, 0, sizeof(above));
	r = raw5(SYS_statx, AT_FDCWD, "/", 0, STATX_INO | STATX_MNT_ID, &root);
	if (r == 0)
		r = raw5(SYS_statx, AT_FDCWD, "/..", 0, STATX_INO | STATX_MNT_ID, &above);
	if (r == 0 &&
	    (root.stx_mnt_id != above.stx_mnt_id || root.stx_ino != above.stx_ino))
		r = -EXDEV;
	return r;
}

/* All trees and directories at once: what init opened itself lies above what it keeps.
 * Only the trees that the library made may lie below. */
static long close_trees(const struct init *init)
{
	const struct wire_op *ops =
	    (const struct wire_op *)plan_text(init, init->plan->ops);
	const int keep[] = {init->plan->channel_fd, init->plan->caller_fd,
			    init->plan->stdin_fd,   init->plan->stdout_fd,
			    init->plan->stderr_fd,  init->signal_fd};
	int highest = 0;

	if (init->carrier_fd >= 0)
		(void)raw1(SYS_close, init->carrier_fd);
	(void)raw1(SYS_close, init->root_fd);

	for (size_t i = 0; i < sizeof(keep) / sizeof(keep[0]); i++)
		highest = keep[i] > highest ? keep[i] : highest;
	for (uint32_t i = 0; i < init->plan->op_count; i++) {
		if (ops[i].kind == WIRE_TREE_GIVEN && (int)ops[i].y < highest)
			(void)raw1(SYS_close, ops[i].y);
	}
	return raw3(SYS_close_range, highest + 1, ~0U, 0);
}

/* pivot_root(2), "pivot_root(".", ".")": the old root ends up on top of the new one, and
 * detaching "." takes it away with everything below. */
static void change_root(struct init *init)
{
	(void)STEP(init, STEP_PIVOT, NULL, raw1(SYS_fchdir, init->root_fd));
	(void)STEP(init, STEP_PIVOT, NULL, raw2(SYS_pivot_root, ".", "."));
	(void)STEP(init, STEP_DETACH, NULL, raw2(SYS_umount2, ".", OLD_MNT_DETACH));
	(void)STEP(init, STEP_DETACH, NULL, raw1(SYS_chdir, "/"));
}

static long enter_copy(struct init *init)
{
	long fd = raw4(SYS_openat, AT_FDCWD, "/", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);

	if (fd < 0)
		return fd;
	init->root_fd = (int)fd;
	return raw1(SYS_fchdir, fd);
}

void mounts_apply(struct init *init)
{
	init->carrier_fd = -1;
	if (init->plan->part == WIRE_BOX)
		(void)STEP(init, STEP_NEW_ROOT, "/", enter_copy(init));
	apply_all(init);
	if (init->plan->part != WIRE_BOX)
		change_root(init);
	(void)STEP(init, STEP_DETACH, NULL, check_detached());
	(void)STEP(init, STEP_DETACH, NULL, close_trees(init));
	init->root_fd = init->carrier_fd = -1;
}
