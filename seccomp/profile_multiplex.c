/* SPDX-License-Identifier: Apache-2.0 */
/* 32-bit ABIs can make socket calls through socketcall and System V IPC through ipc, with
 * the arguments in memory. A profile that allows what it does not name, and denies one of
 * those calls, would leave that way open: unless it also names the way, it is closed. */
#include "seccomp/profile.h"

#include "seccomp/generated.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <string.h>

static const char *const through_ipc[] = {
    "msgctl", "msgget", "msgrcv",     "msgsnd", "semctl", "semget",
    "semop",  "shmat",	"semtimedop", "shmctl", "shmdt",  "shmget",
};

static const char *const through_socketcall[] = {
    "accept",	   "accept4",	 "bind",     "connect",	 "getpeername",
    "getsockname", "getsockopt", "listen",   "recv",	 "recvfrom",
    "recvmmsg",	   "recvmsg",	 "send",     "sendmmsg", "sendmsg",
    "sendto",	   "setsockopt", "shutdown", "socket",	 "socketpair",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
	const char *name;
	const char *const *carries;
	size_t count;
} multiplexers[PROFILE_MULTIPLEXERS] = {
    {"ipc", through_ipc, COUNT(through_ipc)},
    {"socketcall", through_socketcall, COUNT(through_socketcall)},
};

void profile_note_multiplexed(struct profile *profile, const char *name, uint32_t action)
{
	for (size_t m = 0; m < PROFILE_MULTIPLEXERS; m++) {
		if (strcmp(multiplexers[m].name, name) == 0)
			profile->multiplexer_named[m] = true;
		if (profile_is_permissive(action))
			continue;
		for (size_t i = 0; i < multiplexers[m].count; i++) {
			if (strcmp(multiplexers[m].carries[i], name) == 0)
				profile->multiplexed_denied[m] = true;
		}
	}
}

int profile_close_multiplexers(struct profile *profile)
{
	for (size_t m = 0; m < PROFILE_MULTIPLEXERS; m++) {
		if (!profile->multiplexed_denied[m] || profile->multiplexer_named[m])
			continue;
		for (unsigned abi = 0; abi < SECCOMP_ABI_COUNT; abi++) {
			const struct seccomp_rule rule = {
			    .nr = seccomp_number(abi, multiplexers[m].name),
			    .action = SECCOMP_RET_ERRNO | ENOSYS,
			    .abi = (uint8_t)abi,
			};
			int rc;

			if (rule.nr == SECCOMP_NO_NUMBER || !profile->abi_on[abi])
				continue;
			rc = seccomp_ruleset_add(&profile->set, &rule);
			if (rc < 0)
				return rc;
		}
	}
	return 0;
}
