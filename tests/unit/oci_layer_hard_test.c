/* SPDX-License-Identifier: Apache-2.0 */
/* Layers under hard circumstances: as an ordinary user, on a full disk, with few
 * descriptors, past bounds, stopped in the middle. */
#include "tests/unit/oci_layers.h"

#include <sys/resource.h>

#include "oci/bounds.h"
#include "oci/tar_frame.h"
#include "tests/unit/oci_packer.h"

static int try_text(struct layers *l, size_t size, const char *limit_name)
{
	struct buffer tape = TAPE_INIT;
	char *content = malloc(size + 1);
	int rc;

	CHECK(content);
	memset(content, 'x', size);
	content[size] = '\0';
	tape_file(&tape, limit_name, content);
	free(content);
	rc = layers_try(l, &tape);
	return rc;
}

/* -- an ordinary user --------------------------------------------------------------- */

static void lay_as_user(struct tree *tree)
{
	struct buffer lower = TAPE_INIT, upper = TAPE_INIT;
	struct layers l = {.root = -1};

	become_user(tree);
	l.tree = *tree;
	tape_dir(&lower, "none", 0000);
	tape_file(&lower, "none/f", "1");
	tape_dir(&lower, "ro", 0555);
	tape_file(&lower, "ro/f", "1");
	tape_add(&lower, "secret", '0', 0000, NULL, "x");
	tape_hard(&lower, "linked", "secret");
	tape_add(&lower, "null", '3', 0666, NULL, NULL);
	tape_add(&lower, "suid", '0', 04755, NULL, "x");
	CHECK(layers_try(&l, &lower) == 0);
	tape_file(&upper, "none/g", "2");
	tape_file(&upper, "ro/.wh.f", "");
	tape_hard(&upper, "lower", "suid");
	CHECK(layers_try(&l, &upper) == 0);
	CHECK(layers_try_lay(&l) == 0);
	CHECK((stat_of(l.root, "none").st_mode & 07777) == 0000);
	CHECK((stat_of(l.root, "ro").st_mode & 07777) == 0555);
	CHECK((stat_of(l.root, "suid").st_mode & 07777) == 0755);
	CHECK(stat_of(l.root, "secret").st_nlink == 4);
	CHECK(fchmodat(l.root, "none", 0700, 0) == 0);
	CHECK(exists(l.root, "none/f") && exists(l.root, "none/g"));
	CHECK(!exists(l.root, "ro/f") && exists(l.root, "lower"));
	CHECK(fchmodat(l.root, "none", 0000, 0) == 0);
	CHECK(tree_remove(tree->ws, "root") == 0 && tree_remove(tree->ws, "L0") == 0 &&
	      tree_remove(tree->ws, "L1") == 0);
}

static void an_ordinary_user_gets_all_modes(void **state)
{
	struct tree tree = tree_open();
	struct canary canary = canary_look(&tree);
	(void)state;

	in_child(lay_as_user, &tree);
	assert_canary(&tree, &canary);
	tree_close(&tree);
}

/* -- what the caller's process is like ---------------------------------------------- */

static void lay_with_umask(struct tree *tree)
{
	struct buffer tape = TAPE_INIT;
	struct layers l = {.root = -1, .tree = *tree};

	(void)umask(077);
	tape_dir(&tape, "d", 0777);
	tape_add(&tape, "d/f", '0', 0666, NULL, "x");
	tape_file(&tape, "e/f", "implied");
	CHECK(layers_try(&l, &tape) == 0);
	CHECK(layers_try_lay(&l) == 0);
	CHECK((stat_of(l.root, "d").st_mode & 07777) == 0777);
	CHECK((stat_of(l.root, "d/f").st_mode & 07777) == 0666);
	CHECK((stat_of(l.root, "e").st_mode & 07777) == 0755);
	CHECK(umask(0) == 077); /* it is still the caller's */
}

static void the_umask_does_not_matter(void **state)
{
	struct tree tree = tree_open();
	(void)state;

	in_child(lay_with_umask, &tree);
	tree_close(&tree);
}

static void lay_with_few_descriptors(struct tree *tree)
{
	struct rlimit limit = {20, 20};
	struct buffer tape = TAPE_INIT;
	struct layers l = {.root = -1, .tree = *tree};
	char name[64];

	for (int i = 0; i < 100; i++) {
		(void)snprintf(name, sizeof(name), "d%d/e%d/f", i, i);
		tape_file(&tape, name, "x");
	}
	tape_end(&tape);
	/* Libraries are loaded. */
	CHECK(layers_unpack(&l, tape.data, 1024, 0, COMPRESSION_NONE) == 0);
	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	CHECK(layers_unpack(&l, tape.data, tape.size, 0, COMPRESSION_NONE) == 0);
	CHECK(layers_try_lay(&l) == 0);
	CHECK(exists(l.root, "d99/e99/f"));
}

static void few_descriptors_are_enough(void **state)
{
	struct tree tree = tree_open();
	(void)state;

	in_child(lay_with_few_descriptors, &tree);
	tree_close(&tree);
}

static void write_past_the_limit(struct tree *tree)
{
	struct rlimit limit = {4096, 4096};
	struct layers l = {.root = -1, .tree = *tree};

	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	CHECK(try_text(&l, 4096, "fits") == 0);
	CHECK(try_text(&l, 4097, "does-not") == HUSK_E_SYSTEM);
	CHECK(l.err.sys_errno == EFBIG && strstr(l.err.message, "does-not"));
}

/* Running into the limit would kill the caller. */
static void the_file_size_limit_is_an_error(void **state)
{
	struct tree tree = tree_open();
	(void)state;

	in_child(write_past_the_limit, &tree);
	tree_close(&tree);
}

static void fill_the_disk(struct tree *tree)
{
	struct layers l = {.root = -1};
	char path[96];

	own_mounts();
	(void)snprintf(path, sizeof(path), "%s/ws", tree->base);
	if (mount("none", path, "tmpfs", 0, "size=256k,nr_inodes=64") < 0)
		_exit(77);
	l.tree = *tree;
	l.tree.ws = open_dir(AT_FDCWD, path); /* the mount, not what is below it */
	CHECK(try_text(&l, 1 << 20, "large") == HUSK_E_SYSTEM);
	CHECK(l.err.sys_errno == ENOSPC && strstr(l.err.message, "large"));
	CHECK(tree_remove(l.tree.ws, "L0") == 0);
	CHECK(try_text(&l, 1 << 10, "small") == 0);
}

static void a_full_disk_is_an_error(void **state)
{
	struct tree tree = tree_open();
	(void)state;

	in_child(fill_the_disk, &tree);
	tree_close(&tree);
}

/* -- bounds ------------------------------------------------------------------------- */

/* An entry 512 bytes long, without end. */
struct endless {
	char block[512];
	uint64_t left;
};

static ssize_t endless_read(void *user, void *data, size_t size, struct husk_error *err)
{
	struct endless *endless = user;
	size_t n = 0;

	(void)err;
	while (n + 512 <= size && endless->left > 0) {
		memcpy((char *)data + n, endless->block, 512);
		n += 512;
		endless->left--;
	}
	return (ssize_t)n;
}

static int unpack_endless(struct layers *l, const char *name, char type, uint64_t count,
			  int (*on_progress)(void *user, uint64_t bytes))
{
	struct endless endless = {.left = count};
	struct layer_input input = {endless_read, &endless, COMPRESSION_NONE, "the layer",
				    on_progress};
	struct buffer tape = TAPE_INIT;
	char directory[16];

	tape_add(&tape, name, type, 0755, NULL, NULL);
	memcpy(endless.block, tape.data, 512);
	buffer_deinit(&tape);
	(void)snprintf(directory, sizeof(directory), "L%d", l->count);
	make_dir(l->tree.ws, directory);
	l->fds[l->count] = open_dir(l->tree.ws, directory);
	return layer_unpack(l->fds[l->count++], &input, &l->summary, &l->err);
}

static void entries_are_counted(void **state)
{
	struct buffer tape = TAPE_INIT;
	struct tar_frame frame;
	struct husk_error err;
	(void)state;

	tape_file(&tape, "f", "1");
	tar_frame_init(&frame, "the layer");
	frame.count = OCI_MAX_ENTRIES - 1;
	assert_int_equal(tar_frame_feed(&frame, tape.data, tape.size, &err), 0);
	assert_int_equal(tar_frame_feed(&frame, tape.data, tape.size, &err),
			 HUSK_E_TOO_BIG);
	assert_non_null(strstr(err.message, "OCI_MAX_ENTRIES"));
	tar_frame_deinit(&frame);
	buffer_deinit(&tape);
}

/* The same name again and again takes no longer each time. */
static void one_name_many_times(void **state)
{
	struct layers l;
	(void)state;

	layers_open_in(&l, access("/dev/shm", W_OK) == 0 ? "/dev/shm" : P_tmpdir);
	assert_int_equal(unpack_endless(&l, "a/b", '0', 20000, NULL), 0);
	assert_int_equal(l.summary.entries, 20000);
	assert_int_equal(unpack_endless(&l, ".wh.a", '0', 20000, NULL), 0);
	assert_true(stat_of(l.fds[1], "notes").st_size < 100);
	layers_close(&l);
}

static int stop_at_once(void *user, uint64_t bytes)
{
	(void)user;
	return bytes > 0;
}

static void it_can_be_stopped(void **state)
{
	struct layers l;
	(void)state;

	layers_open(&l);
	assert_int_equal(unpack_endless(&l, ".", '5', 1000000, stop_at_once),
			 HUSK_E_CANCELLED);
	layers_close(&l);
}

static ssize_t gone(void *user, void *data, size_t size, struct husk_error *err)
{
	(void)user;
	(void)data;
	(void)size;
	return error_set(err, HUSK_E_REGISTRY, "registry", "has hung up");
}

static void the_reason_of_the_source_is_kept(void **state)
{
	struct layer_input input = {gone, NULL, COMPRESSION_GZIP, "the layer", NULL};
	struct layers l;
	(void)state;

	layers_open(&l);
	make_dir(l.tree.ws, "L0");
	l.fds[l.count++] = open_dir(l.tree.ws, "L0");
	assert_int_equal(layer_unpack(l.fds[0], &input, &l.summary, &l.err),
			 HUSK_E_REGISTRY);
	assert_string_equal(l.err.message, "has hung up");
	layers_close(&l);
}

static void a_packed_layer_that_is_cut(void **state)
{
	struct buffer tape = TAPE_INIT, packed = TAPE_INIT;
	struct layers l;
	(void)state;

	layers_open(&l);
	tape_file(&tape, "a", "content");
	tape_end(&tape);
	pack_gzip(&packed, tape.data, tape.size);
	assert_int_equal(layers_unpack(&l, packed.data, packed.size, 7, COMPRESSION_GZIP),
			 0);
	assert_text(l.fds[0], "tree/a", "content");
	assert_int_equal(
	    layers_unpack(&l, packed.data, packed.size - 3, 0, COMPRESSION_GZIP),
	    HUSK_E_IMAGE);
	assert_non_null(strstr(l.err.message, "truncated"));
	buffer_deinit(&tape);
	buffer_deinit(&packed);
	layers_close(&l);
}

static void directories_that_hold_many_entries(void **state)
{
	struct buffer tape = TAPE_INIT;
	char name[32];
	struct layers l;
	(void)state;

	layers_open_in(&l, access("/dev/shm", W_OK) == 0 ? "/dev/shm" : P_tmpdir);
	for (int i = 0; i < 20000; i++) {
		(void)snprintf(name, sizeof(name), "d/%d", i);
		if (i % 10)
			tape_hard(&tape, name, "d/0");
		else
			tape_file(&tape, name, "x");
	}
	layers_add(&l, &tape);
	layers_lay(&l);
	assert_int_equal(stat_of(l.root, "d/0").st_nlink, 2 * 18001);
	layers_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_ordinary_user_gets_all_modes),
	    cmocka_unit_test(the_umask_does_not_matter),
	    cmocka_unit_test(few_descriptors_are_enough),
	    cmocka_unit_test(the_file_size_limit_is_an_error),
	    cmocka_unit_test(a_full_disk_is_an_error),
	    cmocka_unit_test(entries_are_counted),
	    cmocka_unit_test(one_name_many_times),
	    cmocka_unit_test(it_can_be_stopped),
	    cmocka_unit_test(the_reason_of_the_source_is_kept),
	    cmocka_unit_test(a_packed_layer_that_is_cut),
	    cmocka_unit_test(directories_that_hold_many_entries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
