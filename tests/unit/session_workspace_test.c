/* SPDX-License-Identifier: Apache-2.0 */
/* Workspaces: made, given, removed, and swept up after processes that were killed. */
#include "session/workspace.h"

#include "tests/unit/session_tree.h"

#include <husk/session.h>

#include <signal.h>
#include <sys/file.h>

/* base/ws is the directory that temporary ones are made in. */
struct place {
	struct tree tree;
	char temp[96];
	struct workspace ws;
	struct husk_error err;
};

static struct place place_open(void)
{
	struct place p = {.tree = tree_open(), .ws = WORKSPACE_INIT};

	(void)snprintf(p.temp, sizeof(p.temp), "%s/ws", p.tree.base);
	return p;
}

static size_t count_names(const struct place *p)
{
	return count_in(p->tree.base_fd, "ws");
}

static void a_temporary_one_is_private_and_removed(void **state)
{
	struct place p = place_open();
	struct canary canary = canary_look(&p.tree);
	struct tree inside;
	struct stat st;
	int second;
	(void)state;

	assert_int_equal(workspace_open(NULL, p.temp, &p.ws, &p.err), 0);
	assert_true(p.ws.temporary);
	assert_int_equal(strlen(p.ws.name), 20);
	assert_int_equal(strncmp(p.ws.name, "husk-ws-", 8), 0);
	assert_int_equal(strncmp(p.ws.path, p.temp, strlen(p.temp)), 0);
	assert_string_equal(p.ws.path + strlen(p.temp) + 1, p.ws.name);
	assert_int_equal(fstatat(AT_FDCWD, p.ws.path, &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(st.st_uid, geteuid());
	assert_int_equal(st.st_ino, p.ws.ino);
	assert_int_equal(st.st_dev, p.ws.dev);
	assert_int_equal(fcntl(p.ws.fd, F_GETFD), FD_CLOEXEC);
	second = open_dir(AT_FDCWD, p.ws.path);
	assert_int_equal(flock(second, LOCK_EX | LOCK_NB), -1);
	assert_int_equal(errno, EWOULDBLOCK);
	(void)close(second);

	inside = p.tree;
	inside.ws = p.ws.fd;
	make_oddities(&inside);
	(void)close(make_chain(p.ws.fd, "d", 100));
	put(p.ws.fd, "d/f", "x");
	assert_int_equal(fchmodat(p.ws.fd, "d", 0000, 0), 0);
	assert_int_equal(fchmod(p.ws.fd, 0000), 0);
	assert_int_equal(workspace_deinit(&p.ws, &p.err), 0);
	assert_int_equal(p.ws.fd, -1);
	assert_int_equal(workspace_deinit(&p.ws, &p.err), 0); /* twice is fine */
	assert_int_equal(count_names(&p), 0);
	assert_canary(&p.tree, &canary);
	tree_close(&p.tree);
}

static void names_are_not_foreseen(void **state)
{
	struct place p = place_open();
	struct workspace other;
	(void)state;

	assert_int_equal(workspace_open(NULL, p.temp, &p.ws, NULL), 0);
	assert_int_equal(workspace_open(NULL, p.temp, &other, NULL), 0);
	assert_string_not_equal(p.ws.name, other.name);
	assert_int_equal(workspace_deinit(&other, NULL), 0);
	assert_int_equal(workspace_deinit(&p.ws, NULL), 0);
	tree_close(&p.tree);
}

static void a_place_open_to_others_is_refused(void **state)
{
	struct place p = place_open();
	(void)state;

	assert_int_equal(fchmod(p.tree.ws, 0777), 0);
	assert_int_equal(workspace_open(NULL, p.temp, &p.ws, &p.err), HUSK_E_INVALID);
	assert_non_null(strstr(p.err.hint, "sticky"));
	assert_int_equal(workspace_sweep(p.temp), -EPERM);
	assert_int_equal(fchmod(p.tree.ws, 01777), 0);
	assert_int_equal(workspace_open(NULL, p.temp, &p.ws, &p.err), 0);
	assert_int_equal(workspace_deinit(&p.ws, NULL), 0);
	assert_int_equal(workspace_open(NULL, "/nonexistent", &p.ws, &p.err),
			 HUSK_E_SYSTEM);
	assert_int_equal(p.err.sys_errno, ENOENT);
	assert_int_equal(p.ws.fd, -1);
	tree_close(&p.tree);
}

static void a_given_one_is_made_and_kept(void **state)
{
	struct place p = place_open();
	char path[160], link[160], *resolved = NULL;
	struct stat st;
	mode_t mask = umask(022);
	(void)state;

	(void)snprintf(path, sizeof(path), "%s/a:b,c d/\"e\nf\"/./g/", p.temp);
	assert_int_equal(workspace_resolve(path, &resolved, &p.err), 0);
	assert_int_equal(count_names(&p), 0); /* nothing is made by asking */
	assert_int_equal(workspace_open(path, NULL, &p.ws, &p.err), 0);
	assert_string_equal(p.ws.path, resolved);
	free(resolved);
	assert_false(p.ws.temporary);
	assert_int_equal(fstatat(p.tree.ws, "a:b,c d", &st, 0), 0);
	assert_int_equal(st.st_mode & 0777, 0755);
	put(p.ws.fd, "f", "kept");
	assert_int_equal(workspace_deinit(&p.ws, &p.err), 0);
	assert_true(exists(p.tree.ws, "a:b,c d/\"e\nf\"/g/f"));

	/* Through a link it is the same place, by its real path. */
	assert_int_equal(symlinkat("a:b,c d", p.tree.ws, "link"), 0);
	(void)snprintf(link, sizeof(link), "%s/link/\"e\nf\"/g", p.temp);
	assert_int_equal(workspace_open(link, NULL, &p.ws, &p.err), 0);
	assert_null(strstr(p.ws.path, "link"));
	assert_true(exists(p.ws.fd, "f"));
	assert_int_equal(workspace_deinit(&p.ws, &p.err), 0);
	(void)umask(mask);
	tree_close(&p.tree);
}

static void a_relative_one(struct tree *tree)
{
	struct workspace ws;
	char want[128];

	CHECK(fchdir(tree->ws) == 0);
	CHECK(workspace_open("new/er", NULL, &ws, NULL) == 0);
	(void)snprintf(want, sizeof(want), "%s/ws/new/er", tree->base);
	CHECK(strcmp(ws.path, want) == 0);
	CHECK(workspace_deinit(&ws, NULL) == 0);
	CHECK(workspace_open("new/../new/./er", NULL, &ws, NULL) == 0);
	CHECK(strcmp(ws.path, want) == 0);
	CHECK(workspace_deinit(&ws, NULL) == 0);
}

static void a_relative_path_is_taken_from_here(void **state)
{
	struct place p = place_open();
	(void)state;

	in_child(a_relative_one, &p.tree);
	tree_close(&p.tree);
}

static void what_cannot_be_a_workspace_is_refused(void **state)
{
	struct place p = place_open();
	static char long_path[5000];
	char path[160];
	(void)state;

	put(p.tree.ws, "file", "x");
	(void)snprintf(path, sizeof(path), "%s/file", p.temp);
	assert_int_equal(workspace_open(path, NULL, &p.ws, &p.err), HUSK_E_INVALID);
	assert_non_null(strstr(p.err.message, "Not a directory"));
	(void)snprintf(path, sizeof(path), "%s/file/below", p.temp);
	assert_int_equal(workspace_open(path, NULL, &p.ws, &p.err), HUSK_E_INVALID);
	assert_int_equal(workspace_open("", NULL, &p.ws, &p.err), HUSK_E_INVALID);
	memset(long_path, 'a', sizeof(long_path) - 1);
	assert_int_equal(workspace_open(long_path, NULL, &p.ws, &p.err), HUSK_E_INVALID);
	long_path[300] = '\0';
	assert_int_equal(workspace_open(long_path, NULL, &p.ws, &p.err), HUSK_E_SYSTEM);
	assert_int_equal(p.err.sys_errno, ENAMETOOLONG);
	(void)snprintf(path, sizeof(path), "%s/none/../../escape", p.temp);
	assert_int_equal(workspace_open(path, NULL, &p.ws, &p.err), HUSK_E_SYSTEM);
	assert_int_equal(symlinkat("nowhere", p.tree.ws, "dangling"), 0);
	(void)snprintf(path, sizeof(path), "%s/dangling", p.temp);
	assert_int_equal(workspace_open(path, NULL, &p.ws, &p.err), HUSK_E_SYSTEM);
	assert_false(exists(p.tree.ws, "nowhere"));
	assert_int_equal(count_names(&p), 2);
	assert_int_equal(p.ws.fd, -1);
	tree_close(&p.tree);
}

static void a_mode_that_shuts_us_out(struct tree *tree)
{
	struct workspace ws;
	struct husk_error err;
	char path[128];

	become_user(tree);
	(void)snprintf(path, sizeof(path), "%s/ws/d", tree->base);
	CHECK(mkdirat(tree->ws, "d", 0000) == 0);
	CHECK(workspace_open(path, NULL, &ws, &err) == HUSK_E_SYSTEM);
	CHECK(err.sys_errno == EACCES);
	(void)snprintf(path, sizeof(path), "%s/ws", tree->base);
	/* The box has shut its own workspace: it is removed, and swept, all the same. */
	CHECK(workspace_open(NULL, path, &ws, NULL) == 0);
	CHECK(mkdirat(ws.fd, "x", 0000) == 0);
	CHECK(fchmod(ws.fd, 0000) == 0);
	CHECK(workspace_sweep(path) == 0);
	CHECK(exists(tree->ws, ws.name)); /* in use */
	CHECK(workspace_deinit(&ws, NULL) == 0);
	CHECK(!exists(tree->ws, ws.name));
	CHECK(mkdirat(tree->ws, "husk-ws-abcdefghijkl", 0000) == 0);
	CHECK(workspace_sweep(path) == 1);
	CHECK(!exists(tree->ws, "husk-ws-abcdefghijkl"));
}

static void modes_are_no_way_to_stay(void **state)
{
	struct place p = place_open();
	(void)state;

	in_child(a_mode_that_shuts_us_out, &p.tree);
	tree_close(&p.tree);
}

static void a_fork_lets_go_without_removing(void **state)
{
	struct place p = place_open();
	int status = -1;
	pid_t pid;
	(void)state;

	assert_int_equal(workspace_open(NULL, p.temp, &p.ws, NULL), 0);
	pid = fork();
	if (pid == 0)
		_exit(workspace_deinit(&p.ws, NULL) == 0 && p.ws.fd == -1 ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(exists(p.tree.ws, p.ws.name));
	assert_int_equal(workspace_sweep(p.temp), 0); /* still locked by this process */
	assert_true(exists(p.tree.ws, p.ws.name));
	assert_int_equal(workspace_deinit(&p.ws, NULL), 0);
	assert_int_equal(count_names(&p), 0);
	tree_close(&p.tree);
}

/* Another directory has taken the name: it is not ours to remove. */
static void a_swapped_workspace_is_not_mistaken(void **state)
{
	struct place p = place_open();
	char name[WORKSPACE_NAME_SIZE];
	(void)state;

	assert_int_equal(workspace_open(NULL, p.temp, &p.ws, NULL), 0);
	put(p.ws.fd, "f", "x");
	memcpy(name, p.ws.name, sizeof(name));
	assert_int_equal(renameat(p.tree.ws, name, p.tree.ws, "moved"), 0);
	make_dir(p.tree.ws, name);
	assert_int_equal(workspace_deinit(&p.ws, &p.err), HUSK_E_SYSTEM);
	assert_int_equal(p.err.sys_errno, ESTALE);
	assert_true(exists(p.tree.ws, name));
	assert_false(exists(p.tree.ws, "moved/f"));
	tree_close(&p.tree);
}

static void leaves_something(struct tree *tree)
{
	struct workspace ws;
	struct husk_error err = {0};
	char path[128], at[160];

	own_mounts();
	(void)snprintf(path, sizeof(path), "%s/ws", tree->base);
	CHECK(workspace_open(NULL, path, &ws, NULL) == 0);
	CHECK(mkdirat(ws.fd, "mount\npoint", 0755) == 0);
	(void)snprintf(at, sizeof(at), "%s/mount\npoint", ws.path);
	if (mount("none", at, "tmpfs", 0, "size=64k") < 0)
		_exit(77);
	CHECK(workspace_deinit(&ws, &err) == HUSK_E_SYSTEM);
	CHECK(err.sys_errno == EBUSY);
	CHECK(strstr(err.where, "husk-ws-"));
	CHECK(strstr(err.hint, "1 entries stay, the first is mount\\npoint"));
}

static void what_stays_is_reported(void **state)
{
	struct place p = place_open();
	(void)state;

	in_child(leaves_something, &p.tree);
	tree_close(&p.tree);
}

/* -- sweeping ---------------------------------------------------------------------------
 */

/* A process that makes a workspace, says so, and is killed. */
static void leave_behind(struct place *p)
{
	struct sample found;
	int said[2], status = -1;
	char byte = 0;
	pid_t pid;

	assert_int_equal(pipe2(said, O_CLOEXEC), 0);
	pid = fork_bound();
	if (pid == 0) {
		if (workspace_open(NULL, p->temp, &p->ws, NULL) < 0 ||
		    mkdirat(p->ws.fd, "d", 0755) < 0 ||
		    openat(p->ws.fd, "d/f", O_CREAT | O_WRONLY, 0644) < 0 ||
		    write(said[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			(void)pause();
	}
	(void)close(said[1]);
	assert_int_equal(read(said[0], &byte, 1), 1);
	(void)close(said[0]);
	assert_int_equal(count_names(p), 1);
	assert_false(workspace_look(p->temp, &found)); /* it lives */
	assert_int_equal(workspace_sweep(p->temp), 0);
	assert_int_equal(count_names(p), 1);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

static void leftovers_of_a_killed_process_are_swept(void **state)
{
	struct place p = place_open();
	struct sample found;
	(void)state;

	leave_behind(&p);
	assert_int_equal(count_names(&p), 1);
	assert_int_equal(workspace_open(NULL, p.temp, &p.ws, NULL), 0);
	assert_true(workspace_look(p.temp, &found));
	assert_int_equal(count_names(&p), 2); /* a look removes nothing */
	workspace_remove_found(p.temp, &found);
	assert_int_equal(workspace_sweep(p.temp), 0);
	assert_false(workspace_look(p.temp, &found));
	assert_int_equal(count_names(&p), 1); /* ours, which is in use */
	assert_true(exists(p.tree.ws, p.ws.name));
	assert_int_equal(workspace_deinit(&p.ws, NULL), 0);
	tree_close(&p.tree);
}

/* Whoever calls nothing does not wait for the first call. */
static void a_session_without_a_call_sweeps_at_its_end(void **state)
{
	struct place p = place_open();
	char path[4096];
	int status = -1;
	pid_t pid;
	(void)state;

	leave_behind(&p);
	assert_non_null(realpath(p.temp, path));
	pid = fork(); /* only the first session of a process sweeps */
	if (pid == 0) {
		husk_session *session = NULL;
		HUSK_OPTIONS(options);

		options.temp_dir = path;
		if (husk_session_open(&options, &session, NULL) < 0)
			_exit(1);
		husk_session_close(session);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(count_names(&p), 0);
	tree_close(&p.tree);
}

static void a_sweep_leaves_what_is_not_ours(void **state)
{
	static const char *const not_ours[] = {
	    "husk-ws-abc",	    "husk-ws-abcdefghijklm",  "husk-ws-ABCDEFGHIJKL",
	    "husk-ws-abcdefghijk9", "x-husk-ws-abcdefghijkl", "husk",
	};
	struct place p = place_open();
	struct canary canary = canary_look(&p.tree);
	size_t expected = sizeof(not_ours) / sizeof(not_ours[0]), theirs = 0;
	struct sample found;
	(void)state;

	for (size_t i = 0; i < expected; i++)
		make_dir(p.tree.ws, not_ours[i]);
	put(p.tree.ws, "husk-ws-aaaaaaaaaaaa", "a file");
	assert_int_equal(symlinkat("../K", p.tree.ws, "husk-ws-bbbbbbbbbbbb"), 0);
	assert_int_equal(mkfifoat(p.tree.ws, "husk-ws-cccccccccccc", 0600), 0);
	expected += 3;
	make_dir(p.tree.ws, "husk-ws-dddddddddddd");
	if (geteuid() == 0 &&
	    fchownat(p.tree.ws, "husk-ws-dddddddddddd", 64123, 64123, 0) == 0)
		theirs = 1; /* else it is a leftover of ours */
	expected += theirs;
	assert_int_equal(workspace_look(p.temp, &found), theirs == 0);
	assert_int_equal(workspace_sweep(p.temp), 1 - (int)theirs);
	assert_int_equal(count_names(&p), expected);
	assert_canary(&p.tree, &canary);
	tree_close(&p.tree);
}

/* Sweeps and opens at the same time: no live one is ever lost. */
static void opening_while_others_sweep_is_safe(void **state)
{
	struct place p = place_open();
	int status = -1;
	pid_t pid = fork_bound();
	(void)state;

	if (pid == 0) {
		for (;;)
			if (workspace_sweep(p.temp) < 0)
				_exit(1);
	}
	for (int i = 0; i < 2000; i++) {
		assert_int_equal(workspace_open(NULL, p.temp, &p.ws, NULL), 0);
		put(p.ws.fd, "f", "x");
		assert_true(exists(p.tree.ws, p.ws.name));
		assert_int_equal(workspace_deinit(&p.ws, &p.err), 0);
	}
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	tree_close(&p.tree);
}

int main(void)
{
	const struct CMUnitTest session_workspace[] = {
	    cmocka_unit_test(a_temporary_one_is_private_and_removed),
	    cmocka_unit_test(names_are_not_foreseen),
	    cmocka_unit_test(a_place_open_to_others_is_refused),
	    cmocka_unit_test(a_given_one_is_made_and_kept),
	    cmocka_unit_test(a_relative_path_is_taken_from_here),
	    cmocka_unit_test(what_cannot_be_a_workspace_is_refused),
	    cmocka_unit_test(modes_are_no_way_to_stay),
	    cmocka_unit_test(a_fork_lets_go_without_removing),
	    cmocka_unit_test(a_swapped_workspace_is_not_mistaken),
	    cmocka_unit_test(what_stays_is_reported),
	    cmocka_unit_test(leftovers_of_a_killed_process_are_swept),
	    cmocka_unit_test(a_session_without_a_call_sweeps_at_its_end),
	    cmocka_unit_test(a_sweep_leaves_what_is_not_ours),
	    cmocka_unit_test(opening_while_others_sweep_is_safe),
	};

	return cmocka_run_group_tests(session_workspace, NULL, NULL);
}
