/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command of a bundle: starts the real one with the loader and the libraries that lie
 * beside it, wherever the bundle was put. Static and without a C library of the host: the
 * host may have none.
 *
 *	HUSK/bin/husk			this program
 *	HUSK/lib/ld.so, *.so.*		the loader and what the command needs
 *	HUSK/libexec/husk		the command
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

enum { CANNOT = 125, FIXED = 6, WORDS_MAX = 262144 };

static char loader[PATH_MAX + 16], libraries[PATH_MAX + 16], command[PATH_MAX + 32];

static int fail(const char *why)
{
	(void)fprintf(stderr, "husk: bundle: %s: %s\n", why, strerror(errno));
	(void)fprintf(stderr, "hint: keep bin, lib and libexec of the bundle together\n");
	return CANNOT;
}

/* The folder above bin/, by the kernel's word: /proc may not be mounted where the bundle
 * is first tried, and then the name that was executed has to do. */
static int find_top(char top[PATH_MAX])
{
	const char *name = (const char *)getauxval(AT_EXECFN);
	ssize_t n = readlink("/proc/self/exe", top, PATH_MAX - 1);

	if (n > 0)
		top[n] = '\0';
	else if (!name || !realpath(name, top))
		return -1;
	for (int i = 0; i < 2; i++) {
		char *slash = strrchr(top, '/');

		if (!slash)
			return -1;
		*slash = '\0';
	}
	return 0;
}

int main(int argc, char **argv)
{
	static char *words[WORDS_MAX + 1];
	char top[PATH_MAX];

	if (argc > WORDS_MAX - FIXED) {
		errno = E2BIG;
		return fail("the command line");
	}
	if (find_top(top) < 0)
		return fail("its place cannot be found");
	(void)snprintf(loader, sizeof(loader), "%s/lib/ld.so", top);
	(void)snprintf(libraries, sizeof(libraries), "%s/lib", top);
	(void)snprintf(command, sizeof(command), "%s/libexec/husk", top);
	words[0] = loader;
	words[1] = (char *)(size_t) "--library-path";
	words[2] = libraries;
	words[3] = (char *)(size_t) "--argv0";
	words[4] = argc > 0 ? argv[0] : loader;
	words[5] = command;
	for (int i = 1; i < argc; i++)
		words[FIXED + i - 1] = argv[i];
	(void)execv(loader, words);
	return fail(loader);
}
