/* SPDX-License-Identifier: Apache-2.0 */
/* Reading files whole, whatever they are. */
#include "cli/input.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A file of size bytes of a pattern; its path goes to path. Returns its descriptor. */
static int make_file(char *path, size_t capacity, size_t size)
{
	int fd = memfd_create("cli_input_test", MFD_CLOEXEC);
	unsigned char byte;

	assert_true(fd >= 0);
	for (size_t i = 0; i < size; i++) {
		byte = (unsigned char)(i * 7 + i / 251);
		assert_int_equal(write(fd, &byte, 1), 1);
	}
	(void)snprintf(path, capacity, "/proc/self/fd/%d", fd);
	return fd;
}

static void assert_pattern(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		assert_int_equal((unsigned char)text[i],
				 (unsigned char)(i * 7 + i / 251));
	assert_int_equal(text[size], '\0');
}

static void test_files(void **state)
{
	static const size_t sizes[] = {0, 1, 255, 4096, 100000};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct husk_error err = {0};
		char path[64], *text = NULL;
		size_t size = 99;
		int fd = make_file(path, sizeof(path), sizes[i]);

		assert_int_equal(
		    cli_input_read("x", path, NULL, 1 << 20, &text, &size, NULL, &err),
		    0);
		assert_int_equal(size, sizes[i]);
		assert_pattern(text, size);
		free(text);
		assert_int_equal(close(fd), 0);
	}
}

/* Exactly the maximum is taken, one byte more is not. */
static void test_maximum(void **state)
{
	struct husk_error err = {0};
	char path[64], *text = NULL;
	size_t size = 0;
	int fd = make_file(path, sizeof(path), 1000);

	(void)state;
	assert_int_equal(cli_input_read("x", path, NULL, 1000, &text, &size, NULL, &err),
			 0);
	assert_int_equal(size, 1000);
	free(text);
	text = NULL;
	assert_int_equal(
	    cli_input_read("what", path, NULL, 999, &text, &size, NULL, &err),
	    HUSK_E_INVALID);
	assert_string_equal(err.where, "what");
	assert_null(text);
	assert_int_equal(close(fd), 0);
	assert_int_equal(
	    cli_input_read("x", "/dev/zero", NULL, 1 << 20, &text, &size, NULL, &err),
	    HUSK_E_INVALID);
	assert_null(text);
}

/* A pipe comes in pieces, does not know its size, and may not block; so does stdin. */
static void test_pipe_on_stdin(void **state)
{
	enum { SIZE = 300000 };
	struct husk_error err = {0};
	int ends[2], saved = fcntl(0, F_DUPFD_CLOEXEC, 3), status = 0;
	char *text = NULL;
	size_t size = 0;
	pid_t writer;

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	writer = fork();
	assert_true(writer >= 0);
	if (writer == 0) {
		(void)fcntl(ends[1], F_SETFL, 0);
		for (size_t i = 0; i < SIZE; i++) {
			unsigned char byte = (unsigned char)(i * 7 + i / 251);

			if (write(ends[1], &byte, 1) != 1)
				_exit(1);
		}
		_exit(0);
	}
	assert_int_equal(close(ends[1]), 0);
	assert_int_equal(dup2(ends[0], 0), 0);
	assert_int_equal(
	    cli_input_read("x", NULL, NULL, 1 << 20, &text, &size, NULL, &err), 0);
	assert_int_equal(size, SIZE);
	assert_pattern(text, size);
	free(text);
	if (saved >= 0)
		(void)dup2(saved, 0);
	assert_int_equal(waitpid(writer, &status, 0), writer);
	assert_int_equal(status, 0);
	(void)close(saved);
	assert_int_equal(close(ends[0]), 0);
}

static void test_refused(void **state)
{
	static const char *const paths[] = {"", "no/such/file", "."};

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct husk_error err = {0};
		char *text = NULL;
		size_t size = 0;

		assert_int_equal(
		    cli_input_read("x", paths[i], NULL, 10, &text, &size, NULL, &err),
		    HUSK_E_INVALID);
		assert_null(text);
		assert_non_null(strchr(err.message, ':'));
	}
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

static int remove_below(const char *path)
{
	return nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void assert_opens(int result, const char *path, const char *workspace)
{
	const char *const places[] = {"/no/such/place", workspace, NULL};
	bool inside = false, strays = cli_input_strays(path, places);
	int fd = cli_input_open(path, workspace ? places : NULL, &inside);

	if (fd >= 0)
		(void)close(fd);
	assert_int_equal(fd < 0 ? fd : 0, result);
	assert_int_equal(strays, result == -EXDEV);
	if (result == -EXDEV || result == -ENOTSUP)
		assert_true(inside);
}

/* What a box may have made in the workspace, by whatever way it is named. */
static void test_links_in_a_workspace(void **state)
{
	char base[] = "/tmp/husk-test-XXXXXX";
	int before = open(".", O_PATH | O_CLOEXEC), fd;

	(void)state;
	assert_non_null(mkdtemp(base));
	assert_int_equal(chdir(base), 0);
	assert_int_equal(mkdir("w", 0700), 0);
	assert_int_equal(mkdir("w/d", 0700), 0);
	fd = open("secret", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	(void)close(fd);
	fd = open("w/d/code", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	(void)close(fd);
	assert_int_equal(symlink("../secret", "w/link"), 0);
	assert_int_equal(symlink("..", "w/up"), 0);
	assert_int_equal(symlink("w", "alias"), 0);
	assert_int_equal(symlink("w/d", "into"), 0);
	assert_int_equal(symlink("secret", "outside"), 0);
	assert_int_equal(symlink("w/link", "byway"), 0); /* through the workspace */
	assert_int_equal(symlink("w/up", "aslant"), 0);
	assert_int_equal(symlink("round", "round"), 0);
	assert_int_equal(symlink("nothing", "dangling"), 0);
	assert_int_equal(symlink("/dev/null", "absolute"), 0);
	assert_int_equal(mkfifo("w/pipe", 0600), 0);
	assert_opens(0, "w/d/code", "w");
	assert_opens(0, "w//d/code", "w");
	assert_opens(0, "w/./d/code", "w");
	assert_opens(0, "alias/d/code", "w"); /* links of the caller's are its own */
	assert_opens(0, "into/code", "w");
	assert_opens(0, "outside", "w");
	assert_opens(0, "w/link", NULL);
	assert_opens(0, "w/link", "w/d");
	assert_opens(-EXDEV, "w/link", "w");
	assert_opens(-EXDEV, "w/link", "alias");
	assert_opens(-EXDEV, "alias/link", "w");
	assert_opens(-EXDEV, "w/up/secret", "w");
	assert_opens(-EXDEV, "w/d/../link", "w");
	assert_opens(0, "w/d/../d/code", "w");
	assert_opens(-EXDEV, "w/d/../../secret", "w");
	assert_opens(0, "w/../secret", "w"); /* no box can move its top */
	assert_opens(-EXDEV, "byway", "w");
	assert_opens(-EXDEV, "aslant/secret", "w");
	assert_opens(-ELOOP, "round", "w");
	assert_opens(-ENOENT, "dangling", "w");
	assert_opens(-ENOTDIR, "secret/", "w");
	assert_opens(0, "absolute", "w");
	assert_opens(0, "/dev/null", "w");
	assert_opens(0, "/proc/self/cwd/w/d/code", "w");
	assert_opens(-EXDEV, "/proc/self/cwd/w/link", "w");
	assert_opens(-ENOTSUP, "w/pipe", "w");
	assert_opens(-ENOTSUP, "w/d", "w");
	assert_opens(-ENOENT, "w/nothing", "w");
	assert_opens(-ENOENT, "w/nothing/code", "w");
	assert_opens(-ENOTDIR, "w/d/code/x", "w");
	assert_int_equal(chdir("w/d"), 0);
	assert_opens(0, "code", "..");
	assert_opens(-EXDEV, "../link", "..");
	assert_opens(-EXDEV, "../../secret", ".."); /* a box may move where we are */
	assert_opens(0, "../d/code", "..");
	assert_opens(0, "../../secret", ".");
	assert_int_equal(chdir(".."), 0);
	assert_opens(-EXDEV, "link", ".");
	assert_opens(-EXDEV, "./link", ".");
	assert_int_equal(chdir(".."), 0);
	{
		char path[128], workspace[64];

		(void)snprintf(workspace, sizeof(workspace), "%s/w/", base);
		(void)snprintf(path, sizeof(path), "%s/w/link", base);
		assert_opens(-EXDEV, path, workspace);
		(void)snprintf(path, sizeof(path), "%s/w/d/code", base);
		assert_opens(0, path, workspace);
	}
	assert_int_equal(fchdir(before), 0);
	(void)close(before);
	assert_int_equal(remove_below(base), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_files),
	    cmocka_unit_test(test_maximum),
	    cmocka_unit_test(test_pipe_on_stdin),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_links_in_a_workspace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
