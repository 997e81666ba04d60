/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a setup that need no box: its command, what is kept of it, and copying
 * that over a workspace that somebody has prepared. */
#include "base/fd.h"
#include "session/deps.h"
#include "session/setup_cache.h"
#include "session/setup_command.h"
#include "session/setup_evict.h"
#include "session/tree.h"

#include "tests/unit/session_tree.h"

#include <husk/setup.h>

#include <sys/file.h>

/* -- the command ------------------------------------------------------------------------
 */

#define ROUTED                                                             \
	"python3 -m pip install --target /workspace/.deps --no-cache-dir " \
	"--disable-pip-version-check "

static void pip_is_routed(void **state)
{
	/* plain: what it reads is named by its words; joined by "|" here. */
	static const struct {
		const char *command, *text, *words;
	} rows[] = {
	    {"pip install pandas", ROUTED "pandas", "pandas|"},
	    {"  pip3 install  -r  req.txt ", ROUTED " -r  req.txt ", "-r|req.txt|"},
	    {"python3 -m pip install 'a b' \"c>=1\"", ROUTED "'a b' \"c>=1\"",
	     "a b|c>=1|"},
	    {"pip install a'b'c ''", ROUTED "a'b'c ''", "abc||"},
	    {"pip install x && touch y", ROUTED "x && touch y", NULL},
	    {"pip install $X", ROUTED "$X", NULL},
	    {"pip install \"$X\"", ROUTED "\"$X\"", NULL},
	    {"pip install *.whl", ROUTED "*.whl", NULL},
	    {"pip install 'x", ROUTED "'x", NULL},
	    {"pip install '$X'", ROUTED "'$X'", "$X|"},
	    {"pip install", "pip install", NULL},
	    {"pip download x", "pip download x", NULL},
	    {"sh install.sh", "sh install.sh", NULL},
	    {"echo; pip install x", "echo; pip install x", NULL},
	};
	(void)state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct setup_command command;

		assert_int_equal(setup_command_init(rows[i].command, &command), 0);
		assert_string_equal(command.text, rows[i].text);
		assert_int_equal(command.plain_pip, rows[i].words != NULL);
		if (rows[i].words) {
			for (size_t at = 0; at < command.words.size; at++)
				if (command.words.data[at] == '\0')
					command.words.data[at] = '|';
			assert_string_equal(command.words.data, rows[i].words);
		}
		setup_command_deinit(&command);
	}
}

static void variables_route_any_other_pip(void **state)
{
	char a[] = "A=1", target[] = "PIP_TARGET=/mine";
	char *const env[] = {a, target, NULL};
	const char **all = setup_command_env(env);
	size_t count = 0, targets = 0;
	(void)state;

	assert_non_null(all);
	for (; all[count]; count++)
		targets += strncmp(all[count], "PIP_TARGET=", 11) == 0;
	assert_string_equal(all[0], "A=1");
	assert_string_equal(all[1], "PIP_TARGET=/mine");
	assert_int_equal(targets, 1); /* what the caller says holds */
	assert_true(count > 3);
	free(all);
}

/* -- trees ------------------------------------------------------------------------------
 */

struct seen {
	char text[512];
};

static int note(void *user, enum tree_step step, const struct tree_entry *entry)
{
	static const char letters[] = {[TREE_ENTER] = 'd',
				       [TREE_LEAVE] = 'u',
				       [TREE_FILE] = 'f',
				       [TREE_LINK] = 'l',
				       [TREE_OTHER] = 'o'};
	struct seen *seen = user;
	size_t used = strlen(seen->text);

	(void)snprintf(seen->text + used, sizeof(seen->text) - used, "%c:%s ",
		       letters[step], entry->path);
	return 0;
}

static int pass(void *user, enum tree_step step, const struct tree_entry *entry)
{
	(void)user;
	(void)step;
	(void)entry;
	return 0;
}

static void a_tree_is_visited_in_order(void **state)
{
	struct tree tree = tree_open();
	struct seen seen = {""};
	int chain;
	(void)state;

	put(tree.ws, "b", "");
	make_dir(tree.ws, "a");
	put(tree.ws, "a/y", "");
	put(tree.ws, "a/x", "");
	make_dir(tree.ws, "skipped");
	make_dir(tree.ws, "a/skipped");
	assert_int_equal(symlinkat("../K", tree.ws, "c"), 0);
	assert_int_equal(mkfifoat(tree.ws, "d", 0600), 0);
	assert_int_equal(tree_each(tree.ws, "skipped", note, &seen), 0);
	assert_string_equal(seen.text, "d:a d:a/skipped u:a/skipped f:a/x f:a/y u:a f:b "
				       "l:c o:d ");
	chain = make_chain(tree.ws, "n", TREE_DEPTH_MAX);
	assert_int_equal(tree_each(tree.ws, NULL, pass, NULL), 0);
	make_dir(chain, "n");
	assert_int_equal(tree_each(tree.ws, NULL, pass, NULL), -E2BIG);
	(void)close(chain);
	tree_close(&tree);
}

static void a_copy_follows_no_link_of_the_target(void **state)
{
	struct tree tree = tree_open();
	struct canary canary = canary_look(&tree);
	struct stat from, to;
	char text[8] = "";
	int src;
	(void)state;

	make_dir(tree.base_fd, "src");
	src = open_dir(tree.base_fd, "src");
	make_dir(src, "sub");
	put(src, "sub/deep", "new");
	put(src, "secret", "new");
	put(src, "f", "new");
	make_dir(src, "was-file");
	put(src, "was-file/x", "new");
	put(src, "was-dir", "new");
	assert_int_equal(symlinkat("sub/deep", src, "link"), 0);
	assert_int_equal(fchmodat(src, "f", 04755, 0), 0);
	/* What a box has laid out: links to the outside under the same names. */
	assert_int_equal(symlinkat("../K/sub", tree.ws, "sub"), 0);
	assert_int_equal(symlinkat("../K/secret", tree.ws, "secret"), 0);
	assert_int_equal(symlinkat("../K/f", tree.ws, "f"), 0);
	assert_int_equal(symlinkat("../K/f", tree.ws, "link"), 0);
	put(tree.ws, "was-file", "old");
	make_dir(tree.ws, "was-dir");
	put(tree.ws, "kept", "old");
	assert_int_equal(deps_copy(src, tree.ws), 0);
	assert_canary(&tree, &canary);
	assert_true(exists(tree.ws, "sub/deep"));
	assert_true(exists(tree.ws, "was-file/x"));
	assert_true(exists(tree.ws, "kept"));
	assert_int_equal(readlinkat(tree.ws, "link", text, sizeof(text)), 8);
	assert_memory_equal(text, "sub/deep", 8);
	assert_int_equal(fstatat(src, "f", &from, AT_SYMLINK_NOFOLLOW), 0);
	assert_int_equal(fstatat(tree.ws, "f", &to, AT_SYMLINK_NOFOLLOW), 0);
	assert_true(S_ISREG(to.st_mode));
	assert_int_equal(to.st_mode & 07777, 0755);
	assert_int_equal(to.st_size, 3);
	assert_int_equal(to.st_mtim.tv_sec, from.st_mtim.tv_sec);
	assert_int_equal(to.st_mtim.tv_nsec, from.st_mtim.tv_nsec);
	/* A directory with something in it is not removed for a file. */
	put(src, "sub2", "new");
	make_dir(tree.ws, "sub2");
	put(tree.ws, "sub2/x", "old");
	assert_int_equal(deps_copy(src, tree.ws), -ENOTEMPTY);
	(void)close(src);
	tree_close(&tree);
}

/* A terabyte that takes no room: the copy takes none either, and its parts stand where
 * they stood. */
static void a_copy_keeps_holes(void **state)
{
	const off_t size = (off_t)1 << 40, middle = size / 2 + 12345;
	struct tree tree = tree_open();
	struct stat st;
	char text[8] = "";
	int src, fd;
	(void)state;

	make_dir(tree.base_fd, "src");
	src = open_dir(tree.base_fd, "src");
	fd = openat(src, "big", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, "begin", 5, 0), 5);
	assert_int_equal(pwrite(fd, "middle", 6, middle), 6);
	assert_int_equal(ftruncate(fd, size), 0);
	(void)close(fd);
	fd = openat(src, "hole", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, size), 0);
	(void)close(fd);
	assert_int_equal(deps_copy(src, tree.ws), 0);
	fd = openat(tree.ws, "big", O_RDONLY | O_CLOEXEC);
	assert_int_equal(fstat(fd, &st), 0);
	assert_true(st.st_size == size && st.st_blocks < 4096);
	assert_int_equal(pread(fd, text, 5, 0), 5);
	assert_memory_equal(text, "begin", 5);
	assert_int_equal(pread(fd, text, 8, middle - 1), 8);
	assert_memory_equal(text, "\0middle\0", 8);
	(void)close(fd);
	assert_int_equal(fstatat(tree.ws, "hole", &st, 0), 0);
	assert_true(st.st_size == size && st.st_blocks == 0);
	(void)close(src);
	tree_close(&tree);
}

static void deps_is_a_directory_or_refused(void **state)
{
	struct tree tree = tree_open();
	struct canary canary = canary_look(&tree);
	struct husk_error err = {0};
	int fd = -1;
	(void)state;

	assert_int_equal(symlinkat("../K", tree.ws, ".deps"), 0);
	assert_int_equal(deps_open(tree.ws, &fd, &err), HUSK_E_PATH);
	assert_int_equal(unlinkat(tree.ws, ".deps", 0), 0);
	put(tree.ws, ".deps", "");
	assert_int_equal(deps_open(tree.ws, &fd, &err), HUSK_E_PATH);
	assert_int_equal(unlinkat(tree.ws, ".deps", 0), 0);
	assert_int_equal(deps_open(tree.ws, &fd, &err), 0);
	assert_int_equal(deps_is_empty(fd), 1);
	put(fd, "x", "");
	assert_int_equal(deps_is_empty(fd), 0);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	(void)close(fd);
	assert_canary(&tree, &canary);
	tree_close(&tree);
}

/* -- what is kept -----------------------------------------------------------------------
 */

struct place {
	struct tree tree;
	char dir[96];
	struct setup_cache cache;
	struct husk_error err;
};

static struct place place_open(uint64_t max)
{
	struct place p = {.tree = tree_open(), .cache = SETUP_CACHE_INIT};

	(void)snprintf(p.dir, sizeof(p.dir), "%s/made/cache", p.tree.base);
	assert_int_equal(setup_cache_open(p.dir, max, &p.cache, &p.err), 0);
	assert_true(p.cache.fd >= 0);
	return p;
}

static void place_close(struct place *p)
{
	setup_cache_close(&p->cache);
	tree_close(&p->tree);
}

static const char *key(char digit)
{
	static char text[SETUP_KEY_SIZE];

	memset(text, digit, SETUP_KEY_SIZE - 1);
	return text;
}

/* A tree with one file, kept under a key of this digit; last used `age` seconds ago. */
static int publish(struct place *p, char digit, uint64_t bytes, int age)
{
	struct setup_stage stage = SETUP_STAGE_INIT;
	struct setup_entry entry = SETUP_ENTRY_INIT;
	struct timespec times[2];
	uint64_t sealed = 0;
	int r;

	assert_int_equal(setup_stage_new(&p->cache, &stage), 0);
	put(stage.deps, "file", "content");
	assert_int_equal(setup_stage_seal(&stage, &sealed), 0);
	assert_true(sealed >= 4096);
	r = setup_cache_publish(&p->cache, key(digit), bytes, &stage, &entry);
	if (r == 1) {
		assert_int_equal(clock_gettime(CLOCK_REALTIME, &times[0]), 0);
		times[0].tv_sec -= age;
		times[1] = times[0];
		assert_int_equal(futimens(entry.fd, times), 0);
	}
	setup_entry_deinit(&entry);
	setup_stage_remove(&p->cache, &stage);
	return r;
}

static bool is_kept(const struct place *p, char digit)
{
	return exists(p->cache.fd, key(digit));
}

static void a_tree_is_found_again(void **state)
{
	struct place p = place_open(1 << 20);
	struct setup_entry entry = SETUP_ENTRY_INIT;
	struct stat st;
	(void)state;

	assert_int_equal(setup_cache_find(&p.cache, key('a'), &entry), 0);
	assert_int_equal(publish(&p, 'a', 5000, 100), 1);
	assert_int_equal(setup_cache_find(&p.cache, key('a'), &entry), 1);
	assert_true(exists(entry.deps, "file"));
	assert_int_equal(fstat(entry.fd, &st), 0);
	assert_true(time(NULL) - st.st_mtim.tv_sec < 60); /* used now */
	assert_int_equal(st.st_mode & 07777, 0700);
	setup_entry_deinit(&entry);
	assert_int_equal(setup_cache_find(&p.cache, key('b'), &entry), 0);
	place_close(&p);
}

static void the_least_recently_used_goes_first(void **state)
{
	struct place p = place_open(10000);
	struct setup_entry used = SETUP_ENTRY_INIT;
	(void)state;

	assert_int_equal(publish(&p, 'a', 4000, 300), 1);
	assert_int_equal(publish(&p, 'b', 4000, 200), 1);
	assert_true(is_kept(&p, 'a') && is_kept(&p, 'b'));
	assert_int_equal(publish(&p, 'c', 4000, 100), 1);
	assert_false(is_kept(&p, 'a'));
	assert_true(is_kept(&p, 'b') && is_kept(&p, 'c'));
	/* One that a session shows to its boxes stays, whatever its age. */
	assert_int_equal(setup_cache_find(&p.cache, key('b'), &used), 1);
	{
		const struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};

		assert_int_equal(futimens(used.fd, old), 0);
	}
	assert_int_equal(publish(&p, 'd', 4000, 0), 1);
	assert_true(is_kept(&p, 'b') && is_kept(&p, 'd'));
	assert_false(is_kept(&p, 'c'));
	setup_entry_deinit(&used);
	/* What is larger than the whole cache is not kept, and drives nothing out. */
	assert_int_equal(publish(&p, 'e', 10001, 0), 0);
	assert_true(is_kept(&p, 'b') && is_kept(&p, 'd') && !is_kept(&p, 'e'));
	place_close(&p);
}

static void pruning_leaves_what_is_in_use(void **state)
{
	struct place p = place_open(10000);
	struct setup_entry used = SETUP_ENTRY_INIT;
	uint64_t trees = 7, bytes = 7;
	(void)state;

	assert_int_equal(publish(&p, 'a', 4000, 300), 1);
	assert_int_equal(publish(&p, 'b', 4000, 200), 1);
	assert_int_equal(setup_cache_find(&p.cache, key('a'), &used), 1);
	p.cache.max = 0;
	{
		struct setup_evicted gone = setup_evict(&p.cache, "");

		assert_int_equal(gone.trees, 1);
		assert_int_equal(gone.bytes, 4000);
	}
	assert_true(is_kept(&p, 'a') && !is_kept(&p, 'b'));
	setup_entry_deinit(&used);
	assert_int_equal(husk_setup_prune("relative", 0, NULL, NULL, NULL),
			 HUSK_E_INVALID);
	assert_int_equal(husk_setup_prune(NULL, 0, NULL, NULL, NULL), HUSK_E_INVALID);
	assert_int_equal(husk_setup_prune("/no/such/place", 0, &trees, &bytes, NULL), 0);
	assert_int_equal(trees, 0);
	assert_int_equal(bytes, 0);
	place_close(&p);
}

static void one_at_a_time_makes_a_tree(void **state)
{
	struct place p = place_open(1 << 20);
	int lock = setup_cache_try_lock(&p.cache, key('a')), other;
	(void)state;

	assert_true(lock >= 0);
	assert_int_equal(setup_cache_try_lock(&p.cache, key('a')), -EWOULDBLOCK);
	other = setup_cache_try_lock(&p.cache, key('b'));
	assert_true(other >= 0);
	setup_cache_unlock(&p.cache, key('a'), &lock);
	lock = setup_cache_try_lock(&p.cache, key('a'));
	assert_true(lock >= 0);
	setup_cache_unlock(&p.cache, key('a'), &lock);
	setup_cache_unlock(&p.cache, key('b'), &other);
	assert_false(exists(p.cache.fd, "a.lock"));
	place_close(&p);
}

static void what_dead_makers_left_is_swept(void **state)
{
	struct place p = place_open(1 << 20);
	struct setup_stage stage = SETUP_STAGE_INIT;
	int lock = setup_cache_try_lock(&p.cache, key('a'));
	char dead[SETUP_KEY_SIZE + 8];
	(void)state;

	assert_true(lock >= 0);
	assert_int_equal(publish(&p, 'c', 4000, 100), 1);
	(void)snprintf(dead, sizeof(dead), "%s.lock", key('b'));
	put(p.cache.fd, dead, "");
	put(p.cache.fd, "other.lock", "");
	assert_int_equal(setup_stage_new(&p.cache, &stage), 0);
	fd_close(&stage.deps);
	fd_close(&stage.fd); /* and with it the lock */
	assert_int_equal(husk_setup_prune(p.dir, UINT64_MAX, NULL, NULL, NULL), 0);
	assert_false(exists(p.cache.fd, dead));
	assert_false(exists(p.cache.fd, stage.name));
	assert_true(exists(p.cache.fd, "other.lock"));
	assert_true(is_kept(&p, 'c'));
	assert_int_equal(setup_cache_try_lock(&p.cache, key('a')), -EWOULDBLOCK);
	setup_cache_unlock(&p.cache, key('a'), &lock);
	place_close(&p);
}

static void a_stage_becomes_plain(void **state)
{
	struct place p = place_open(1 << 20);
	struct setup_stage stage = SETUP_STAGE_INIT;
	uint64_t bytes;
	struct stat st;
	(void)state;

	assert_int_equal(setup_stage_new(&p.cache, &stage), 0);
	put(stage.deps, "closed", "x");
	assert_int_equal(fchmodat(stage.deps, "closed", 0, 0), 0);
	put(stage.deps, "setid", "x");
	assert_int_equal(fchmodat(stage.deps, "setid", 06777, 0), 0);
	make_dir(stage.deps, "dir");
	put(stage.deps, "dir/x", "x");
	assert_int_equal(fchmodat(stage.deps, "dir", 0, 0), 0);
	assert_int_equal(mkfifoat(stage.deps, "pipe", 0600), 0);
	make_socket(stage.deps, "socket");
	assert_int_equal(fchmod(stage.deps, 0), 0);
	assert_int_equal(setup_stage_seal(&stage, &bytes), 0);
	assert_int_equal(fstatat(stage.deps, "closed", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	assert_int_equal(fstatat(stage.deps, "setid", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_int_equal(fstatat(stage.deps, "dir", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_true(exists(stage.deps, "dir/x"));
	assert_false(exists(stage.deps, "pipe"));
	assert_false(exists(stage.deps, "socket"));
	setup_stage_remove(&p.cache, &stage);
	place_close(&p);
}

static void a_cache_that_others_may_write_to_is_refused(void **state)
{
	struct place p = place_open(1 << 20);
	struct setup_cache second = SETUP_CACHE_INIT;
	(void)state;

	assert_int_equal(fchmod(p.cache.fd, 0720), 0);
	assert_int_equal(setup_cache_open(p.dir, 1, &second, &p.err), HUSK_E_INVALID);
	assert_int_equal(second.fd, -1);
	assert_true(p.err.hint[0] != '\0');
	assert_int_equal(fchmod(p.cache.fd, 0700), 0);
	/* Where there can be none, sessions do without. */
	assert_int_equal(setup_cache_open("/proc/none", 1, &second, &p.err), 0);
	assert_int_equal(second.fd, -1);
	place_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(pip_is_routed),
	    cmocka_unit_test(variables_route_any_other_pip),
	    cmocka_unit_test(a_tree_is_visited_in_order),
	    cmocka_unit_test(a_copy_follows_no_link_of_the_target),
	    cmocka_unit_test(a_copy_keeps_holes),
	    cmocka_unit_test(deps_is_a_directory_or_refused),
	    cmocka_unit_test(a_tree_is_found_again),
	    cmocka_unit_test(the_least_recently_used_goes_first),
	    cmocka_unit_test(pruning_leaves_what_is_in_use),
	    cmocka_unit_test(one_at_a_time_makes_a_tree),
	    cmocka_unit_test(what_dead_makers_left_is_swept),
	    cmocka_unit_test(a_stage_becomes_plain),
	    cmocka_unit_test(a_cache_that_others_may_write_to_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
