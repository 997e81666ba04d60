/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of what was refused, in the plan's own memory: bounded, one row for each kind.
 * Two refusals are of one kind where the call, the answer, the file or address, and those
 * arguments agree that are numbers with a meaning.
 */
#include "runtime/init/init.h"

#include <errno.h>
#include <fcntl.h>

enum { ADDRESS_MAX = 110 /* struct sockaddr_un */ };

/* Where a call's subject lies: the number of an argument plus 1, 0: nowhere. path: a
 * text; dir: what it is relative to (without: where the task works); fd: a descriptor;
 * address and its size. numbers: the arguments that mean something by themselves, as
 * bits. */
struct shape {
	uint16_t nr;
	uint8_t path, dir, fd, address, size, numbers;
};

#define PATH(call, p)                         \
	{                                     \
		.nr = SYS_##call, .path = (p) \
	}
#define PATH_AT(call, d, p)                               \
	{                                                 \
		.nr = SYS_##call, .dir = (d), .path = (p) \
	}
#define FILE_OF(call, f)                    \
	{                                   \
		.nr = SYS_##call, .fd = (f) \
	}
#define ADDRESS(call, a, n)                                   \
	{                                                     \
		.nr = SYS_##call, .address = (a), .size = (n) \
	}
#define NUMBERS(call, bits)                         \
	{                                           \
		.nr = SYS_##call, .numbers = (bits) \
	}

static const struct shape shapes[] = {
#ifdef __x86_64__
    PATH(access, 1),
    PATH(chmod, 1),
    PATH(chown, 1),
    PATH(creat, 1),
    PATH(lchown, 1),
    PATH(link, 2),
    PATH(lstat, 1),
    PATH(mkdir, 1),
    PATH(mknod, 1),
    PATH(open, 1),
    PATH(readlink, 1),
    PATH(rename, 1),
    PATH(rmdir, 1),
    PATH(stat, 1),
    PATH(symlink, 2),
    PATH(unlink, 1),
    PATH(utime, 1),
    PATH(utimes, 1),
    PATH_AT(futimesat, 1, 2),
    PATH_AT(newfstatat, 1, 2),
    PATH_AT(renameat, 1, 2),
#endif
    PATH(chdir, 1),
    PATH(chroot, 1),
    PATH(execve, 1),
    PATH(inotify_add_watch, 2),
    PATH(lremovexattr, 1),
    PATH(lsetxattr, 1),
    PATH(mount, 2),
    PATH(removexattr, 1),
    PATH(setxattr, 1),
    PATH(truncate, 1),
    PATH(umount2, 1),
    PATH_AT(execveat, 1, 2),
    PATH_AT(faccessat, 1, 2),
    PATH_AT(faccessat2, 1, 2),
    PATH_AT(fchmodat, 1, 2),
    PATH_AT(fchownat, 1, 2),
    PATH_AT(linkat, 3, 4),
    PATH_AT(mkdirat, 1, 2),
    PATH_AT(mknodat, 1, 2),
    PATH_AT(openat, 1, 2),
    PATH_AT(openat2, 1, 2),
    PATH_AT(readlinkat, 1, 2),
    PATH_AT(renameat2, 1, 2),
    PATH_AT(statx, 1, 2),
    PATH_AT(symlinkat, 2, 3),
    PATH_AT(unlinkat, 1, 2),
    PATH_AT(utimensat, 1, 2),
    FILE_OF(fallocate, 1),
    FILE_OF(fchmod, 1),
    FILE_OF(fchown, 1),
    FILE_OF(fremovexattr, 1),
    FILE_OF(fsetxattr, 1),
    FILE_OF(ftruncate, 1),
    FILE_OF(mmap, 5),
    FILE_OF(pwrite64, 1),
    FILE_OF(pwritev, 1),
    FILE_OF(write, 1),
    FILE_OF(writev, 1),
    ADDRESS(bind, 2, 3),
    ADDRESS(connect, 2, 3),
    ADDRESS(sendto, 5, 6),
    NUMBERS(bpf, 1),
    NUMBERS(clone, 1),
    NUMBERS(ioctl, 1 << 1),
    NUMBERS(keyctl, 1),
    NUMBERS(kill, 1 | 1 << 1),
    NUMBERS(personality, 1),
    NUMBERS(prctl, 1),
    NUMBERS(prlimit64, 1 << 1),
    NUMBERS(ptrace, 1),
    NUMBERS(setns, 1 << 1),
    NUMBERS(setrlimit, 1),
    NUMBERS(socket, 1 | 1 << 1 | 1 << 2),
    NUMBERS(socketpair, 1 | 1 << 1 | 1 << 2),
    NUMBERS(unshare, 1),
};

#ifdef __x86_64__
#define NATIVE 0xc000003e /* AUDIT_ARCH_X86_64 */
#else
#define NATIVE 0xc00000b7 /* AUDIT_ARCH_AARCH64 */
#endif

static const struct shape *shape_of(const struct refused *call)
{
	static const struct shape none;

	for (size_t i = 0; call->arch == NATIVE && i < sizeof(shapes) / sizeof(shapes[0]);
	     i++) {
		if (shapes[i].nr == call->nr)
			return &shapes[i];
	}
	return &none;
}

static uint64_t argument(const struct refused *call, uint8_t number)
{
	return number > 0 ? call->args[number - 1] : 0;
}

static void find_path(struct wire_denial *row, const struct refused *call,
		      const struct shape *shape)
{
	int dir = AT_FDCWD;

	if (shape->fd)
		dir = (int)argument(call, shape->fd);
	else if (shape->dir)
		dir = (int)argument(call, shape->dir);
	row->text_size = peek_path(call->task, dir, argument(call, shape->path),
				   row->text, sizeof(row->text));
	if (row->text_size > 0)
		row->about = WIRE_ABOUT_PATH;
}

static void find_subject(struct wire_denial *row, const struct refused *call,
			 const struct shape *shape)
{
	uint64_t size = argument(call, shape->size);

	if (shape->path || shape->fd)
		find_path(row, call, shape);
	if (!shape->address || size < sizeof(uint16_t))
		return;
	row->text_size = peek_bytes(call->task, argument(call, shape->address), row->text,
				    size < ADDRESS_MAX ? (uint32_t)size : ADDRESS_MAX);
	if (row->text_size >= sizeof(uint16_t))
		row->about = WIRE_ABOUT_ADDRESS;
}

static int same_kind(const struct wire_denial *a, const struct wire_denial *b,
		     uint8_t numbers)
{
	if (a->nr != b->nr || a->arch != b->arch || a->answer != b->answer ||
	    a->error != b->error || a->by != b->by || a->about != b->about ||
	    a->text_size != b->text_size)
		return 0;
	for (unsigned i = 0; i < 6; i++) {
		if ((numbers & 1U << i) && a->args[i] != b->args[i])
			return 0;
	}
	return memcmp(a->text, b->text, a->text_size) == 0;
}

static void note(struct init *init, struct wire_denial *row, const struct refused *call)
{
	struct wire_denials *list =
	    (struct wire_denials *)((char *)init->plan + init->plan->denials);
	const struct shape *shape = shape_of(call);

	row->nr = call->nr;
	row->arch = call->arch;
	row->count = 1;
	memcpy(row->args, call->args, sizeof(row->args));
	find_subject(row, call, shape);
	for (uint32_t i = 0; i < list->count; i++) {
		if (same_kind(&list->rows[i], row, shape->numbers)) {
			list->rows[i].count++;
			return;
		}
	}
	if (list->count < list->capacity)
		list->rows[list->count++] = *row;
	else
		list->lost++;
}

void refused_by_filter(struct init *init, const struct refused *call)
{
	struct wire_denial row;

	memset(&row, 0, sizeof(row));
	row.by = WIRE_BY_FILTER;
	row.answer = call->answer;
	note(init, &row, call);
}

static int is_one_of(uint32_t nr, const uint16_t *calls, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (calls[i] == nr)
			return 1;
	}
	return 0;
}

#define IS_ONE_OF(nr, list) is_one_of(nr, list, sizeof(list) / sizeof((list)[0]))

/* Which failures may be the box's doing; the library says which of them are. An errno
 * that has many reasons counts for the calls alone in which it has this one. */
static int may_be_ours(uint32_t nr, int error)
{
	static const uint16_t tasks[] = {
#ifdef __x86_64__
	    SYS_fork,
	    SYS_vfork,
#endif
	    SYS_clone3,
	    SYS_clone,
	};
	static const uint16_t ids[] = {
#ifdef __x86_64__
	    SYS_chown,	  SYS_lchown,
#endif
	    SYS_fchown,	  SYS_fchownat,	 SYS_setfsgid,	SYS_setfsuid, SYS_setgid,
	    SYS_setregid, SYS_setresgid, SYS_setresuid, SYS_setreuid, SYS_setuid,
	};
	static const uint16_t reach[] = {SYS_connect, SYS_sendto, SYS_sendmsg, SYS_bind};

	switch (error) {
	case EPERM:
	case EACCES:
	case EROFS:
	case ENOSPC:
	case EDQUOT:
		return 1;
	case EAGAIN:
		return IS_ONE_OF(nr, tasks);
	case EINVAL:
		return IS_ONE_OF(nr, ids);
	case ENETUNREACH:
	case ENETDOWN:
	case EHOSTUNREACH:
	case EADDRNOTAVAIL:
		return IS_ONE_OF(nr, reach);
	default:
		return 0;
	}
}

void refused_by_kernel(struct init *init, const struct refused *call, int error)
{
	struct wire_denial row;

	if (call->arch == NATIVE && !may_be_ours(call->nr, error))
		return;
	if (call->arch != NATIVE && error != EPERM && error != EACCES && error != EROFS)
		return;
	memset(&row, 0, sizeof(row));
	row.by = WIRE_BY_KERNEL;
	row.error = error;
	note(init, &row, call);
}
