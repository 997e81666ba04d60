/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What takes from a parked box's init the calls that it needed for its call alone
 * (park_rows in seccomp/policy_init.c): with the filter that it waited under, this is its
 * usual one, as the unit tests hold call by call. It is short because it is put up while
 * a call waits. Other numberings are the first filter's to refuse.
 */
#ifndef RUNTIME_INIT_NARROW_FILTER_H
#define RUNTIME_INIT_NARROW_FILTER_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>

enum {
	NARROW_NR = offsetof(struct seccomp_data, nr),
	/* A descriptor is an int: the low half of the word, which comes first. */
	NARROW_FD = offsetof(struct seccomp_data, args[0]),
	NARROW_CLOSE_MOST = 3,
};

static const struct sock_filter narrow_filter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, NARROW_NR),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close, 7, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_dup3, 8, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fchdir, 7, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 6, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_recvmsg, 5, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 4, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 3, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, NARROW_FD),
    BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, NARROW_CLOSE_MOST, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

#endif
