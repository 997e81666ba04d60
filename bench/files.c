/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times what a session does with files and output, one line of microseconds for each of N
 * turns. The workspace is $BENCH_WORKSPACE; each kind of work keeps to a place of its own
 * there.
 *
 *	files diff N COUNT
 *		the two looks at COUNT files in directories of 100, nothing changed
 *
 *	files stat N COUNT
 *		the floor: one fstatat for each of these files
 *
 *	files list N COUNT
 *		husk_session_list of the same files
 *
 *	files write|plain-write|plain-replace|read|plain-read N COUNT SIZE
 *		COUNT files of SIZE bytes, by the session and by plain calls: replace
 *		writes another file and renames it over the old one
 *
 *	files capture|plain-capture N MIB
 *		MIB mebibytes that a cat prints in a box, or outside; 64 are kept
 */
#include <husk.h>

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "session/diff.h"
#include "session/listing.h"

extern char **environ;

enum { IN_ONE = 100, KEPT = 64 << 20 };

struct work {
	husk_session *session;
	const char *place; /* of the workspace */
	int root;	   /* the workspace, open */
	long count;
	size_t size;
	char *data;
	char tree[32]; /* the files of diff, below the workspace */
	struct diff diff;
	struct {
		int dir;
		char name[24];
	} * files;
};

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static int make_at(int dir, const char *name)
{
	int fd;

	(void)mkdirat(dir, name, 0755);
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		fail(name);
	return fd;
}

/* COUNT empty files below tree-COUNT; made by the first that needs them. */
static void make_tree(struct work *w)
{
	char name[32];
	int top, dir = -1;

	(void)snprintf(w->tree, sizeof(w->tree), "tree-%ld", w->count);
	top = make_at(w->root, w->tree);
	w->files = calloc((size_t)w->count, sizeof(*w->files));
	if (!w->files)
		fail("files");
	for (long i = 0; i < w->count; i++) {
		int fd;

		if (i % IN_ONE == 0) {
			(void)snprintf(name, sizeof(name), "d%ld", i / IN_ONE);
			dir = make_at(top, name);
		}
		w->files[i].dir = dir;
		(void)snprintf(w->files[i].name, sizeof(w->files[i].name), "f%ld", i);
		fd = openat(dir, w->files[i].name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
		if (fd < 0 || close(fd) < 0)
			fail("file");
	}
	diff_init(&w->diff, top);
}

/* -- what is timed ----------------------------------------------------------------------
 */

static void do_diff(struct work *w)
{
	struct diff_call call = DIFF_CALL_INIT;
	struct husk_listing *changes = NULL;

	if (diff_begin(&w->diff, &call, NULL) < 0 ||
	    diff_end(&w->diff, &call, &changes, NULL) < 0)
		fail("diff");
	husk_listing_free(changes);
}

static void do_stat(struct work *w)
{
	struct stat st;

	for (long i = 0; i < w->count; i++)
		if (fstatat(w->files[i].dir, w->files[i].name, &st, AT_SYMLINK_NOFOLLOW) <
		    0)
			fail("fstatat");
}

static void do_list(struct work *w)
{
	struct husk_listing *listing = NULL;

	if (husk_session_list(w->session, w->tree, &listing, NULL) < 0 ||
	    husk_listing_count(listing) != (size_t)w->count)
		fail("list");
	husk_listing_free(listing);
}

static void name_of(long i, char name[32])
{
	(void)snprintf(name, 32, "io/f%ld", i);
}

static void do_write(struct work *w)
{
	char name[32];

	for (long i = 0; i < w->count; i++) {
		name_of(i, name);
		if (husk_session_write(w->session, name, w->data, w->size, NULL) < 0)
			fail(name);
	}
}

static void write_plainly(struct work *w, const char *name)
{
	int fd = openat(w->root, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, w->data, w->size) != (ssize_t)w->size || close(fd) < 0)
		fail(name);
}

static void plain_write(struct work *w)
{
	char name[32];

	for (long i = 0; i < w->count; i++) {
		name_of(i, name);
		write_plainly(w, name);
	}
}

static void plain_replace(struct work *w)
{
	char name[32];

	for (long i = 0; i < w->count; i++) {
		name_of(i, name);
		write_plainly(w, "io/new");
		if (renameat(w->root, "io/new", w->root, name) < 0)
			fail(name);
	}
}

static void do_read(struct work *w)
{
	char name[32];

	for (long i = 0; i < w->count; i++) {
		void *data = NULL;
		size_t size = 0;

		name_of(i, name);
		if (husk_session_read(w->session, name, 0, &data, &size, NULL) < 0 ||
		    size != w->size)
			fail(name);
		free(data);
	}
}

static void plain_read(struct work *w)
{
	char name[32];

	for (long i = 0; i < w->count; i++) {
		struct stat st;
		char *data;
		int fd;

		name_of(i, name);
		fd = openat(w->root, name, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || fstat(fd, &st) < 0)
			fail(name);
		data = malloc((size_t)st.st_size + 1);
		if (!data || read(fd, data, (size_t)st.st_size) != st.st_size ||
		    close(fd) < 0)
			fail(name);
		free(data);
	}
}

static void do_capture(struct work *w)
{
	const char *argv[] = {"cat", "/workspace/big", NULL};
	husk_result *result = NULL;
	HUSK_CALL(call);

	call.skip_files = 1;
	if (husk_session_run(w->session, argv, &call, &result, NULL) < 0 ||
	    !husk_result_success(result))
		fail("box");
	husk_result_free(result);
}

static void plain_capture(struct work *w)
{
	static char rest[65536];
	char cat[] = "cat", path[4096], *argv[] = {cat, path, NULL};
	char *kept = malloc(KEPT);
	posix_spawn_file_actions_t actions;
	size_t used = 0;
	int ends[2], status;
	ssize_t n;
	pid_t pid;

	(void)snprintf(path, sizeof(path), "%s/big", w->place);
	if (!kept || pipe2(ends, O_CLOEXEC) < 0)
		fail("pipe");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
	if (posix_spawnp(&pid, "cat", &actions, NULL, argv, environ) != 0)
		fail("cat");
	posix_spawn_file_actions_destroy(&actions);
	(void)close(ends[1]);
	do {
		n = used < KEPT ? read(ends[0], kept + used, KEPT - used)
				: read(ends[0], rest, sizeof(rest));
		used += n > 0 && used < KEPT ? (size_t)n : 0;
	} while (n > 0);
	(void)close(ends[0]);
	free(kept);
	if (waitpid(pid, &status, 0) < 0 || status != 0)
		fail("cat");
}

/* -- the kinds of work ------------------------------------------------------------------
 */

static void make_io(struct work *w)
{
	w->data = malloc(w->size + 1);
	if (!w->data)
		fail("data");
	memset(w->data, 'x', w->size);
	(void)close(make_at(w->root, "io"));
}

static void make_io_full(struct work *w)
{
	make_io(w);
	plain_write(w);
}

static void make_big(struct work *w)
{
	int fd = openat(w->root, "big", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0 || ftruncate(fd, w->count << 20) < 0 || close(fd) < 0)
		fail("big");
}

static const struct kind {
	const char *name;
	void (*make)(struct work *w);
	void (*once)(struct work *w);
	int warm; /* turns that are not told: what is found out once */
} kinds[] = {
    {"capture", make_big, do_capture, 1},
    {"diff", make_tree, do_diff, 2},
    {"list", make_tree, do_list, 1},
    {"plain-capture", make_big, plain_capture, 1},
    {"plain-read", make_io_full, plain_read, 1},
    {"plain-replace", make_io, plain_replace, 1},
    {"plain-write", make_io, plain_write, 1},
    {"read", make_io_full, do_read, 1},
    {"stat", make_tree, do_stat, 1},
    {"write", make_io, do_write, 1},
};

static const struct kind *kind_of(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	fprintf(stderr, "usage: see the top of bench/files.c\n");
	exit(2);
}

int main(int argc, char **argv)
{
	const struct kind *kind = kind_of(argc > 3 ? argv[1] : "");
	long n = argc > 3 ? strtol(argv[2], NULL, 10) : 0;
	struct work w = {.place = getenv("BENCH_WORKSPACE")};
	struct husk_error err = {0};
	HUSK_OPTIONS(options);

	w.count = argc > 3 ? strtol(argv[3], NULL, 10) : 0;
	w.size = argc > 4 ? strtoul(argv[4], NULL, 10) : 0;
	options.workspace = w.place;
	options.limits = HUSK_LIMITS_BEST_EFFORT;
	options.timeout_ms = 120000;
	if (husk_session_open(&options, &w.session, &err) < 0) {
		fprintf(stderr, "%s: %s\n", err.where, err.message);
		return 1;
	}
	w.root = open(w.place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (w.root < 0)
		fail("workspace");
	kind->make(&w);
	for (int i = 0; i < kind->warm; i++)
		kind->once(&w);
	for (long i = 0; i < n; i++) {
		double begin = now_us();

		kind->once(&w);
		printf("%.1f\n", now_us() - begin);
	}
	husk_session_close(w.session);
	return 0;
}
