/* SPDX-License-Identifier: Apache-2.0 */
#include "session/setup_inputs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/memory.h"
#include "session/beneath.h"
#include "session/deps.h"
#include "session/tree.h"

#define CONTENT_MAX (UINT64_C(2) << 30) /* bytes that are read at all */

enum {
	TEXT_MAX = 256 << 10, /* a larger file is no list of requirements */
	PIECE = 64 << 10,
	PATH_TEXT = 4096,
	SEEN_MAX = 4 << 20, /* bytes of paths */
	NESTING_MAX = 8,
	NESTING_ALL = 9, /* all is taken anyway: nothing is looked for by name */
};

struct inputs {
	const struct husk_session *session;
	struct sha256 *hash;
	uint64_t left;	    /* of CONTENT_MAX */
	bool all;	    /* everything is read: what a link leads to as well */
	struct buffer seen; /* paths that were added, each with a NUL */
	char piece[PIECE];
};

static void add_text(struct inputs *inputs, const char *text)
{
	sha256_add(inputs->hash, text, strlen(text) + 1);
}

static void add_number(struct inputs *inputs, uint64_t number)
{
	sha256_add(inputs->hash, &number, sizeof(number));
}

/* -- content --------------------------------------------------------------------------
 */

/* A file changes its size while it is read only where somebody writes to it, and then no
 * key is right. */
static int add_file(struct inputs *inputs, int fd, const struct stat *st)
{
	uint64_t size = (uint64_t)st->st_size;

	add_number(inputs, size);
	if (size > inputs->left)
		return -EFBIG;
	inputs->left -= size;
	while (size > 0) {
		size_t want = size < PIECE ? (size_t)size : PIECE;
		ssize_t n = fd_read_full(fd, inputs->piece, want);

		if (n != (ssize_t)want)
			return n < 0 ? (int)n : -EAGAIN;
		sha256_add(inputs->hash, inputs->piece, want);
		size -= want;
	}
	return 0;
}

static int open_file(int dir, const char *name, struct stat *st)
{
	CLEANUP_FD int fd = beneath_open(dir, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);

	if (fd < 0)
		return fd;
	if (fstat(fd, st) < 0)
		return -errno;
	return S_ISREG(st->st_mode) ? fd_take(&fd) : -EINVAL;
}

static int add_entry(void *user, enum tree_step step, const struct tree_entry *entry)
{
	struct inputs *inputs = user;
	char target[PATH_MAX];
	struct stat st;
	ssize_t n;

	if (step == TREE_LEAVE)
		return 0;
	add_number(inputs, step);
	add_text(inputs, entry->path);
	add_number(inputs, entry->st->st_mode & 0111);
	if (step == TREE_FILE) {
		CLEANUP_FD int fd = open_file(entry->dir, entry->name, &st);

		return fd < 0 ? fd : add_file(inputs, fd, &st);
	}
	if (step == TREE_LINK && !inputs->all)
		return -ELOOP; /* what it leads to is not known */
	if (step == TREE_LINK) {
		n = readlinkat(entry->dir, entry->name, target, sizeof(target) - 1);
		if (n < 0)
			return -errno;
		target[n] = '\0';
		add_text(inputs, target);
	}
	return 0;
}

static int add_tree(struct inputs *inputs, int fd, const char *skip)
{
	int r = tree_each(fd, skip, add_entry, inputs);

	add_text(inputs, "end");
	return r;
}

/* -- names ----------------------------------------------------------------------------
 */

/* Bring a path of the box into its plain form without a leading slash: below `base` where
 * it is relative. False where it leaves the root or does not fit. */
static bool clean_path(const char *base, const char *text, size_t size, char *ret)
{
	size_t used = 0;

	ret[0] = '\0';
	if (size == 0 || memchr(text, '\0', size))
		return false;
	if (text[0] != '/') {
		used = strlen(base);
		memcpy(ret, base, used + 1);
	}
	for (size_t at = 0; at < size;) {
		const char *part = text + at;
		const char *slash = memchr(part, '/', size - at);
		size_t n = slash ? (size_t)(slash - part) : size - at;

		at += n + 1;
		if (n == 0 || (n == 1 && part[0] == '.'))
			continue;
		if (n == 2 && part[0] == '.' && part[1] == '.') {
			char *last = strrchr(ret, '/');

			if (used == 0)
				return false;
			used = last ? (size_t)(last - ret) : 0;
			ret[used] = '\0';
			continue;
		}
		if (n > NAME_MAX || used + n + 2 > PATH_TEXT)
			return false;
		if (used > 0)
			ret[used++] = '/';
		memcpy(ret + used, part, n);
		used += n;
		ret[used] = '\0';
	}
	return used > 0;
}

/* What follows target in path where path is at or below it, else NULL. */
static const char *below(const char *path, const char *target)
{
	size_t size = strlen(target);

	if (strncmp(path, target, size) != 0)
		return NULL;
	if (path[size] == '/')
		return path + size + 1;
	return path[size] == '\0' ? path + size : NULL;
}

/* The descriptor of the workspace or of the mount that path lies in; later mounts cover
 * earlier ones. -1: it is the image's. */
static int find_root(const struct inputs *inputs, const char *path, const char **ret_rest)
{
	const struct box_spec *spec = &inputs->session->spec;
	int root = -1;

	*ret_rest = below(path, "workspace");
	if (*ret_rest)
		root = spec->workspace.fd;
	for (size_t i = 0; i < spec->mount_count; i++) {
		const char *rest = below(path, spec->mounts[i].target);

		if (rest) {
			root = spec->mounts[i].source.fd;
			*ret_rest = rest;
		}
	}
	return root;
}

static bool seen(struct inputs *inputs, const char *path)
{
	const char *at = inputs->seen.data, *end = at + inputs->seen.size;

	for (; at && at < end; at += strlen(at) + 1) {
		if (strcmp(at, path) == 0)
			return true;
	}
	return false;
}

static int add_names(struct inputs *inputs, const char *base, const char *text,
		     size_t size, unsigned nesting);

/* A short text may name more files, as requirements do with -r, -c and paths. */
static int add_named_in(struct inputs *inputs, const char *path, int fd, unsigned nesting)
{
	CLEANUP_FREE char *text = malloc(TEXT_MAX);
	char base[PATH_TEXT];
	char *slash;
	ssize_t n;
	int r;

	if (nesting == NESTING_ALL)
		return 0;
	if (!text)
		return -ENOMEM;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	n = fd_read_full(fd, text, TEXT_MAX);
	if (n <= 0 || n == TEXT_MAX || memchr(text, '\0', (size_t)n))
		return n < 0 ? (int)n : 0;
	if (nesting == NESTING_MAX)
		return -ELOOP;
	(void)snprintf(base, sizeof(base), "%s", path);
	slash = strrchr(base, '/');
	*(slash ? slash : base) = '\0';
	r = add_names(inputs, base, text, (size_t)n, nesting + 1);
	if (r == 0 && strcmp(base, "workspace") != 0)
		r = add_names(inputs, "workspace", text, (size_t)n, nesting + 1);
	return r;
}

static int add_regular(struct inputs *inputs, const char *path, int root,
		       const char *rest, unsigned nesting)
{
	CLEANUP_FD int fd = -1;
	char self[64];
	struct stat st;
	int r;

	/* A mount may be of one file. */
	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", root);
	fd = *rest ? open_file(root, rest, &st)
		   : openat(AT_FDCWD, self, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return *rest ? fd : -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	r = add_file(inputs, fd, &st);
	return r < 0 ? r : add_named_in(inputs, path, fd, nesting);
}

/* Add what lies at a path of the box, if anything does. */
static int add_path(struct inputs *inputs, const char *path, unsigned nesting)
{
	CLEANUP_FD int pin = -1;
	const char *rest = NULL;
	int root = find_root(inputs, path, &rest);
	struct stat st;
	int r;

	if (root < 0 || below(path, DEPS_TARGET) || seen(inputs, path))
		return 0;
	pin =
	    *rest ? beneath_open(root, rest, O_PATH, 0) : fcntl(root, F_DUPFD_CLOEXEC, 3);
	if (pin < 0 && !*rest)
		return -errno;
	if (pin == -ENOENT || pin == -ENOTDIR || pin == -ENAMETOOLONG)
		return 0;
	if (pin < 0)
		return pin;
	if (fstat(pin, &st) < 0)
		return -errno;
	if (S_ISLNK(st.st_mode))
		return -ELOOP;
	r = buffer_add(&inputs->seen, path, strlen(path) + 1);
	if (r < 0)
		return r;
	add_text(inputs, path);
	if (S_ISDIR(st.st_mode))
		return add_tree(inputs, pin,
				strcmp(path, "workspace") == 0 ? DEPS_NAME : NULL);
	return S_ISREG(st.st_mode) ? add_regular(inputs, path, root, rest, nesting) : 0;
}

/* One word, and what it may hold: --option=PATH, -rPATH, name @ file:///PATH,
 * PATH[extra]. */
static int add_word(struct inputs *inputs, const char *base, const char *word,
		    size_t size, unsigned nesting)
{
	static const char *const prefixes[] = {"",   "-c",    "-e",	"-f",
					       "-r", "file:", "file://"};
	const char *bracket = memchr(word, '[', size);
	char path[PATH_TEXT];
	int r = 0;

	if (bracket)
		size = (size_t)(bracket - word);
	for (size_t i = 0; r == 0 && i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t n = strlen(prefixes[i]);

		if (size > n && strncmp(word, prefixes[i], n) == 0 &&
		    clean_path(base, word + n, size - n, path))
			r = add_path(inputs, path, nesting);
	}
	return r;
}

/* The words of a text; what is around a path in it does not belong to one. */
static int add_names(struct inputs *inputs, const char *base, const char *text,
		     size_t size, unsigned nesting)
{
	static const char around[] = " \t\r\n\"'=,;<>()";
	size_t begin = 0;
	int r = 0;

	for (size_t at = 0; r == 0 && at <= size; at++) {
		if (at < size && text[at] != '\0' && !strchr(around, text[at]))
			continue;
		if (at > begin)
			r = add_word(inputs, base, text + begin, at - begin, nesting);
		begin = at + 1;
	}
	return r;
}

/* -- all ------------------------------------------------------------------------------
 */

static int add_everything(struct inputs *inputs)
{
	const struct box_spec *spec = &inputs->session->spec;
	int r;

	inputs->all = true;
	r = add_path(inputs, "workspace", NESTING_ALL);
	for (size_t i = 0; r == 0 && i < spec->mount_count; i++)
		r = add_path(inputs, spec->mounts[i].target, NESTING_ALL);
	return r;
}

/* A word of the command may hold blanks, so it is also tried whole. */
static int add_words(struct inputs *inputs, const struct buffer *words)
{
	const char *at = words->data, *end = at + words->size;
	int r = 0;

	for (; r == 0 && at && at < end; at += strlen(at) + 1) {
		r = add_word(inputs, "workspace", at, strlen(at), 0);
		if (r == 0)
			r = add_names(inputs, "workspace", at, strlen(at), 0);
	}
	return r;
}

/* pip takes any of its options from variables. */
static int add_variables(struct inputs *inputs, char *const *env)
{
	int r = 0;

	for (size_t i = 0; r == 0 && env[i]; i++) {
		if (strncmp(env[i], "PIP_", 4) == 0)
			r = add_names(inputs, "workspace", env[i], strlen(env[i]), 0);
	}
	return r;
}

int setup_inputs_add(const struct husk_session *session,
		     const struct setup_command *command, struct sha256 *hash)
{
	CLEANUP_FREE struct inputs *inputs = calloc(1, sizeof(*inputs));
	int r;

	if (!inputs)
		return -ENOMEM;
	inputs->session = session;
	inputs->hash = hash;
	inputs->left = CONTENT_MAX;
	inputs->seen = BUFFER_INIT(SEEN_MAX);
	if (command->plain_pip) {
		r = add_words(inputs, &command->words);
		if (r == 0)
			r = add_variables(inputs, session->settings.env);
	} else {
		r = add_everything(inputs);
	}
	buffer_deinit(&inputs->seen);
	return r;
}
