/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/running.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
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

/* One that the caller cannot trust is passed over. */
static bool is_usable(const char *base)
{
	int fd =
	    base && base[0] == '/' ? open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	bool usable = fd >= 0 && is_private(fd);

	if (fd >= 0)
		(void)close(fd);
	return usable;
}

/* Where a directory of ours may be. */
struct place {
	char base[64];
	const char *own; /* $XDG_RUNTIME_DIR in the place of base */
	char name[40];
	bool is_shared;
};

/* "/run"; tests have one of their own. */
static const char *run_base(void)
{
#ifdef HUSK_TEST_HOOKS
	const char *test = cli_settings_variable("HUSK_TEST_RUN");

	if (test)
		return test;
#endif
	return "/run";
}

static void add(struct place *places, size_t *count, const char *base, const char *name,
		bool is_shared)
{
	struct place *place = &places[(*count)++];

	*place = (struct place){.is_shared = is_shared};
	(void)snprintf(place->base, sizeof(place->base), "%s", base);
	(void)snprintf(place->name, sizeof(place->name), "%s", name);
}

/* In the order in which they are used. One that is named in $XDG_RUNTIME_DIR and is not
 * that of the login stands alone. */
static size_t find_places(struct place places[CLI_RUNNING_DIRS])
{
	const char *base = cli_settings_variable("XDG_RUNTIME_DIR");
	char login[64], name[40];
	size_t count = 0;
	bool of_login;

	(void)snprintf(login, sizeof(login), "%.40s/user/%u", run_base(),
		       (unsigned)geteuid());
	(void)snprintf(name, sizeof(name), "husk-run-%u", (unsigned)geteuid());
	of_login = base && strcmp(base, login) == 0;
	if (is_usable(base)) {
		add(places, &count, of_login ? login : "", "husk", false);
		places[0].own = of_login ? NULL : base;
		if (!of_login)
			return count;
	}
	if (geteuid() == 0)
		add(places, &count, run_base(), "husk", false);
	if (count == 0 || !of_login || !is_usable(base)) {
		if (is_usable(login))
			add(places, &count, login, "husk", false);
	}
	add(places, &count, "/tmp", name, true);
	return count;
}

static int open_place(const struct place *place, bool make)
{
	return open_below(place->own ? place->own : place->base, place->name,
			  place->is_shared, make);
}

int cli_running_dir(void)
{
	struct place places[CLI_RUNNING_DIRS];
	size_t count = find_places(places);
	int dir = -1;

	for (size_t i = 0; i < count && dir < 0; i++)
		dir = open_place(&places[i], true);
	return dir;
}

size_t cli_running_dirs(int dirs[CLI_RUNNING_DIRS])
{
	struct place places[CLI_RUNNING_DIRS];
	size_t count = find_places(places), found = 0;

	for (size_t i = 0; i < count; i++) {
		dirs[found] = open_place(&places[i], false);
		found += dirs[found] >= 0;
	}
	return found;
}
