/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/running.h"

#include "cli/json_memory.h"

#include "cli/json_text.h"
#include "cli/say.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 64, BRIEFLY_NS = 1000000, COMMAND_MAX = 200 };

bool cli_running_is_name(const char *name)
{
	static const char letters[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	size_t size = strlen(name);

	return size > 0 && size < CLI_RUNNING_NAME && strchr(letters, name[0]) &&
	       strspn(name + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				"0123456789-_.") == size - 1;
}

/* A read lock is that of a husk which is about to remove an entry of a dead one. */
static bool is_swept(int fd)
{
	static const struct timespec briefly = {.tv_nsec = BRIEFLY_NS};
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	if (fcntl(fd, F_GETLK, &lock) < 0 || lock.l_type == F_WRLCK)
		return false;
	(void)nanosleep(&briefly, NULL);
	return true;
}

/* Is what we hold still what the name stands for? It is emptied, where a dead husk has
 * left something in it. (Cutting a file that is empty costs a wait for the disk when it
 * is closed: ext4 takes it for one that is being replaced.) */
static bool is_named(const struct cli_running *running)
{
	struct stat held, named;

	return fstat(running->fd, &held) == 0 &&
	       fstatat(running->dir, running->file, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       held.st_ino == named.st_ino &&
	       (held.st_size == 0 || ftruncate(running->fd, 0) == 0);
}

/* Open and lock the entry; 0, -EAGAIN where another husk holds it, or -errno. One that
 * was removed between the two (by a husk that took it for dead) is made again. */
static int take(struct cli_running *running)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	bool again = true;

	for (int i = 0; again && i < TRIES; i++) {
		running->fd = openat(running->dir, running->file,
				     O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (running->fd < 0)
			return -errno;
		if (fcntl(running->fd, F_SETLK, &lock) == 0) {
			if (is_named(running))
				return 0;
		} else if (errno == EACCES || errno == EAGAIN) {
			again = is_swept(running->fd);
		}
		(void)close(running->fd);
		running->fd = -1;
	}
	return -EAGAIN;
}

/* What is run, on one line, cut. */
static json_t *command_text(const char *const *words)
{
	char text[COMMAND_MAX + 1] = "";
	size_t used = 0;

	for (size_t i = 0; words && words[i] && used < COMMAND_MAX; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
					 i > 0 ? " " : "", words[i]);
	return cli_json_text(text, strlen(text));
}

static json_t *text_or_null(const char *text)
{
	return text ? cli_json_text(text, strlen(text)) : json_null();
}

static void write_down(const struct cli_running *running,
		       const struct cli_settings *settings, const char *verb,
		       const char *const *words)
{
	json_t *entry = json_pack(
	    "{s:s,s:I,s:o,s:o,s:o}", "verb", verb, "started", (json_int_t)time(NULL),
	    "image", text_or_null(settings->box.image ? settings->box.image : "host"),
	    "workspace", text_or_null(settings->box.workspace), "command",
	    command_text(words));
	char *text = cli_json_dump(entry, JSON_COMPACT);

	if (text)
		(void)cli_write_all(running->fd, text, strlen(text));
	free(text);
	json_decref(entry);
	cli_json_forget(); /* an entry without a line is as good */
}

static void make_up_name(struct cli_running *running, const char *verb)
{
	uint32_t number = 0;

	(void)!getrandom(&number, sizeof(number), GRND_NONBLOCK);
	(void)snprintf(running->file, sizeof(running->file), "%.20s-%08x.json", verb,
		       number);
}

static int enter_named(struct cli_running *running, const char *name,
		       struct husk_error *err)
{
	int r, pidfd;

	if (!cli_running_is_name(name)) {
		(void)cli_error(err, "--name", "%.80s: not a name", name);
		cli_error_hint(err, "up to 64 letters, digits, -, _ and ., beginning "
				    "with a letter or digit");
		return HUSK_E_INVALID;
	}
	(void)snprintf(running->file, sizeof(running->file), "%s.json", name);
	r = running->dir < 0 ? -errno : 0;
	/* One that was started where another directory is the first. */
	pidfd = cli_running_find(name);
	if (pidfd >= 0) {
		(void)close(pidfd);
		r = -EAGAIN;
	}
	if (r == 0)
		r = take(running);
	if (r == 0)
		return 0;
	if (r == -EAGAIN) {
		(void)cli_error(err, "--name", "%s: a box of that name is running", name);
		cli_error_hint(err, "choose another, or `husk stop` that one");
		err->code = HUSK_E_IN_USE;
		return HUSK_E_IN_USE;
	}
	(void)cli_error(err, "--name", "%s: the run-time directory cannot be used: %s",
			name, strerror(-r));
	cli_error_hint(err, "set XDG_RUNTIME_DIR to a directory of yours");
	err->code = HUSK_E_SYSTEM;
	err->sys_errno = -r;
	return HUSK_E_SYSTEM;
}

int cli_running_enter(struct cli_running *running, const struct cli_settings *settings,
		      const char *verb, const char *const *words, struct husk_error *err)
{
	int r = -1;

	running->dir = cli_running_dir();
	if (settings->name) {
		r = enter_named(running, settings->name, err);
		if (r < 0)
			return r;
	}
	for (int i = 0; r < 0 && running->dir >= 0 && i < TRIES; i++) {
		make_up_name(running, verb);
		r = take(running);
		if (r < 0 && r != -EAGAIN)
			break;
	}
	if (r == 0)
		write_down(running, settings, verb, words);
	return 0;
}

void cli_running_leave(struct cli_running *running)
{
	if (running->fd >= 0) {
		(void)unlinkat(running->dir, running->file, 0);
		(void)close(running->fd);
	}
	if (running->dir >= 0)
		(void)close(running->dir);
	*running = CLI_RUNNING_INIT;
}
