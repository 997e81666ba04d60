/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/apparmor.h"

#include "cli/say.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The usual places; a profile for them is the one that comes with husk. */
static const char usual[] = "/usr/{local/,}bin/husk";

/* docs/apparmor/husk around the path; a test compares them. */
static const char head[] =
    "# SPDX-License-Identifier: Apache-2.0\n"
    "#\n"
    "# Where kernel.apparmor_restrict_unprivileged_userns is 1, a program that AppArmor "
    "does not\n"
    "# know gets user namespaces without capabilities, and no box can be made in those. "
    "This\n"
    "# profile confines nothing: it gives the husk command a name, and that name the "
    "right to make\n"
    "# user namespaces. What a box may do is bounded by husk itself.\n"
    "#\n"
    "# husk doctor --install-apparmor, typed by root, writes it to /etc/apparmor.d/husk, "
    "for\n"
    "# wherever that husk is installed, and loads it. By hand:\n"
    "#\n"
    "#   install -m 0644 husk /etc/apparmor.d/husk\n"
    "#   apparmor_parser -r /etc/apparmor.d/husk\n"
    "#\n"
    "# A program that loads the library is not the husk command; start it under this "
    "profile with\n"
    "#\n"
    "#   aa-exec -p husk PROGRAM [ARGUMENTS]\n"
    "#\n"
    "# or give it a profile of its own in the same way.\n"
    "\n"
    "abi <abi/4.0>,\n"
    "include <tunables/global>\n"
    "\n"
    "profile husk ";
static const char tail[] = " flags=(unconfined) {\n"
			   "  userns,\n"
			   "\n"
			   "  # Site-specific additions.\n"
			   "  include if exists <local/husk>\n"
			   "}\n";

static const char name[] = "husk";

size_t cli_apparmor_profile(const char *program, char text[CLI_APPARMOR_TEXT])
{
	bool is_usual = strcmp(program, "/usr/bin/husk") == 0 ||
			strcmp(program, "/usr/local/bin/husk") == 0;

	return (size_t)snprintf(text, CLI_APPARMOR_TEXT, "%s%s%s", head,
				is_usual ? usual : program, tail);
}

/* Is it a profile that some husk of this version wrote, for whatever program? */
static bool is_ours(const char *text, size_t size)
{
	const size_t before = sizeof(head) - 1, after = sizeof(tail) - 1;

	return size > before + after && memcmp(text, head, before) == 0 &&
	       memcmp(text + size - after, tail, after) == 0 &&
	       !memchr(text + before, '\n', size - before - after);
}

/* -- the program -- */

static int refuse(struct husk_error *err, const char *path, const char *why)
{
	(void)cli_error(err, "--install-apparmor", "%s %s", path, why);
	cli_error_hint(err,
		       "install husk where only root can change it (make install, or "
		       "a package), and run that one");
	return HUSK_E_INVALID;
}

int cli_apparmor_check(const char *program, struct husk_error *err)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789/._+-";
	char path[PATH_MAX];
	struct stat st = {.st_mode = 0};
	size_t size = strlen(program);

	if (program[0] != '/' || size >= sizeof(path) || strspn(program, plain) != size)
		return refuse(err, program, "is not a path that a profile can name");
	for (size_t end = 1; end <= size; end++) {
		if (end > 1 && program[end] != '/' && program[end] != '\0')
			continue;
		(void)snprintf(path, sizeof(path), "%.*s", (int)end, program);
		if (fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return refuse(err, path, "cannot be looked at");
		if (S_ISLNK(st.st_mode))
			return refuse(err, path, "is a link");
		if (st.st_uid != 0 || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
			return refuse(err, path, "can be changed by others than root");
	}
	return S_ISREG(st.st_mode) ? 0 : refuse(err, program, "is no file");
}

/* -- the file -- */

static int failed(struct husk_error *err, const char *what, int sys_errno)
{
	(void)cli_error(err, "--install-apparmor", "%s: %s", what, strerror(sys_errno));
	err->code = HUSK_E_SYSTEM;
	err->sys_errno = sys_errno;
	return HUSK_E_SYSTEM;
}

/* The file that is there; what is longer than any of ours is none of ours. -errno;
 * -ENOENT where there is none. */
static ssize_t read_file(int dir, char text[CLI_APPARMOR_TEXT])
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	ssize_t n, size = 0;

	if (fd < 0)
		return -errno;
	while ((n = read(fd, text + size, (size_t)(CLI_APPARMOR_TEXT - size))) > 0)
		size += n;
	if (n < 0)
		size = -errno;
	(void)close(fd);
	return size;
}

static int fill(int fd, const char *text, size_t size)
{
	int r = fchmod(fd, 0644) < 0 ? -errno : cli_write_all(fd, text, size);

	if (r == 0 && fsync(fd) < 0)
		r = -errno;
	if (close(fd) < 0 && r == 0)
		r = -errno;
	return r;
}

/* Whole or not at all. AppArmor takes no notice of names that begin with a dot. The name
 * is always the same, so that what a killed one left is removed by the next. */
static int write_file(int dir, const char *text, size_t size)
{
	static const char temp[] = ".husk.tmp";
	int fd, r;

	(void)unlinkat(dir, temp, 0);
	fd =
	    openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	r = fill(fd, text, size);
	if (r == 0 && renameat(dir, temp, dir, name) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(dir, temp, 0);
	return r;
}

/* -- loading -- */

static int run(const char *parser, char *file, struct husk_error *err)
{
	char own[] = "apparmor_parser", replace[] = "-r";
	char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin", language[] = "LC_ALL=C";
	char *const argv[] = {own, replace, file, NULL};
	char *const env[] = {path, language, NULL};
	int status, r;
	pid_t pid;

	r = posix_spawn(&pid, parser, NULL, NULL, argv, env);
	if (r != 0)
		return failed(err, parser, r);
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return failed(err, parser, errno);
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	(void)cli_error(err, "--install-apparmor",
			"%s could not load the profile, which is taken back", parser);
	err->code = HUSK_E_SYSTEM;
	cli_error_hint(err, "it says why above; the profile needs AppArmor 4, and before "
			    "that AppArmor restricts no user namespaces");
	return HUSK_E_SYSTEM;
}

static int load(const struct cli_apparmor *place, const char **ret_parser,
		struct husk_error *err)
{
	char file[PATH_MAX];
	int r;

	(void)snprintf(file, sizeof(file), "%s/%s", place->dir, name);
	for (size_t i = 0; place->active && place->parsers[i]; i++) {
		if (faccessat(AT_FDCWD, place->parsers[i], X_OK, 0) < 0)
			continue;
		r = run(place->parsers[i], file, err);
		if (r == 0)
			*ret_parser = place->parsers[i];
		return r;
	}
	return 0;
}

/* -- all of it -- */

static int put(const struct cli_apparmor *place, int dir, struct cli_apparmor_done *ret,
	       struct husk_error *err)
{
	char text[CLI_APPARMOR_TEXT], old[CLI_APPARMOR_TEXT];
	size_t size = cli_apparmor_profile(place->program, text);
	ssize_t had = read_file(dir, old);
	int r = 0;

	if (had < 0 && had != -ENOENT)
		return failed(err, "the profile that is there", (int)-had);
	if (had >= 0 && !is_ours(old, (size_t)had)) {
		(void)cli_error(err, "--install-apparmor",
				"%s/%s is not what husk would write", place->dir, name);
		cli_error_hint(err,
			       "move it away (additions belong in %s/local/%s), and "
			       "try again",
			       place->dir, name);
		return HUSK_E_INVALID;
	}
	ret->replaced = had >= 0 && ((size_t)had != size || memcmp(old, text, size) != 0);
	ret->wrote = had < 0;
	if (ret->wrote || ret->replaced)
		r = write_file(dir, text, size);
	if (r < 0)
		return failed(err, place->dir, -r);
	r = load(place, &ret->parser, err);
	if (r < 0 && ret->wrote)
		(void)unlinkat(dir, name, 0);
	else if (r < 0 && ret->replaced)
		(void)write_file(dir, old, (size_t)had);
	return r;
}

int cli_apparmor_put(const struct cli_apparmor *place, struct cli_apparmor_done *ret,
		     struct husk_error *err)
{
	int dir = openat(AT_FDCWD, place->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct cli_apparmor_done done = {.parser = NULL};
	int r;

	if (dir < 0) {
		(void)failed(err, place->dir, errno);
		cli_error_hint(err, "AppArmor is not installed here; where it is to be: "
				    "apt install apparmor");
		return HUSK_E_SYSTEM;
	}
	r = put(place, dir, &done, err);
	(void)close(dir);
	if (r == 0)
		*ret = done;
	return r;
}

static bool is_active(void)
{
	int fd = openat(AT_FDCWD, "/sys/module/apparmor/parameters/enabled",
			O_RDONLY | O_CLOEXEC);
	char word = 'N';

	if (fd < 0)
		return false;
	if (read(fd, &word, 1) != 1)
		word = 'N';
	(void)close(fd);
	return word == 'Y';
}

static int report(const struct cli_apparmor *place, const struct cli_apparmor_done *done)
{
	char line[2 * PATH_MAX];
	int size;

	size = snprintf(
	    line, sizeof(line), "%s %s/%s: it lets %s make user namespaces\n%s%s\n",
	    done->wrote	     ? "wrote"
	    : done->replaced ? "replaced"
			     : "left as it was, since it is right:",
	    place->dir, name, place->program,
	    done->parser    ? "loaded it with "
	    : place->active ? "not loaded yet, since there is no "
			      "apparmor_parser: apt install apparmor"
			    : "not loaded, since AppArmor is not active in this "
			      "kernel",
	    done->parser ? done->parser : "");
	return cli_print(line, (size_t)size);
}

int cli_apparmor_install(void)
{
	static const char *const parsers[] = {"/usr/sbin/apparmor_parser",
					      "/sbin/apparmor_parser", NULL};
	char program[PATH_MAX];
	struct cli_apparmor place = {program, "/etc/apparmor.d", parsers, is_active()};
	struct cli_apparmor_done done = {.parser = NULL};
	struct husk_error err = {0};
	ssize_t size;

	if (geteuid() != 0) {
		(void)cli_error(&err, "--install-apparmor", "only root may do that");
		cli_error_hint(&err, "sudo husk doctor --install-apparmor");
		return cli_say_error(&err);
	}
	size = readlinkat(AT_FDCWD, "/proc/self/exe", program, sizeof(program) - 1);
	if (size < 0) {
		(void)failed(&err, "/proc/self/exe", errno);
		return cli_say_error(&err);
	}
	program[size] = '\0';
	if (cli_apparmor_check(program, &err) < 0 ||
	    cli_apparmor_put(&place, &done, &err) < 0)
		return cli_say_error(&err);
	return report(&place, &done);
}
