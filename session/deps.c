/* SPDX-License-Identifier: Apache-2.0 */
#include "session/deps.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "session/beneath.h"
#include "session/walk.h"

static const char where[] = "the workspace's .deps";

int deps_open(int workspace, int *ret_fd, struct husk_error *err)
{
	bool made = mkdirat(workspace, DEPS_NAME, 0755) == 0;
	int fd, r;

	if (!made && errno != EEXIST)
		return error_sys(err, errno, where, "cannot make it");
	fd = beneath_open_dir(workspace, DEPS_NAME, O_RDONLY);
	if (fd == -ELOOP || fd == -ENOTDIR) {
		error_set(err, HUSK_E_PATH, where,
			  "it is a link or a file, not a directory");
		error_hint(err, "a box may have put it there: remove it");
		return HUSK_E_PATH;
	}
	if (fd == -EXDEV) {
		error_set(err, HUSK_E_PATH, where, "something is mounted there");
		error_hint(err, "unmount it, or mount it into the boxes with mounts");
		return HUSK_E_PATH;
	}
	if (fd < 0)
		return error_sys(err, -fd, where, "cannot open it");
	r = made ? beneath_give(workspace, fd) : 0;
	if (r < 0) {
		(void)close(fd);
		return error_sys(err, -r, where, "cannot give it to the box");
	}
	*ret_fd = fd;
	return 0;
}

int deps_is_empty(int deps)
{
	CLEANUP_WALK struct walk walk = WALK_INIT;
	struct walk_entry entry;
	int r = walk_init(&walk, deps, false);

	if (r == 0)
		r = walk_next(&walk, &entry);
	return r < 0 ? r : r == 0;
}

bool deps_is_covered(const struct box_spec *spec)
{
	static const size_t size = sizeof(DEPS_TARGET) - 1;

	for (size_t i = 0; i < spec->mount_count; i++) {
		const char *target = spec->mounts[i].target;

		if (strncmp(target, DEPS_TARGET, size) == 0 &&
		    (target[size] == '\0' || target[size] == '/'))
			return true;
	}
	return false;
}

int deps_mount(struct husk_session *session, int fd, struct husk_error *err)
{
	struct box_mount made = {.source = SOURCE_INIT,
				 .plain = session->workspace.temporary};
	struct box_spec *spec = &session->spec;
	struct box_mount *mounts;
	int r = source_pin_fd(fd, where, &made.source, err);

	if (r < 0)
		return r;
	made.target = strdup(DEPS_TARGET);
	mounts = made.target
		     ? reallocarray(spec->mounts, spec->mount_count + 1, sizeof(*mounts))
		     : NULL;
	if (!mounts) {
		source_deinit(&made.source);
		free(made.target);
		return error_oom(err, where);
	}
	memmove(mounts + 1, mounts, spec->mount_count * sizeof(*mounts));
	mounts[0] = made;
	spec->mounts = mounts;
	spec->mount_count++;
	return 0;
}
