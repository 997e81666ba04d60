/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to hold what others use.
 *
 *	hold leases PATH...	a lease or delegation of each kind on each: prints
 *				`leased PATH`, or `PATH ERRNO` for an odd error, then
 *`end` hold locks PATH...	a lock on every file and directory below: prints `held`
 *and how many
 *
 * Then it holds them until its input ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { SET_DELEGATION = 1040 /* F_SETDELEG of Linux 6.19 */ };

static int locked;

static void lease(const char *path)
{
	static const int flags[] = {O_RDONLY, O_RDWR}, kinds[] = {F_WRLCK, F_RDLCK};
	static const int commands[] = {F_SETLEASE, SET_DELEGATION};

	for (int i = 0; i < 8; i++) {
		const int fd = open(path, flags[i & 1] | O_NONBLOCK | O_CLOEXEC);

		if (fd < 0)
			continue;
		if (fcntl(fd, commands[i >> 1 & 1], kinds[i >> 2]) == 0)
			printf("leased %s\n", path);
		else if (errno != EACCES)
			printf("%s %s\n", path, strerrorname_np(errno));
	}
}

static int lock(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	int fd;

	(void)st;
	if ((kind != FTW_F && kind != FTW_D) || where->level > 3)
		return 0;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		locked++;
	return 0;
}

int main(int argc, char **argv)
{
	char byte;

	if (argc < 3)
		return 2;
	(void)signal(SIGIO, SIG_IGN);
	for (int i = 2; i < argc; i++) {
		if (strcmp(argv[1], "leases") == 0)
			lease(argv[i]);
		else
			(void)nftw(argv[i], lock, 20, FTW_PHYS);
	}
	if (strcmp(argv[1], "locks") == 0)
		printf("held %d\n", locked);
	else
		puts("end");
	(void)fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return 0;
}
