/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two processes that share the caller's memory (so that a caller with gigabytes starts a
 * box as fast as a small one) and may therefore touch nothing of it but the struct they
 * are given: raw system calls only.
 *
 * The shim is the caller's child, with no exit signal. It makes the stub, writes its id
 * maps where the stub may not, waits for it, and ends. It is there because exec gives a
 * process the exit signal SIGCHLD back: were the init program the caller's own child, the
 * caller would get a SIGCHLD for each box, and a waitpid(-1) of the caller's could reap
 * it.
 *
 * The stub is what becomes the init program, in namespaces of its own.
 * Should: close what the init program must not hold, execute it.
 *
 * Mustn't, both: allocate, lock, use errno, stdio, the environment, or return.
 */
#ifndef RUNTIME_STUB_H
#define RUNTIME_STUB_H

#include <stdint.h>

enum {
	STUB_KEEP_MAX = 600, /* descriptors that go to the init program */
	STUB_MAP_TEXT = 40,
};

/* What a start that is timed writes down. */
enum stub_moment {
	STUB_MOMENT_CLONE, /* the shim begins to make the namespaces */
	STUB_MOMENT_IDS,   /* they are there */
	STUB_MOMENT_EXEC,  /* the ids are mapped */
	STUB_MOMENTS,
};

/* stub_args.shim. The kernel writes the first and wakes who waits, CLONE_CHILD_CLEARTID
 * of clone(2), also where something kills the shim. */
enum { SHIM_GONE = 0, SHIM_CLONES = 1, SHIM_CLONED = 2 };

/* stub_args.go */
enum { STUB_WAIT = 0, STUB_GO = 1, STUB_STOP = 2 };

struct stub_args {
	/* Set before the clone. */
	uint64_t clone_flags; /* of the stub */
	int cgroup_fd;	      /* with CLONE_INTO_CGROUP */
	void *stack;	      /* of the stub */
	uint64_t stack_size;
	int init_fd;	   /* the init program */
	int caller_fd;	   /* pidfd of the caller */
	char *const *argv; /* of the init program; its environment is empty */
	int self_map;	   /* 1: the stub writes the single-line maps; 0: the shim does */
	/* A template's namespaces to start from, or -1: runtime/template.h. The user
	 * namespace only where the stub maps itself. */
	int user_fd, mount_fd;
	int proc_fd; /* the host's /proc, which those mounts do not show; -1: by path */
	char uid_map[STUB_MAP_TEXT], gid_map[STUB_MAP_TEXT];
	uint64_t ambient; /* capabilities to keep, where exec would take them; bits */
	int keep[STUB_KEEP_MAX]; /* ascending, without init_fd */
	unsigned keep_count;
	uint32_t timing;		    /* 1: look at the clock, into begun_ns */
	uint32_t inject_step, inject_errno; /* tests only */
	/* Shared while they run. */
	volatile uint32_t
	    shim;	      /* futex: SHIM_CLONED once the stub exists, or never will */
	int init_pidfd;	      /* of the stub, in the caller's table; -1: none */
	volatile uint32_t go; /* futex: STUB_WAIT until the shim has written the maps */
	volatile uint32_t step;		 /* enum step of a failure, or 0 */
	volatile int32_t error;		 /* its errno */
	uint64_t begun_ns[STUB_MOMENTS]; /* enum stub_moment; monotonic clock */
};

/* Entry of the shim, which shares the caller's descriptors as well; never returns. The
 * second argument is unused. */
void shim_main(void *args, void *unused);

#endif
