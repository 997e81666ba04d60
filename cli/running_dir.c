/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/running.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_private(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_uid == geteuid() && (st.st_mode & 022) == 0;
}

/* Name below the directory base, which others may write to where is_shared is true. */
static int open_below(const char *base, const char *name, bool is_shared, bool make)
{
	int parent = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC), dir;

	if (parent < 0)
		return -1;
	if (!is_shared && !is_private(parent)) {
		(void)close(parent);
		errno = EACCES;
		return -1;
	}
	if (make)
		(void)mkdirat(parent, name, 0700);
	dir = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	(void)close(parent);
	if (dir >= 0 && !is_private(dir)) {
		(void)close(dir);
		errno = EACCES;
		return -1;
	}
	return dir;
}

/* One that the caller cannot trust is passed over; of one that can be, nothing else takes
 * the place, so that `husk ps` looks where `husk run` has written. */
static bool is_usable(const char *base)
{
	int fd =
	    base && base[0] == '/' ? open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	bool usable = fd >= 0 && is_private(fd);

	if (fd >= 0)
		(void)close(fd);
	return usable;
}

int cli_running_dir(bool make)
{
	const char *base = cli_settings_variable("XDG_RUNTIME_DIR");
	char name[40];
	int dir;

	if (is_usable(base))
		return open_below(base, "husk", false, make);
	if (geteuid() == 0) {
		dir = open_below("/run", "husk", false, make);
		if (dir >= 0)
			return dir;
	}
	(void)snprintf(name, sizeof(name), "husk-run-%u", (unsigned)geteuid());
	return open_below("/tmp", name, true, make);
}
