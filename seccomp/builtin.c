/* SPDX-License-Identifier: Apache-2.0 */
#include "seccomp/generated.h"
#include "seccomp/seccomp.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>

int seccomp_builtin(const char *name, struct seccomp_program *ret)
{
	for (size_t i = 0; i < seccomp_generated_count; i++) {
		const struct seccomp_generated *built = &seccomp_generated[i];

		if (strcmp(built->name, name) != 0)
			continue;
		*ret = (struct seccomp_program){.insns = built->insns,
						.count = built->count};
		return 0;
	}
	return -ENOENT;
}

int seccomp_without_notify(struct seccomp_program *program)
{
	struct sock_filter *insns;

	if (!program->owned) {
		insns = malloc(program->count * sizeof(*insns));
		if (!insns)
			return -ENOMEM;
		memcpy(insns, program->insns, program->count * sizeof(*insns));
		program->insns = insns;
		program->owned = true;
	}
	/* const is for the users of a program; this one is on the heap. */
	insns = (struct sock_filter *)(uintptr_t)program->insns;
	for (uint16_t i = 0; i < program->count; i++) {
		if (insns[i].code == (BPF_RET | BPF_K) &&
		    insns[i].k == SECCOMP_RET_USER_NOTIF)
			insns[i].k = SECCOMP_RET_KILL_PROCESS;
	}
	return 0;
}
