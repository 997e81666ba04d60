/* SPDX-License-Identifier: Apache-2.0 */
/* A program started with standard input and output given, and nothing else of ours. */
#ifndef OCI_PROGRAM_CHILD_H
#define OCI_PROGRAM_CHILD_H

#include <sys/types.h>

struct program_child {
	const char *program; /* a path */
	char *const *argv, *const *envp;
	int in, out, err; /* above 2 */
	int error;	  /* filled in: errno of what failed in the child, or 0 */
};

/* What the child does, on a stack of its own in our memory; never returns. */
void program_child_main(void *child, void *unused);

/* Start it. *ret_pid is also the id of its process group; *ret_pidfd is close-on-exec.
 * 0 or -errno; nothing is left to be waited for then. */
int program_child_start(struct program_child *child, pid_t *ret_pid, int *ret_pidfd);
/* End it, and what is left of its group, if it has not ended by itself; wait for it. Its
 * exit status, 128 and its signal, or -errno where somebody else has waited for it. */
int program_child_end(pid_t pid, int pidfd);

#endif
