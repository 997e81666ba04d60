/* SPDX-License-Identifier: Apache-2.0 */
/* From a manifest to an image in the store, with a source that has every fault. */
#include <signal.h>

#include "tests/unit/oci_fake.h"

enum { LAYERS = 6 };

/* An image of LAYERS layers with a file each. */
static void make_image(struct fake *fake, struct fake_blob *layers[LAYERS])
{
	fake_init(fake);
	for (int i = 0; i < LAYERS; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "%c-file", 'a' + i);
		layers[i] = fake_add_layer(fake, name, 20000 + 1000 * (size_t)i);
	}
	(void)fake_image(fake, "amd64", layers, LAYERS, NULL);
}

static void reset_counts(struct fake *fake)
{
	atomic_store(&fake->counts->documents, 0);
	atomic_store(&fake->counts->blobs, 0);
	atomic_store(&fake->counts->bytes, 0);
}

static int count_images(struct store *store)
{
	struct store_image *images;
	size_t count = 0;

	assert_int_equal(store_list_images(store, &images, &count, NULL), 0);
	store_images_free(images, count);
	return (int)count;
}

/* The image is whole: its root can be had and has the last layer's file. */
static void check_image(struct place *place, struct store *store, const char *name,
			bool has_files)
{
	struct store_image image;
	int tree = -1, lease = -1;

	OK(store_find_image(store, name, &image, &place->err));
	OK(store_root_lease(store, &image.chain, &tree, &lease, &place->err));
	if (has_files)
		assert_int_equal(faccessat(tree, "f-file", F_OK, 0), 0);
	(void)close(tree);
	(void)close(lease);
	store_image_deinit(&image);
	assert_int_equal(place_count(place, "tmp"), 0);
}

static void an_image_is_fetched_once(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct fetch_options options = fake_options("registry.test/a:1");
	struct fake_blob *layers[LAYERS];
	struct store_image image;
	struct fake fake;

	make_image(&fake, layers);
	OK(fake_fetch(&fake, store, &options, &place->err));
	assert_int_equal(atomic_load(&fake.counts->blobs), LAYERS);
	assert_int_equal(atomic_load(&fake.counts->documents), 1); /* the config */
	check_image(place, store, "registry.test/a:1", true);
	OK(store_find_image(store, "registry.test/a:1", &image, &place->err));
	assert_true(digest_equal(&image.top, &fake.top.digest));
	assert_true(digest_equal(&image.manifest, &fake.top.digest));
	assert_string_equal(image.platform, "linux/amd64");
	assert_true(image.size > 100000 && image.added_s > 0);
	store_image_deinit(&image);
	assert_int_equal(place_count(place, "blobs/sha256"), LAYERS + 2);
	assert_int_equal(place_count(place, "layers"), LAYERS);
	assert_int_equal(place_count(place, "partial"), 0);

	reset_counts(&fake);
	options.name = "registry.test/b:1";
	OK(fake_fetch(&fake, store, &options, &place->err));
	assert_int_equal(atomic_load(&fake.counts->blobs), 0);
	assert_int_equal(atomic_load(&fake.counts->documents), 0);
	assert_int_equal(count_images(store), 2);
	fake_deinit(&fake);
	(void)store_close(store);
}

/* -- faults of the source -- */

static void every_fault_leaves_no_image(void **state)
{
	static const struct {
		enum fake_fault fault;
		int code;
		const char *words;
	} rows[] = {
	    {FAULT_SHORT, HUSK_E_IMAGE, "ends after"},
	    {FAULT_WRONG, HUSK_E_IMAGE, "digest"},
	    {FAULT_CUT, HUSK_E_REGISTRY, "the line was cut"},
	    {FAULT_MISSING, HUSK_E_REGISTRY, "the line was cut"},
	    {FAULT_UNSETTLED, HUSK_E_IMAGE, "stopped before the end"},
	};
	struct place *place = *state;
	struct fetch_options options = fake_options("registry.test/a:1");

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct store *store = place_open(place, STORE_WRITE);
		struct fake_blob *layers[LAYERS];
		struct fake fake;

		make_image(&fake, layers);
		layers[i]->fault = rows[i].fault;
		assert_int_equal(fake_fetch(&fake, store, &options, &place->err),
				 rows[i].code);
		if (!strstr(place->err.message, rows[i].words))
			fail_msg("fault %zu: %s", i, place->err.message);
		assert_int_equal(count_images(store), 0);
		assert_int_equal(place_count(place, "roots"), 0);
		assert_int_equal(place_count(place, "tmp"), 0);
		layers[i]->fault = FAULT_NONE;
		OK(fake_fetch(&fake, store, &options, &place->err));
		check_image(place, store, options.name, true);
		fake_deinit(&fake);
		(void)store_close(store);
		place_clear(place->store);
	}
}

static void documents_are_checked(void **state)
{
	static const enum fake_fault faults[] = {FAULT_SHORT, FAULT_WRONG, FAULT_MISSING};
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct fetch_options options = fake_options("registry.test/a:1");
	struct fake_blob *layers[LAYERS], *config;
	struct fake fake;

	make_image(&fake, layers);
	config = &fake.blobs[LAYERS];
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		config->fault = faults[i];
		assert_int_equal(fake_fetch(&fake, store, &options, &place->err),
				 faults[i] == FAULT_MISSING ? HUSK_E_REGISTRY
							    : HUSK_E_IMAGE);
		assert_int_equal(atomic_load(&fake.counts->blobs), 0);
	}
	assert_int_equal(count_images(store), 0);
	fake_deinit(&fake);
	(void)store_close(store);
}

static void what_came_is_not_asked_for_again(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct fetch_options options = fake_options("registry.test/a:1");
	struct fake_blob *layer;
	struct fake fake;

	fake_init(&fake);
	layer = fake_add_layer(&fake, "file", 100000);
	(void)fake_image(&fake, "amd64", &layer, 1, NULL);
	layer->fault = FAULT_CUT;
	assert_int_equal(fake_fetch(&fake, store, &options, &place->err),
			 HUSK_E_REGISTRY);
	assert_int_equal(place_count(place, "partial"), 1);
	(void)store_close(store);
	store = place_open(place, STORE_WRITE);
	reset_counts(&fake);
	layer->fault = FAULT_NONE;
	OK(fake_fetch(&fake, store, &options, &place->err));
	assert_int_equal(atomic_load(&fake.counts->bytes),
			 (long)(layer->size - layer->size / 2));
	assert_int_equal(place_count(place, "partial"), 0);
	fake_deinit(&fake);
	(void)store_close(store);
}

/* A power cut may leave a partial file with other bytes than were written. */
static void bad_bytes_of_an_earlier_pull_are_dropped(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct fetch_options options = fake_options("registry.test/a:1");
	struct fake_blob *layer;
	char name[256];
	struct fake fake;

	fake_init(&fake);
	layer = fake_add_layer(&fake, "file", 100000);
	(void)fake_image(&fake, "amd64", &layer, 1, NULL);
	(void)snprintf(name, sizeof(name), "partial/sha256-%s", layer->digest.hex);
	place_write(place, name, "these are not the bytes of a tar");
	OK(fake_fetch(&fake, store, &options, &place->err));
	assert_int_equal(atomic_load(&fake.counts->blobs), 2);
	check_image(place, store, options.name, false);
	fake_deinit(&fake);
	(void)store_close(store);
}

static void a_wrong_diff_id_is_told(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct fetch_options options = fake_options("registry.test/a:1");
	struct fake_blob *layers[2];
	struct digest diff_ids[2];
	struct fake fake;

	fake_init(&fake);
	layers[0] = fake_add_layer(&fake, "a", 100);
	layers[1] = fake_add_layer(&fake, "b", 100);
	diff_ids[0] = layers[0]->digest;
	diff_ids[1] = digest_of_text("something else");
	(void)fake_image(&fake, "amd64", layers, 2, diff_ids);
	assert_int_equal(fake_fetch(&fake, store, &options, &place->err), HUSK_E_IMAGE);
	assert_non_null(strstr(place->err.where, "layer 2"));
	assert_non_null(strstr(place->err.message, diff_ids[1].hex));
	assert_int_equal(count_images(store), 0);
	assert_false(store_has_layer(store, &diff_ids[1]));
	fake_deinit(&fake);
	(void)store_close(store);
}

/* What makes no tar is told as what it is: a wrong digest where there is one. */
static void a_changed_layer_is_told_by_its_digest(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct fetch_options options = fake_options("registry.test/a:1");
	struct fake_blob *layer;
	struct fake fake;

	fake_init(&fake);
	layer = fake_add_layer(&fake, "a", 100000);
	(void)fake_image(&fake, "amd64", &layer, 1, NULL);
	fake.chunk = 200; /* the byte that is changed is of the header */
	layer->fault = FAULT_WRONG;
	assert_int_equal(fake_fetch(&fake, store, &options, &place->err), HUSK_E_IMAGE);
	assert_non_null(strstr(place->err.message, "its digest is wrong"));
	assert_int_equal(place_count(place, "partial"), 0);
	fake_deinit(&fake);

	/* Here nobody has changed anything: it is no tar. */
	fake_init(&fake);
	layer = fake_add_text(&fake, "this is not a tar archive at all");
	(void)fake_image(&fake, "amd64", &layer, 1, NULL);
	assert_int_equal(fake_fetch(&fake, store, &options, &place->err), HUSK_E_IMAGE);
	assert_non_null(strstr(place->err.where, "layer 1"));
	assert_null(strstr(place->err.message, "digest"));
	assert_int_equal(place_count(place, "tmp"), 0);
	fake_deinit(&fake);
	(void)store_close(store);
}

static void a_foreign_layer_that_is_not_there_is_told(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct fetch_options options = fake_options("registry.test/a:1");
	struct fake_blob *layer;
	struct fake fake;

	fake_init(&fake);
	fake.layer_type = FAKE_FOREIGN;
	layer = fake_add_layer(&fake, "a", 100);
	layer->fault = FAULT_MISSING;
	(void)fake_image(&fake, "amd64", &layer, 1, NULL);
	assert_int_equal(fake_fetch(&fake, store, &options, &place->err),
			 HUSK_E_REGISTRY);
	assert_non_null(strstr(place->err.message, "foreign"));
	assert_non_null(strstr(place->err.message, "the line was cut"));
	layer->fault = FAULT_NONE; /* some registries do have them */
	OK(fake_fetch(&fake, store, &options, &place->err));
	fake_deinit(&fake);
	(void)store_close(store);
}

static void layers_and_diff_ids_must_agree_in_number(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct fetch_options options = fake_options("registry.test/a:1");
	struct fake_blob *layers[2], *config, *manifest;
	char entry[2][400], text[2000];
	struct fake fake;

	fake_init(&fake);
	layers[0] = fake_add_layer(&fake, "a", 100);
	(void)fake_image(&fake, "amd64", layers, 1, NULL);
	config = &fake.blobs[1];
	(void)snprintf(text, sizeof(text),
		       "{\"schemaVersion\":2,\"config\":%s,\"layers\":[%s,%s]}",
		       fake_entry(entry[0], config, FAKE_CONFIG, ""),
		       fake_entry(entry[1], layers[0], FAKE_LAYER, ""), entry[1]);
	manifest = fake_add_text(&fake, text);
	fake_set_top(&fake, manifest, FAKE_MANIFEST);
	assert_int_equal(fake_fetch(&fake, store, &options, &place->err), HUSK_E_IMAGE);
	assert_non_null(strstr(place->err.message, "2 layers"));
	fake_deinit(&fake);
	(void)store_close(store);
}

/* -- shapes of images -- */

static void a_layer_that_is_there_twice_is_one(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct fetch_options options = fake_options("registry.test/a:1");
	struct fake_blob *layers[5];
	struct fake fake;

	fake_init(&fake);
	layers[0] = layers[2] = layers[4] = fake_add_layer(&fake, "a", 50000);
	layers[1] = layers[3] = fake_add_layer(&fake, "b", 50000);
	(void)fake_image(&fake, "amd64", layers, 5, NULL);
	OK(fake_fetch(&fake, store, &options, &place->err));
	assert_int_equal(atomic_load(&fake.counts->blobs), 2);
	assert_int_equal(place_count(place, "layers"), 2);
	check_image(place, store, options.name, false);
	fake_deinit(&fake);
	(void)store_close(store);
}

static void an_image_without_layers_is_one(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct fetch_options options = fake_options("registry.test/a:1");
	struct fake fake;

	fake_init(&fake);
	(void)fake_image(&fake, "amd64", NULL, 0, NULL);
	OK(fake_fetch(&fake, store, &options, &place->err));
	check_image(place, store, options.name, false);
	fake_deinit(&fake);
	(void)store_close(store);
}

static void one_plain_layer_is_not_copied(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct fetch_options options = fake_options("registry.test/a:1");
	struct fake_blob *layers[2];
	struct store_image image;
	int tree, lease;
	char path[300];
	struct fake fake;

	fake_init(&fake);
	layers[0] = fake_add_layer(&fake, "a", 100);
	layers[1] = fake_add_layer(&fake, ".wh.b", 0);
	for (size_t i = 0; i < 2; i++) {
		(void)fake_image(&fake, "amd64", &layers[i], 1, NULL);
		OK(fake_fetch(&fake, store, &options, &place->err));
		OK(store_find_image(store, options.name, &image, &place->err));
		OK(store_root_lease(store, &image.chain, &tree, &lease, &place->err));
		assert_int_equal(faccessat(tree, "a", F_OK, 0), i ? -1 : 0);
		(void)snprintf(path, sizeof(path), "roots/sha256-%s/layer",
			       image.chain.hex);
		assert_int_equal(place_has(place, path), i == 0);
		(void)close(tree);
		(void)close(lease);
		store_image_deinit(&image);
	}
	fake_deinit(&fake);
	(void)store_close(store);
}

#define AMD64 ",\"platform\":{\"os\":\"linux\",\"architecture\":\"amd64\"}"

static void indexes_are_followed_so_far(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct fetch_options options = fake_options("registry.test/a:1");
	struct fake_blob *layers[LAYERS], *manifest, *index;
	struct fake fake;

	make_image(&fake, layers);
	manifest = fake_find(&fake, &fake.top.digest);
	index = fake_index(&fake, manifest, FAKE_MANIFEST, AMD64);
	for (int depth = 1;; depth++) {
		int r = fake_fetch(&fake, store, &options, &place->err);

		if (depth > OCI_MAX_INDEX_DEPTH) {
			assert_int_equal(r, HUSK_E_IMAGE);
			break;
		}
		OK(r);
		check_image(place, store, options.name, true);
		index = fake_index(&fake, index, FAKE_INDEX, "");
	}
	assert_non_null(strstr(place->err.message, "inside one another"));
	fake_deinit(&fake);
	(void)store_close(store);
}

static void a_manifest_for_another_machine_is_refused(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct fetch_options options = fake_options("registry.test/a:1");
	struct fake_blob *layer;
	struct fake fake;

	fake_init(&fake);
	layer = fake_add_layer(&fake, "a", 100);
	(void)fake_image(&fake, "s390x", &layer, 1, NULL);
	assert_int_equal(fake_fetch(&fake, store, &options, &place->err), HUSK_E_IMAGE);
	assert_non_null(strstr(place->err.message, "linux/s390x"));
	assert_int_equal(atomic_load(&fake.counts->blobs), 0);
	OK(platform_parse("linux/s390x", &options.platform, &place->err));
	OK(fake_fetch(&fake, store, &options, &place->err));
	fake_deinit(&fake);
	(void)store_close(store);
}

/* -- what was lost in the store comes again -- */

static void remove_in_store(const struct place *place, const char *dir, const char *name)
{
	char path[400];

	(void)snprintf(path, sizeof(path), "%s/%s/%s", place->store, dir, name);
	place_clear(path);
}

static void a_lost_tree_or_blob_heals(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct fetch_options options = fake_options("registry.test/a:1");
	struct fake_blob *layers[LAYERS];
	char name[256], key[256];
	struct fake fake;

	make_image(&fake, layers);
	OK(fake_fetch(&fake, store, &options, &place->err));
	(void)snprintf(key, sizeof(key), "sha256-%s", layers[1]->digest.hex);

	reset_counts(&fake); /* the tree: from the blob */
	remove_in_store(place, "layers", key);
	OK(fake_fetch(&fake, store, &options, &place->err));
	assert_true(store_has_layer(store, &layers[1]->digest));
	assert_int_equal(atomic_load(&fake.counts->blobs), 0);

	reset_counts(&fake); /* the blob: from the source */
	remove_in_store(place, "blobs/sha256", layers[1]->digest.hex);
	OK(fake_fetch(&fake, store, &options, &place->err));
	assert_true(store_has_blob(store, &layers[1]->digest, NULL));
	assert_int_equal(atomic_load(&fake.counts->blobs), 1);

	reset_counts(&fake); /* the tree, from a blob that is damaged */
	remove_in_store(place, "layers", key);
	(void)snprintf(name, sizeof(name), "blobs/sha256/%s", layers[1]->digest.hex);
	layers[1]->data[600] ^= 1;
	{
		FILE *file;
		char path[512];

		(void)snprintf(path, sizeof(path), "%s/%s", place->store, name);
		file = fopen(path, "we");
		assert_non_null(file);
		assert_int_equal(fwrite(layers[1]->data, 1, layers[1]->size, file),
				 layers[1]->size);
		(void)fclose(file);
	}
	layers[1]->data[600] ^= 1;
	OK(fake_fetch(&fake, store, &options, &place->err));
	assert_int_equal(atomic_load(&fake.counts->blobs), 1);
	assert_true(store_has_layer(store, &layers[1]->digest));
	assert_false(store_drop_damaged_blob(store, &layers[1]->digest));
	fake_deinit(&fake);
	(void)store_close(store);
}

/* -- progress and stopping -- */

struct told {
	int kinds[16];
	int inside; /* callbacks at the same time */
	int stop_at;
	bool overlapped;
	uint64_t last_done;
};

static int listen(void *user, const struct husk_progress *event)
{
	struct told *told = user;

	if (told->inside++ != 0)
		told->overlapped = true;
	assert_int_equal(event->size, sizeof(*event));
	assert_non_null(event->digest);
	assert_string_equal(event->image, "registry.test/a:1");
	told->kinds[event->kind]++;
	told->inside--;
	return told->stop_at == event->kind;
}

static void progress_is_told(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct fetch_options options = fake_options("registry.test/a:1");
	struct fake_blob *layers[LAYERS];
	struct told told = {.stop_at = -1};
	struct fake fake;

	options.on_progress = listen;
	options.progress_user = &told;
	make_image(&fake, layers);
	OK(fake_fetch(&fake, store, &options, &place->err));
	assert_int_equal(told.kinds[HUSK_PROGRESS_RESOLVED], 1);
	assert_true(told.kinds[HUSK_PROGRESS_LAYER] >= LAYERS);
	assert_int_equal(told.kinds[HUSK_PROGRESS_LAYER_DONE], LAYERS);
	assert_int_equal(told.kinds[HUSK_PROGRESS_ASSEMBLING], 1);
	assert_int_equal(told.kinds[HUSK_PROGRESS_DONE], 1);
	assert_false(told.overlapped);
	OK(fake_fetch(&fake, store, &options, &place->err));
	assert_int_equal(told.kinds[HUSK_PROGRESS_LAYER_FOUND], LAYERS);
	assert_int_equal(told.kinds[HUSK_PROGRESS_DONE], 2);
	fake_deinit(&fake);
	(void)store_close(store);
}

static void a_listener_can_stop_it(void **state)
{
	static const int kinds[] = {HUSK_PROGRESS_RESOLVED, HUSK_PROGRESS_LAYER,
				    HUSK_PROGRESS_LAYER_DONE, HUSK_PROGRESS_ASSEMBLING};
	struct place *place = *state;
	struct fetch_options options = fake_options("registry.test/a:1");

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct store *store = place_open(place, STORE_WRITE);
		struct told told = {.stop_at = kinds[i]};
		struct fake_blob *layers[LAYERS];
		struct fake fake;

		options.on_progress = listen;
		options.progress_user = &told;
		make_image(&fake, layers);
		assert_int_equal(fake_fetch(&fake, store, &options, &place->err),
				 HUSK_E_CANCELLED);
		assert_int_equal(told.kinds[kinds[i]], 1);
		assert_int_equal(count_images(store), 0);
		assert_int_equal(place_count(place, "tmp"), 0);
		fake_deinit(&fake);
		(void)store_close(store);
		place_clear(place->store);
	}
}

struct canceller {
	struct fake *fake;
	int fd;
};

static void *cancel_when_it_hangs(void *user)
{
	const struct canceller *canceller = user;

	while (atomic_load(&canceller->fake->counts->hanging) < 2)
		(void)usleep(1000);
	return write(canceller->fd, "x", 1) == 1 ? user : NULL;
}

static void the_caller_can_stop_a_source_that_hangs(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct fetch_options options = fake_options("registry.test/a:1");
	struct fake_blob *layers[LAYERS];
	struct canceller canceller;
	pthread_t thread;
	struct fake fake;
	int pipes[2];

	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	options.cancel_fd = pipes[0];
	make_image(&fake, layers);
	layers[0]->fault = layers[3]->fault = FAULT_HANGS;
	canceller = (struct canceller){&fake, pipes[1]};
	assert_int_equal(pthread_create(&thread, NULL, cancel_when_it_hangs, &canceller),
			 0);
	assert_int_equal(fake_fetch(&fake, store, &options, &place->err),
			 HUSK_E_CANCELLED);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(count_images(store), 0);
	assert_int_equal(place_count(place, "tmp"), 0);
	assert_true(place_count(place, "partial") >= 1);
	(void)close(pipes[0]);
	(void)close(pipes[1]);
	fake_deinit(&fake);
	(void)store_close(store);
}

static void one_failure_ends_those_that_hang(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct fetch_options options = fake_options("registry.test/a:1");
	struct fake_blob *layers[LAYERS];
	struct fake fake;

	make_image(&fake, layers);
	layers[0]->fault = layers[1]->fault = FAULT_HANGS;
	layers[2]->fault = FAULT_WRONG;
	assert_int_equal(fake_fetch(&fake, store, &options, &place->err), HUSK_E_IMAGE);
	assert_int_equal(place_count(place, "tmp"), 0);
	fake_deinit(&fake);
	(void)store_close(store);
}

static sigset_t blocked_in_thread;

static int note_mask(void *user, const struct husk_progress *event)
{
	(void)user;
	if (event->kind == HUSK_PROGRESS_LAYER)
		(void)pthread_sigmask(SIG_SETMASK, NULL, &blocked_in_thread);
	return 0;
}

static void its_threads_take_no_signals(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct fetch_options options = fake_options("registry.test/a:1");
	struct fake_blob *layers[LAYERS];
	struct fake fake;
	sigset_t mine;

	options.on_progress = note_mask;
	make_image(&fake, layers);
	OK(fake_fetch(&fake, store, &options, &place->err));
	assert_int_equal(sigismember(&blocked_in_thread, SIGINT), 1);
	assert_int_equal(sigismember(&blocked_in_thread, SIGTERM), 1);
	(void)pthread_sigmask(SIG_SETMASK, NULL, &mine);
	assert_int_equal(sigismember(&mine, SIGINT), 0);
	fake_deinit(&fake);
	(void)store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    PLACE_TEST(an_image_is_fetched_once),
	    PLACE_TEST(every_fault_leaves_no_image),
	    PLACE_TEST(documents_are_checked),
	    PLACE_TEST(what_came_is_not_asked_for_again),
	    PLACE_TEST(bad_bytes_of_an_earlier_pull_are_dropped),
	    PLACE_TEST(a_wrong_diff_id_is_told),
	    PLACE_TEST(a_changed_layer_is_told_by_its_digest),
	    PLACE_TEST(a_foreign_layer_that_is_not_there_is_told),
	    PLACE_TEST(layers_and_diff_ids_must_agree_in_number),
	    PLACE_TEST(a_layer_that_is_there_twice_is_one),
	    PLACE_TEST(an_image_without_layers_is_one),
	    PLACE_TEST(one_plain_layer_is_not_copied),
	    PLACE_TEST(indexes_are_followed_so_far),
	    PLACE_TEST(a_manifest_for_another_machine_is_refused),
	    PLACE_TEST(a_lost_tree_or_blob_heals),
	    PLACE_TEST(progress_is_told),
	    PLACE_TEST(a_listener_can_stop_it),
	    PLACE_TEST(the_caller_can_stop_a_source_that_hangs),
	    PLACE_TEST(one_failure_ends_those_that_hang),
	    PLACE_TEST(its_threads_take_no_signals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
