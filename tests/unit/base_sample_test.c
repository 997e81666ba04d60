/* SPDX-License-Identifier: Apache-2.0 */
/* A few names of a directory at random: on a disk and in memory, where positions in a
 * directory mean different things. */
#include "base/sample.h"

#include "tests/unit/session_tree.h"

#include <dirent.h>

enum { FEW = 30, MANY = 300, CROWD = 6000, TRIES = 20000 };

static size_t read_bytes;

/* In place of the C library's, for all that this program is linked with. */
ssize_t getdents64(int fd, void *buffer, size_t size)
{
	ssize_t n = syscall(SYS_getdents64, fd, buffer, size);

	read_bytes += n > 0 ? (size_t)n : 0;
	return n;
}

static struct tree tree_with(bool in_memory, const char *prefix, int count)
{
	struct tree tree = in_memory ? tree_open_large() : tree_open();
	char name[80];

	for (int i = 0; i < count; i++) {
		(void)snprintf(name, sizeof(name), "%s-%d", prefix, i);
		assert_int_equal(mknodat(tree.ws, name, S_IFREG | 0600, 0), 0);
	}
	return tree;
}

static bool is_wanted(const char *name)
{
	return strncmp(name, "name-", 5) == 0;
}

static struct sample take(const struct tree *tree)
{
	struct sample sample;

	read_bytes = 0;
	assert_int_equal(sample_init(&sample), 0);
	assert_int_equal(sample_take(&sample, tree->ws, 7, is_wanted), 0);
	return sample;
}

static int number_of(const struct sample_name *name)
{
	int number = -1;

	assert_int_equal(name->dir, 7);
	assert_int_equal(sscanf(name->text, "name-%d", &number), 1);
	return number;
}

static void of_few_all_are_taken(void **state)
{
	struct tree tree = tree_with(false, "name", FEW);
	bool seen[FEW] = {false};
	struct sample sample;
	(void)state;

	put(tree.ws, "other", "x");
	put(tree.ws, "name-that-is-too-long-for-a-sample", "x");
	sample = take(&tree);
	assert_int_equal(sample.count, FEW);
	assert_true(sample.whole);
	for (size_t i = 0; i < sample.count; i++) {
		int number = number_of(&sample.names[i]);

		assert_in_range(number, 0, FEW - 1);
		assert_false(seen[number]);
		seen[number] = true;
	}
	tree_close(&tree);
}

static void of_many_each_is_met(void **state)
{
	bool in_memory = *(bool *)*state;
	struct tree tree = tree_with(in_memory, "name", MANY);
	bool seen[MANY] = {false};
	int met = 0, tries = 0;

	for (; met < MANY && tries < TRIES; tries++) {
		struct sample sample = take(&tree);

		assert_int_equal(sample.count, SAMPLE_NAMES);
		assert_false(sample.whole);
		for (size_t i = 0; i < sample.count; i++) {
			int number = number_of(&sample.names[i]);

			met += !seen[number];
			seen[number] = true;
		}
	}
	assert_int_equal(met, MANY);
	assert_true(tries > MANY / SAMPLE_NAMES);
	tree_close(&tree);
}

/* Most samples read little of it, whether the names are wanted or not; some read all. */
static void a_crowd_is_not_read_each_time(void **state)
{
	static const char *const prefixes[] = {"name", "other"};
	bool in_memory = *(bool *)*state;

	for (int i = 0; i < 2; i++) {
		struct tree tree = tree_with(in_memory, prefixes[i], CROWD);
		const size_t size = (size_t)CROWD * 32; /* of their entries */
		size_t little = 0, all = 0;

		for (int tries = 0; tries < 320; tries++) {
			struct sample sample = take(&tree);

			assert_int_equal(sample.count, i == 0 ? SAMPLE_NAMES : 0);
			little += read_bytes < size * 7 / 8;
			all += read_bytes >= size;
		}
		assert_in_range(little, 320 * 3 / 4, 319);
		assert_in_range(all, 1, 320 / 4);
		tree_close(&tree);
	}
}

static void directories_are_one_lot(void **state)
{
	struct tree tree = tree_with(false, "name", FEW);
	struct sample sample;
	(void)state;

	put(tree.k, "name-4711", "x");
	assert_int_equal(sample_init(&sample), 0);
	assert_int_equal(sample_take(&sample, tree.k, 1, is_wanted), 0);
	assert_int_equal(sample_take(&sample, tree.ws, 2, is_wanted), 0);
	assert_int_equal(sample.count, FEW + 1);
	assert_true(sample.whole);
	assert_int_equal(sample.names[0].dir, 1);
	assert_string_equal(sample.names[0].text, "name-4711");
	for (size_t i = 1; i < sample.count; i++)
		assert_int_equal(sample.names[i].dir, 2);
	assert_int_equal(sample_take(&sample, tree.ws, 3, is_wanted), 0);
	assert_int_equal(sample.count, SAMPLE_NAMES);
	assert_false(sample.whole);
	assert_true(sample_take(&sample, -1, 4, is_wanted) < 0);
	tree_close(&tree);
}

int main(void)
{
	static bool on_disk = false, in_memory = true;
	const struct CMUnitTest base_sample[] = {
	    cmocka_unit_test(of_few_all_are_taken),
	    cmocka_unit_test_prestate(of_many_each_is_met, &on_disk),
	    {"of_many_in_memory_each_is_met", of_many_each_is_met, NULL, NULL,
	     &in_memory},
	    cmocka_unit_test_prestate(a_crowd_is_not_read_each_time, &on_disk),
	    {"a_crowd_in_memory_is_not_read_each_time", a_crowd_is_not_read_each_time,
	     NULL, NULL, &in_memory},
	    cmocka_unit_test(directories_are_one_lot),
	};

	return cmocka_run_group_tests(base_sample, NULL, NULL);
}
