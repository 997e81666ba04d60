/* SPDX-License-Identifier: Apache-2.0 */
/* What entries become: types, modes, times, links, duplicates, sparse files, attributes.
 */
#include "tests/unit/oci_layers.h"
#include "tests/unit/skipping.h"

#include <sys/xattr.h>

static void modes_and_times_are_kept_and_set_ids_are_not(void **state)
{
	static const struct {
		const char *name;
		unsigned mode;
		mode_t want;
	} rows[] = {{"plain", 0644, 0644},    {"none", 0000, 0000},
		    {"suid", 04755, 0755},    {"sgid", 02755, 0755},
		    {"sticky", 01644, 01644}, {"all", 07777, 01777},
		    {"group", 0664, 0664}};
	struct buffer tape = TAPE_INIT;
	struct layers l;
	(void)state;

	layers_open(&l);
	tape_dir(&tape, "tmp", 01777);
	tape_dir(&tape, "sgid-dir", 02775);
	tape_dir(&tape, "none-dir", 0000);
	tape_file(&tape, "none-dir/f", "1");
	tape_dir(&tape, "ro", 0444);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		tape_add(&tape, rows[i].name, '0', rows[i].mode, NULL, "x");
	layers_add(&l, &tape);
	layers_lay(&l);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_mode(l.root, rows[i].name, S_IFREG | rows[i].want);
		assert_int_equal(stat_of(l.root, rows[i].name).st_mtim.tv_sec,
				 TAPE_MTIME);
		assert_int_equal(stat_of(l.root, rows[i].name).st_uid, geteuid());
	}
	assert_mode(l.root, "tmp", S_IFDIR | 01777);
	assert_mode(l.root, "sgid-dir", S_IFDIR | 0775);
	assert_mode(l.root, "none-dir", S_IFDIR | 0000);
	assert_mode(l.root, "ro", S_IFDIR | 0444);
	layers_close(&l);
}

/* A directory's own metadata is not disturbed by what comes into it later. */
static void directories_keep_what_their_entry_said(void **state)
{
	struct buffer tape = TAPE_INIT;
	struct layers l;
	(void)state;

	layers_open(&l);
	tape_dir(&tape, "usr", 0555);
	tape_file(&tape, "usr/x", "written");
	tape_dir(&tape, "usr/lib", 0500);
	tape_link(&tape, "usr/lib/l", "x");
	layers_add(&l, &tape);
	layers_lay(&l);
	assert_text(l.root, "usr/x", "written");
	assert_mode(l.root, "usr", S_IFDIR | 0555);
	assert_mode(l.root, "usr/lib", S_IFDIR | 0500);
	assert_int_equal(stat_of(l.root, "usr").st_mtim.tv_sec, TAPE_MTIME);
	assert_int_equal(stat_of(l.root, "usr/lib").st_mtim.tv_sec, TAPE_MTIME);
	assert_int_equal(stat_of(l.root, "usr/lib/l").st_mtim.tv_sec, TAPE_MTIME);
	layers_close(&l);
}

static void the_last_of_one_name_wins(void **state)
{
	struct buffer tape = TAPE_INIT;
	struct layers l;
	(void)state;

	layers_open(&l);
	tape_file(&tape, "a", "one");
	tape_file(&tape, "a", "two");
	tape_dir(&tape, "d", 0755);
	tape_dir(&tape, "d", 0700);
	tape_dir(&tape, "x", 0755);
	tape_file(&tape, "x/inside", "1");
	tape_file(&tape, "x", "a file now");
	tape_file(&tape, "f", "1");
	tape_file(&tape, "f/b", "its parent is no file");
	tape_link(&tape, "l", "a");
	tape_file(&tape, "l", "no link");
	tape_link(&tape, "m", "a");
	tape_dir(&tape, "m", 0755);
	tape_file(&tape, "m/n", "1");
	tape_file(&tape, "p", "1");
	tape_add(&tape, "p", '6', 0640, NULL, NULL);
	tape_file(&tape, "null", "1");
	tape_add(&tape, "null", '3', 0666, NULL, NULL);
	layers_add(&l, &tape);
	layers_lay(&l);
	assert_text(l.root, "a", "two");
	assert_mode(l.root, "d", S_IFDIR | 0700);
	assert_text(l.root, "x", "a file now");
	assert_text(l.root, "f/b", "its parent is no file");
	assert_text(l.root, "l", "no link");
	assert_dir(l.root, "m");
	assert_text(l.root, "m/n", "1");
	assert_mode(l.root, "p", S_IFIFO | 0640);
	assert_gone(l.root, "null");
	layers_close(&l);
}

static void hard_links_inside_a_layer(void **state)
{
	struct buffer tape = TAPE_INIT;
	struct layers l;
	(void)state;

	layers_open(&l);
	tape_file(&tape, "d/a", "one");
	tape_hard(&tape, "b", "d/a");
	tape_hard(&tape, "c", "./d//a");
	tape_hard(&tape, "e", "/b");
	tape_link(&tape, "x", "nowhere");
	tape_hard(&tape, "y", "x");
	tape_link(&tape, "w", "d");
	tape_hard(&tape, "through", "w/a");
	tape_hard(&tape, "d/a", "d/a");
	/* Written anew: the others stay what they are. */
	tape_hard(&tape, "g", "d/a");
	tape_file(&tape, "g", "two");
	layers_add(&l, &tape);
	layers_lay(&l);
	assert_same_file(l.root, "d/a", "b");
	assert_same_file(l.root, "d/a", "c");
	assert_same_file(l.root, "d/a", "e");
	assert_same_file(l.root, "d/a", "through");
	assert_text(l.root, "d/a", "one");
	assert_text(l.root, "g", "two");
	assert_target(l.root, "y", "nowhere");
	assert_same_file(l.root, "x", "y");
	layers_close(&l);
}

static void hard_links_to_what_cannot_be_linked(void **state)
{
	struct buffer out = TAPE_INIT, dir = TAPE_INIT, none = TAPE_INIT,
		      late = TAPE_INIT;
	struct buffer absolute = TAPE_INIT, below = TAPE_INIT;
	char path[128];
	struct layers l;
	(void)state;

	layers_open(&l);
	tape_hard(&out, "a", "../../K/secret");
	layers_refuse(&l, &out, HUSK_E_IMAGE, "..");
	tape_dir(&dir, "d", 0755);
	tape_hard(&dir, "a", "d");
	layers_refuse(&l, &dir, HUSK_E_IMAGE, "directory");
	tape_file(&below, "d/e/f", "x");
	tape_hard(&below, "d", "d/e/f");
	layers_refuse(&l, &below, HUSK_E_IMAGE, "below itself");
	layers_close(&l);

	layers_open(&l);
	tape_hard(&none, "a", "nowhere");
	layers_add(&l, &none);
	assert_int_equal(layers_try_lay(&l), HUSK_E_IMAGE);
	assert_non_null(strstr(l.err.message, "nowhere"));
	layers_close(&l);

	layers_open(&l);
	tape_hard(&late, "a", "b");
	tape_file(&late, "b", "comes too late");
	layers_add(&l, &late);
	assert_int_equal(layers_try_lay(&l), HUSK_E_IMAGE);
	layers_close(&l);

	layers_open(&l);
	(void)snprintf(path, sizeof(path), "%s/secret", l.k);
	tape_hard(&absolute, "a", path);
	layers_add(&l, &absolute);
	assert_int_equal(layers_try_lay(&l), HUSK_E_IMAGE);
	layers_close(&l);
}

static void unknown_types_have_a_rule(void **state)
{
	static const char backup[] = {'D', 'M', 'N', 'V'};
	struct buffer tape = TAPE_INIT;
	struct layers l;
	(void)state;

	layers_open(&l);
	tape_add(&tape, "unknown", 'Z', 0644, NULL, "as POSIX says");
	tape_add(&tape, "contiguous", '7', 0644, NULL, "a file");
	tape_add(&tape, "old", '\0', 0644, NULL, "a file too");
	tape_add(&tape, "block", '4', 0644, NULL, NULL);
	layers_add(&l, &tape);
	layers_lay(&l);
	assert_text(l.root, "unknown", "as POSIX says");
	assert_text(l.root, "contiguous", "a file");
	assert_text(l.root, "old", "a file too");
	assert_gone(l.root, "block");
	for (size_t i = 0; i < sizeof(backup); i++) {
		struct buffer part = TAPE_INIT;

		tape_add(&part, "part", backup[i], 0644, NULL, "x");
		layers_refuse(&l, &part, HUSK_E_IMAGE, "GNU backup");
	}
	layers_close(&l);
}

static void harmless_attributes_are_kept(void **state)
{
	static const char *const dropped[] = {
	    "user.overlay.redirect", "trusted.overlay.opaque", "security.capability",
	    "security.selinux", "system.posix_acl_access"};
	struct buffer tape = TAPE_INIT, records = TAPE_INIT;
	struct layers l;
	char value[64], key[96], path[96];
	(void)state;

	layers_open(&l);
	for (size_t i = 0; i < 5; i++) {
		(void)snprintf(key, sizeof(key), "SCHILY.xattr.%s", dropped[i]);
		pax_add(&records, key, "/usr", 4);
	}
	pax_add(&records, "SCHILY.xattr.user.note", "kept", 4);
	tape_extra(&tape, 'x', records.data, records.size);
	tape_add(&tape, "f", '0', 0444, NULL, "content");
	buffer_deinit(&records);
	layers_add(&l, &tape);
	(void)snprintf(path, sizeof(path), "%s/ws/L0/tree/f", l.tree.base);
	assert_mode(l.tree.ws, "L0/tree/f", S_IFREG | 0444);
	assert_text(l.tree.ws, "L0/tree/f", "content");
	for (size_t i = 0; i < 5; i++)
		assert_true(lgetxattr(path, dropped[i], value, sizeof(value)) < 0);
	if (lgetxattr(path, "user.note", value, sizeof(value)) < 0) {
		assert_true(errno == ENOTSUP);
		layers_close(&l);
		skip_because("no attributes of users on this file system");
	}
	assert_memory_equal(value, "kept", 4);
	layers_close(&l);
}

/* A header of GNU's old sparse format: one piece of 5 bytes at 1,000,000 of 2 MiB. */
static void add_old_sparse(struct buffer *tape)
{
	struct tape_header h = {
	    .name = "oldest", .type = 'S', .mode = 0644, .size = 5, .magic = "ustar  "};
	unsigned sum = 0;
	char *block;

	tape_header(tape, &h);
	block = tape->data + tape->size - 512;
	(void)snprintf(block + 386, 12, "%011o", 1000000U);
	(void)snprintf(block + 398, 12, "%011o", 5U);
	(void)snprintf(block + 483, 12, "%011o", 2097152U);
	memset(block + 148, ' ', 8);
	for (size_t i = 0; i < 512; i++)
		sum += (unsigned char)block[i];
	(void)snprintf(block + 148, 8, "%06o", sum);
	tape_bytes(tape, "hello", 5);
	tape_pad(tape);
}

static void sparse_files_have_their_holes(void **state)
{
	struct buffer tape = TAPE_INIT, records = TAPE_INIT;
	char map[512] = "1\n1000000\n5\n";
	struct layers l;
	struct stat st;
	(void)state;

	layers_open(&l);
	/* 1.0: the map is in front of the content. */
	pax_add(&records, "GNU.sparse.major", "1", 1);
	pax_add(&records, "GNU.sparse.minor", "0", 1);
	pax_add(&records, "GNU.sparse.name", "new", 3);
	pax_add(&records, "GNU.sparse.realsize", "2000000", 7);
	tape_extra(&tape, 'x', records.data, records.size);
	records.size = 0;
	tape_header(&tape, &(struct tape_header){.name = "GNUSparseFile.0/new",
						 .type = '0',
						 .mode = 0644,
						 .size = 517});
	tape_bytes(&tape, map, sizeof(map));
	tape_bytes(&tape, "hello", 5);
	tape_pad(&tape);
	/* 0.1: the map is in the header. */
	pax_add(&records, "GNU.sparse.size", "3000000", 7);
	pax_add(&records, "GNU.sparse.numblocks", "1", 1);
	pax_add(&records, "GNU.sparse.map", "1000000,5", 9);
	pax_add(&records, "GNU.sparse.name", "older", 5);
	tape_extra(&tape, 'x', records.data, records.size);
	tape_file(&tape, "GNUSparseFile.0/older", "hello");
	/* The old format: the map is in the block. */
	add_old_sparse(&tape);
	tape_file(&tape, "after", "1");
	layers_add(&l, &tape);
	layers_lay(&l);
	buffer_deinit(&records);
	st = stat_of(l.root, "new");
	assert_int_equal(st.st_size, 2000000);
	assert_true(st.st_blocks < 100);
	assert_int_equal(stat_of(l.root, "older").st_size, 3000000);
	assert_int_equal(stat_of(l.root, "oldest").st_size, 2097152);
	assert_text(l.root, "after", "1");
	for (int i = 0; i < 3; i++) {
		static const char *const names[] = {"new", "older", "oldest"};
		char have[6] = {0};
		int fd = openat(l.root, names[i], O_RDONLY | O_CLOEXEC);

		assert_int_equal(pread(fd, have, 5, 1000000), 5);
		(void)close(fd);
		assert_string_equal(have, "hello");
	}
	layers_close(&l);
}

static void times_at_the_edges_are_clamped(void **state)
{
	static const struct {
		const char *pax, *raw;
	} rows[] = {{"-1099511627776", NULL},
		    {"4611686018427387904", NULL},
		    {"nan", NULL},
		    {"1e300", NULL},
		    {NULL, "\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00"},
		    {"-1.5", NULL}};
	struct buffer tape = TAPE_INIT;
	struct layers l;
	char name[16];
	(void)state;

	layers_open(&l);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tape_header h = {.name = name, .type = '0', .mode = 0644};

		(void)snprintf(name, sizeof(name), "f%zu", i);
		if (rows[i].pax)
			tape_pax(&tape, "mtime", rows[i].pax);
		h.raw_mtime = rows[i].raw;
		tape_header(&tape, &h);
	}
	layers_add(&l, &tape);
	layers_lay(&l);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		(void)snprintf(name, sizeof(name), "f%zu", i);
		(void)stat_of(l.root, name);
	}
	assert_true(stat_of(l.root, "f0").st_mtim.tv_sec >= INT32_MIN);
	layers_close(&l);
}

static void links_that_the_kernel_does_not_take(void **state)
{
	struct buffer nothing = TAPE_INIT, endless = TAPE_INIT;
	static char target[5000];
	struct layers l;
	(void)state;

	layers_open(&l);
	tape_link(&nothing, "l", "");
	layers_refuse(&l, &nothing, HUSK_E_IMAGE, "link to nothing");
	memset(target, 't', 4999);
	tape_pax(&endless, "linkpath", target);
	tape_link(&endless, "l", "short");
	layers_refuse(&l, &endless, HUSK_E_TOO_BIG, "4095 bytes");
	layers_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(modes_and_times_are_kept_and_set_ids_are_not),
	    cmocka_unit_test(directories_keep_what_their_entry_said),
	    cmocka_unit_test(the_last_of_one_name_wins),
	    cmocka_unit_test(hard_links_inside_a_layer),
	    cmocka_unit_test(hard_links_to_what_cannot_be_linked),
	    cmocka_unit_test(unknown_types_have_a_rule),
	    cmocka_unit_test(harmless_attributes_are_kept),
	    cmocka_unit_test(sparse_files_have_their_holes),
	    cmocka_unit_test(times_at_the_edges_are_clamped),
	    cmocka_unit_test(links_that_the_kernel_does_not_take),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
