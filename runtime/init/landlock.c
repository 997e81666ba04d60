/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second wall around the box's files: one Landlock rule that allows everything
 * beneath the box's own "/" and so nothing elsewhere. The mounts alone already lead
 * nowhere else; this holds where one of them, or a descriptor, should. What is scoped
 * keeps signals and abstract sockets inside, landlock(7).
 */
#include "runtime/init/init.h"

#include <errno.h>
#include <fcntl.h>

/* As in <linux/landlock.h>, which older systems have only in part. */
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule	    445
#define SYS_landlock_restrict_self  446
#endif

enum { RULE_PATH_BENEATH = 1 /* LANDLOCK_RULE_PATH_BENEATH */ };

struct ruleset_attr {
	uint64_t handled_fs, handled_net, scoped;
};

struct beneath_attr {
	uint64_t allowed;
	int32_t parent_fd;
} __attribute__((packed));

static long allow(long ruleset, uint64_t rights, const char *path)
{
	struct beneath_attr rule = {.allowed = rights};
	long directory =
	    raw4(SYS_openat, AT_FDCWD, path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	long r;

	if (directory < 0)
		return directory;
	rule.parent_fd = (int32_t)directory;
	r = raw4(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &rule, 0);
	(void)raw1(SYS_close, directory);
	return r;
}

/* The kernel takes a longer struct than it knows where the rest is zero: no network
 * rights are ever handled, and what is scoped is only asked of a kernel that has it. */
static long restrict_to_root(const struct wire_header *plan)
{
	struct ruleset_attr attr = {.handled_fs = plan->landlock_fs,
				    .scoped = plan->landlock_scoped};
	long ruleset = raw3(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	long r = ruleset < 0 ? ruleset : allow(ruleset, attr.handled_fs, "/");

	/* A queue is opened in the file system itself, which hangs from no root. */
	if (r == 0)
		r = allow(ruleset, attr.handled_fs, "/dev/mqueue");
	if (r == 0)
		r = raw2(SYS_landlock_restrict_self, ruleset, 0);
	(void)raw1(SYS_close, ruleset);
	return r;
}

void lock_to_root(struct init *init)
{
	if (init->plan->landlock_fs != 0)
		(void)STEP(init, STEP_LANDLOCK, NULL, restrict_to_root(init->plan));
}
