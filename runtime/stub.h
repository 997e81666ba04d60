/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The child between clone3 and exec. It shares the caller's memory (so that a caller with
 * gigabytes starts a box as fast as a small one) and may therefore touch nothing of it but
 * the struct it is given: raw system calls only.
 *
 * Should: take the mapped ids, close what the init program must not hold, execute it.
 * Mustn't: allocate, lock, use errno, stdio, the environment, or return.
 */
#ifndef RUNTIME_STUB_H
#define RUNTIME_STUB_H

#include <stdint.h>

enum {
	STUB_KEEP_MAX = 600, /* descriptors that go to the init program */
	STUB_MAP_TEXT = 40,
};

/* stub_args.go */
enum { STUB_WAIT = 0, STUB_GO = 1, STUB_STOP = 2 };

struct stub_args {
	/* Set before the clone. */
	int init_fd;		    /* the init program */
	int caller_fd;		    /* pidfd of the caller */
	char *const *argv;	    /* of the init program; its environment is empty */
	int self_map;		    /* 1: write the single-line maps here; 0: wait for go */
	char uid_map[STUB_MAP_TEXT], gid_map[STUB_MAP_TEXT];
	int ambient;		    /* 1: exec would take the capabilities away */
	int keep[STUB_KEEP_MAX];    /* ascending, without init_fd */
	unsigned keep_count;
	uint32_t inject_step, inject_errno; /* tests only */
	/* Shared while the child runs. */
	volatile uint32_t go;	    /* futex: STUB_WAIT until the parent has written the maps */
	volatile uint32_t step;	    /* enum step of a failure, or 0 */
	volatile int32_t error;	    /* its errno */
};

/* Entry of the child; never returns. The second argument is unused. */
void stub_main(void *args, void *unused);

#endif
