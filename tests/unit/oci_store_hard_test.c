/* SPDX-License-Identifier: Apache-2.0 */
/* Stores in hard times: several processes at once, makers that are killed, disks that are
 * full, readers of somebody else's. */
#include "tests/unit/oci_fake.h"
#include "tests/unit/probe_fork.h"
#include "tests/unit/skipping.h"

#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>

enum { LAYERS = 5, LAYER_SIZE = 400000 };

static const char name[] = "t.test/a:1";

static void make_image(struct fake *fake, struct fake_blob *layers[LAYERS])
{
	fake_init(fake);
	fake->chunk = 20000;
	for (int i = 0; i < LAYERS; i++) {
		char file[16];

		(void)snprintf(file, sizeof(file), "%c-file", 'a' + i);
		layers[i] = fake_add_layer(fake, file, LAYER_SIZE);
	}
	(void)fake_image(fake, "amd64", layers, LAYERS, NULL);
}

/* Fetch in a process of its own; it ends with 0, or minus the error's code. */
static pid_t fetch_apart(const struct place *place, struct fake *fake)
{
	struct fetch_options options = fake_options(name);
	struct store *store = NULL;
	pid_t pid = fork();
	int r;

	if (pid != 0)
		return pid;
	r = store_open(place->store, STORE_WRITE, &store, NULL);
	if (r == 0)
		r = fake_fetch(fake, store, &options, NULL);
	_exit(-r);
}

static int outcome(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* -- several at once -- */

static void processes_share_the_work(void **state)
{
	struct place *place = *state;
	struct fake_blob *layers[LAYERS];
	struct fake fake;
	pid_t pids[3];

	make_image(&fake, layers);
	for (int i = 0; i < LAYERS; i++)
		layers[i]->fault = FAULT_SLOW;
	for (int i = 0; i < 3; i++)
		pids[i] = fetch_apart(place, &fake);
	for (int i = 0; i < 3; i++)
		assert_int_equal(outcome(pids[i]), 0);
	assert_int_equal(atomic_load(&fake.counts->blobs), LAYERS);
	assert_int_equal(place_count(place, "tmp"), 0);
	assert_int_equal(place_count(place, "roots"), 1);
	fake_deinit(&fake);
}

/* -- kills -- */

static bool file_is_whole(int dir, const char *path)
{
	struct stat st;

	return fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       st.st_size == LAYER_SIZE;
}

/* Whatever is in the store under its final name is all there. */
static void check_whole(struct place *place, struct store *store,
			struct fake_blob *const layers[LAYERS])
{
	struct store_image *images;
	size_t count;
	uint64_t size;
	int fd;

	for (int i = 0; i < LAYERS; i++) {
		char path[32];

		if (store_has_blob(store, &layers[i]->digest, &size)) {
			assert_int_equal(size, layers[i]->size);
			assert_false(store_drop_damaged_blob(store, &layers[i]->digest));
		}
		if (!store_has_layer(store, &layers[i]->digest))
			continue;
		OK(store_open_layer(store, &layers[i]->digest, &fd, &place->err));
		(void)snprintf(path, sizeof(path), "tree/%c-file", 'a' + i);
		assert_true(file_is_whole(fd, path));
		(void)close(fd);
	}
	OK(store_list_images(store, &images, &count, &place->err));
	for (size_t i = 0; i < count; i++) {
		int tree, lease;

		OK(store_root_lease(store, &images[i].chain, &tree, &lease, &place->err));
		assert_true(file_is_whole(tree, "a-file"));
		assert_true(file_is_whole(tree, "e-file"));
		(void)close(tree);
		(void)close(lease);
	}
	store_images_free(images, count);
}

static void a_kill_at_any_instant_leaves_a_store(void **state)
{
	struct place *place = *state;
	struct fake_blob *layers[LAYERS];
	struct fake fake;
	int killed = 0;

	make_image(&fake, layers);
	for (int i = 0; i < LAYERS; i++)
		layers[i]->fault = FAULT_SLOW;
	for (useconds_t delay = 500; delay < 60000; delay += 1500) {
		pid_t pid = fetch_apart(place, &fake);
		struct store *store;

		(void)usleep(delay);
		(void)kill(pid, SIGKILL);
		if (outcome(pid) == -1)
			killed++;
		store = place_open(place, STORE_WRITE);
		assert_int_equal(place_count(place, "tmp"), 0); /* swept */
		check_whole(place, store, layers);
		if (delay % 10000 == 0)
			OK(store_prune(store, NULL, NULL, &place->err));
		(void)store_close(store);
		if (killed % 7 == 0) /* begin from nothing now and then */
			place_clear(place->store);
	}
	assert_true(killed > 5);
	assert_int_equal(outcome(fetch_apart(place, &fake)), 0);
	{
		struct store *store = place_open(place, STORE_WRITE);

		check_whole(place, store, layers);
		(void)store_close(store);
	}
	fake_deinit(&fake);
}

/* While somebody is making a thing, it is not swept. */
static void only_what_the_dead_left_is_swept(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct digest mine = digest_of_text("mine"), dead = digest_of_text("dead");
	struct store_making *making;
	pid_t pid;
	int dir;

	OK(store_layer_begin(store, &mine, NULL, NULL, &making, &dir, &place->err));
	assert_int_equal(mkdirat(dir, "tree", 0755), 0);
	pid = fork();
	if (pid == 0) {
		struct store *own = NULL;
		struct store_making *its;
		int its_dir;

		if (store_open(place->store, STORE_WRITE, &own, NULL) < 0 ||
		    store_layer_begin(own, &dead, NULL, NULL, &its, &its_dir, NULL) < 0 ||
		    mkdirat(its_dir, "tree", 0) < 0)
			_exit(1);
		_exit(0);
	}
	assert_int_equal(outcome(pid), 0);
	assert_int_equal(place_count(place, "tmp"), 4);
	(void)store_close(place_open(place, STORE_WRITE));
	assert_int_equal(place_count(place, "tmp"), 2);
	OK(store_making_commit(making, &place->err));
	(void)store_making_free(making);
	assert_true(store_has_layer(store, &mine));
	assert_int_equal(place_count(place, "tmp"), 0);
	(void)store_close(store);
}

/* The next who makes the same thing goes on without a sweep in between. */
static void a_dead_maker_is_followed(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct digest digest = digest_of_text("layer");
	struct store_making *making;
	pid_t pid = fork();
	int dir;

	if (pid == 0) {
		struct store *own = NULL;

		if (store_open(place->store, STORE_WRITE, &own, NULL) < 0 ||
		    store_layer_begin(own, &digest, NULL, NULL, &making, &dir, NULL) <
			0 ||
		    mkdirat(dir, "left-over", 0755) < 0)
			_exit(1);
		_exit(0);
	}
	assert_int_equal(outcome(pid), 0);
	OK(store_layer_begin(store, &digest, NULL, NULL, &making, &dir, &place->err));
	assert_non_null(making);
	assert_int_equal(mkdirat(dir, "left-over", 0755), 0);
	(void)store_making_free(making);
	(void)store_close(store);
}

/* -- full disks -- */

struct disk {
	const struct place *place;
	const char *options;
};

static int lay_disk(const char *options, unsigned long flags, const char *where)
{
	return mount("husk-test", where, "tmpfs", flags, options);
}

static int full_disk(void *data)
{
	const struct disk *disk = data;
	struct fetch_options options = fake_options(name);
	struct fake_blob *layers[LAYERS];
	struct store *store = NULL;
	struct husk_error err = {0};
	struct store_image *images;
	struct fake fake;
	size_t count = 1;

	if (unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    lay_disk(disk->options, 0, disk->place->dir) < 0)
		return SKIPPED; /* no mounts here */
	make_image(&fake, layers);
	CHECK(store_open(disk->place->store, STORE_WRITE, &store, &err) == 0);
	CHECK(fake_fetch(&fake, store, &options, &err) == HUSK_E_SYSTEM);
	CHECK(err.sys_errno == ENOSPC);
	CHECK(strstr(err.hint, "room") != NULL);
	CHECK(place_count(disk->place, "tmp") == 0);
	CHECK(place_count(disk->place, "images") == 0);
	CHECK(store_list_images(store, &images, &count, &err) == 0 && count == 0);
	store_images_free(images, count);
	/* With room, it goes on from what has come. */
	CHECK(lay_disk("size=64m,nr_inodes=10000", MS_REMOUNT, disk->place->dir) == 0);
	CHECK(fake_fetch(&fake, store, &options, &err) == 0);
	CHECK(place_count(disk->place, "tmp") == 0);
	CHECK(store_close(store) == NULL);
	fake_deinit(&fake);
	return 0;
}

static void a_full_disk_is_told_and_leaves_nothing(void **state)
{
	static const char *const options[] = {"size=512k",
					      "size=1500k",
					      "size=2300k",
					      "size=3100k",
					      "size=3700k",
					      "size=64m,nr_inodes=14",
					      "size=64m,nr_inodes=22",
					      "size=64m,nr_inodes=35"};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		struct disk disk = {*state, options[i]};
		/* Root needs no namespace of users for it. */
		int r = fork_and(geteuid() == 0 ? NULL : become_root_of_one, NULL,
				 full_disk, &disk);

		if (r != 0 && r != SKIPPED)
			(void)fprintf(stderr, "with %s\n", options[i]);
		fork_done(r);
	}
}

/* -- somebody else's store -- */

static int read_and_lease(void *data)
{
	const struct place *place = data;
	struct store *store = NULL;
	struct husk_error err = {0};
	struct store_image image;
	struct digest digest = digest_of_text("text");
	int tree, lease;

	CHECK(store_open(place->store, STORE_READ, &store, &err) == 0);
	CHECK(store_find_image(store, name, &image, &err) == 0);
	CHECK(store_root_lease(store, &image.chain, &tree, &lease, &err) == 0);
	CHECK(faccessat(tree, "a-file", R_OK, 0) == 0);
	CHECK(!store_has_blob(store, &digest, NULL));
	store_image_deinit(&image);
	(void)store_close(store);
	CHECK(store_open(place->store, STORE_WRITE, &store, &err) == HUSK_E_SYSTEM);
	CHECK(strstr(err.hint, "may write") != NULL);
	return 0;
}

static void others_may_read_and_lease_from_roots_store(void **state)
{
	struct place *place = *state;
	struct fake_blob *layers[LAYERS];
	struct fake fake;

	if (geteuid() != 0)
		skip_because("only root has a store that others may read");
	assert_int_equal(chmod(place->dir, 0755), 0);
	make_image(&fake, layers);
	assert_int_equal(outcome(fetch_apart(place, &fake)), 0);
	fake_deinit(&fake);
	fork_done(fork_and(become_ordinary, NULL, read_and_lease, place));
}

static int own_store(void *data)
{
	struct place *place = data;
	struct fake_blob *layers[LAYERS];
	struct store *store = NULL;
	struct husk_error err = {0};
	struct fetch_options options = fake_options(name);
	struct fake fake;
	struct stat st;
	uint64_t freed = 0;

	make_image(&fake, layers);
	CHECK(store_open(place->store, STORE_WRITE, &store, &err) == 0);
	CHECK(stat(place->store, &st) == 0 && (st.st_mode & 07777) == 0700);
	CHECK(fake_fetch(&fake, store, &options, &err) == 0);
	CHECK(store_remove_image(store, name, &freed, &err) == 0);
	CHECK(freed > 2 * LAYERS * LAYER_SIZE);
	CHECK(place_count(place, "layers") == 0 && place_count(place, "roots") == 0);
	(void)store_close(store);
	fake_deinit(&fake);
	return 0;
}

static void an_ordinary_user_has_one(void **state)
{
	struct place *place = *state;

	if (geteuid() == 0)
		assert_int_equal(chown(place->dir, ORDINARY, ORDINARY), 0);
	fork_done(fork_and(become_ordinary, NULL, own_store, place));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    PLACE_TEST(processes_share_the_work),
	    PLACE_TEST(a_kill_at_any_instant_leaves_a_store),
	    PLACE_TEST(only_what_the_dead_left_is_swept),
	    PLACE_TEST(a_dead_maker_is_followed),
	    PLACE_TEST(a_full_disk_is_told_and_leaves_nothing),
	    PLACE_TEST(others_may_read_and_lease_from_roots_store),
	    PLACE_TEST(an_ordinary_user_has_one),
	};

	place_in_memory = true;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
