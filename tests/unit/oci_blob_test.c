/* SPDX-License-Identifier: Apache-2.0 */
/* Blobs on their way: a writer, a reader behind it, what stays of one that was cut. */
#include <pthread.h>
#include <sys/resource.h>
#include <signal.h>

#include "oci/blob.h"
#include "tests/unit/oci_place.h"

enum { BIG = 3 << 20, CHUNK = 70001 };

static char *big;

static int make_big(void **state)
{
	uint32_t value = 1;

	(void)state;
	big = malloc(BIG);
	if (!big)
		return -1;
	for (size_t i = 0; i < BIG; i++) {
		value = value * 1664525 + 1013904223;
		big[i] = (char)(value >> 24);
	}
	return 0;
}

static int free_big(void **state)
{
	(void)state;
	free(big);
	return 0;
}

static struct digest digest_of_big(void)
{
	struct digest digest;

	assert_int_equal(digest_of(DIGEST_SHA256, big, BIG, &digest, NULL), 0);
	return digest;
}

static struct blob *begin(struct place *place, struct store *store,
			  const struct digest *digest, uint64_t size)
{
	struct blob *blob = NULL;

	OK(store_blob_begin(store, digest, size, NULL, NULL, &blob, &place->err));
	return blob;
}

/* -- one reader in a thread -- */

struct reader {
	pthread_t thread;
	struct blob *blob;
	char *data;
	size_t size;
	ssize_t result;
	struct husk_error err;
};

static void *read_all(void *data)
{
	struct reader *reader = data;

	for (;;) {
		reader->result =
		    blob_read(reader->blob, reader->size, reader->data + reader->size,
			      4097, &reader->err);
		if (reader->result <= 0)
			return NULL;
		reader->size += (size_t)reader->result;
	}
}

static void start(struct reader *reader, struct blob *blob)
{
	*reader = (struct reader){.blob = blob, .data = malloc(BIG + 4097)};
	assert_non_null(reader->data);
	assert_int_equal(pthread_create(&reader->thread, NULL, read_all, reader), 0);
}

static void join(struct reader *reader)
{
	assert_int_equal(pthread_join(reader->thread, NULL), 0);
}

static void write_part(struct place *place, struct blob *blob, size_t from, size_t to)
{
	for (size_t at = from; at < to; at += CHUNK) {
		size_t size = to - at < CHUNK ? to - at : CHUNK;

		OK(blob_write(blob, big + at, size, &place->err));
	}
}

/* -- tests -- */

static void a_reader_sees_all_that_is_written(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct digest digest = digest_of_big();
	struct blob *blob = begin(place, store, &digest, BIG);
	struct reader reader;
	uint64_t size = 0;

	start(&reader, blob);
	write_part(place, blob, 0, BIG);
	assert_false(store_has_blob(store, &digest, NULL));
	OK(blob_finish(blob, &place->err));
	join(&reader);
	assert_int_equal(reader.result, 0);
	assert_int_equal(reader.size, BIG);
	assert_memory_equal(reader.data, big, BIG);
	OK(blob_wait(blob, &place->err));
	assert_false(store_has_blob(store, &digest, NULL));
	OK(store_blob_commit(blob, &place->err));
	assert_true(store_has_blob(store, &digest, &size));
	assert_int_equal(size, BIG);
	assert_null(store_blob_free(blob));
	assert_int_equal(place_count(place, "partial"), 0);
	assert_null(begin(place, store, &digest, BIG)); /* it is there */
	free(reader.data);
	assert_null(store_close(store));
}

static void a_cut_blob_goes_on_where_it_stopped(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct digest digest = digest_of_big();
	struct blob *blob = begin(place, store, &digest, BIG);
	const struct husk_error why = {.code = HUSK_E_REGISTRY, .message = "cut"};
	struct reader reader;

	start(&reader, blob);
	write_part(place, blob, 0, 2 * CHUNK);
	blob_fail(blob, &why);
	join(&reader);
	assert_int_equal(reader.result, HUSK_E_REGISTRY);
	assert_string_equal(reader.err.message, "cut");
	free(reader.data);
	assert_int_equal(blob_wait(blob, &place->err), HUSK_E_REGISTRY);
	assert_int_equal(store_blob_commit(blob, &place->err), HUSK_E_INVALID);
	(void)store_blob_free(blob);
	assert_int_equal(place_count(place, "partial"), 1);
	(void)store_close(store);

	store = place_open(place, STORE_WRITE);
	blob = begin(place, store, &digest, BIG);
	assert_int_equal(blob_have(blob), 2 * CHUNK);
	start(&reader, blob);
	write_part(place, blob, 2 * CHUNK, BIG);
	OK(blob_finish(blob, &place->err));
	join(&reader);
	assert_int_equal(reader.size, BIG);
	assert_memory_equal(reader.data, big, BIG);
	free(reader.data);
	OK(store_blob_commit(blob, &place->err));
	(void)store_blob_free(blob);
	(void)store_close(store);
}

static void a_wrong_digest_drops_the_bytes(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct digest digest = digest_of_text("something else");
	struct blob *blob = begin(place, store, &digest, BIG);
	char byte;

	write_part(place, blob, 0, BIG);
	assert_int_equal(blob_finish(blob, &place->err), HUSK_E_IMAGE);
	assert_non_null(strstr(place->err.message, digest.hex));
	assert_int_equal(blob_read(blob, 0, &byte, 1, &place->err), HUSK_E_IMAGE);
	assert_int_equal(store_blob_commit(blob, &place->err), HUSK_E_INVALID);
	(void)store_blob_free(blob);
	assert_int_equal(place_count(place, "partial"), 0);
	assert_false(store_has_blob(store, &digest, NULL));
	(void)store_close(store);
}

static void sizes_are_kept_to(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct digest digest = digest_of_text("four");
	struct blob *blob = begin(place, store, &digest, 4);

	OK(blob_write(blob, "fo", 2, &place->err));
	assert_int_equal(blob_write(blob, "urs", 3, &place->err), HUSK_E_TOO_BIG);
	assert_int_equal(blob_finish(blob, &place->err), HUSK_E_IMAGE);
	assert_non_null(strstr(place->err.message, "ends after 2 bytes"));
	(void)store_blob_free(blob);
	assert_int_equal(place_count(place, "partial"), 1); /* what came may be right */
	assert_int_equal(
	    store_blob_begin(store, &digest, UINT64_MAX, NULL, NULL, &blob, &place->err),
	    HUSK_E_TOO_BIG);
	(void)store_close(store);
}

static void an_empty_blob_is_one(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct digest digest = digest_of_text("");
	struct blob *blob = begin(place, store, &digest, 0);
	uint64_t size = 1;
	char byte;

	OK(blob_finish(blob, &place->err));
	assert_int_equal(blob_read(blob, 0, &byte, 1, &place->err), 0);
	OK(store_blob_commit(blob, &place->err));
	(void)store_blob_free(blob);
	assert_true(store_has_blob(store, &digest, &size));
	assert_int_equal(size, 0);
	(void)store_close(store);
}

static void a_restart_begins_at_zero(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct digest digest = digest_of_big();
	struct blob *blob = begin(place, store, &digest, BIG);
	struct reader reader;

	write_part(place, blob, 0, 5 * CHUNK);
	start(&reader, blob);
	OK(blob_restart(blob, &place->err));
	assert_int_equal(blob_have(blob), 0);
	write_part(place, blob, 0, BIG);
	OK(blob_finish(blob, &place->err));
	join(&reader);
	assert_int_equal(reader.size, BIG);
	assert_memory_equal(reader.data, big, BIG);
	free(reader.data);
	(void)store_blob_free(blob);
	(void)store_close(store);
}

static void a_partial_file_that_is_too_long_is_not_it(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct digest digest = digest_of_text("four");
	char name[256];
	struct blob *blob;

	(void)snprintf(name, sizeof(name), "partial/sha256-%s", digest.hex);
	place_write(place, name, "rather long");
	blob = begin(place, store, &digest, 4);
	assert_int_equal(blob_have(blob), 0);
	OK(blob_write(blob, "four", 4, &place->err));
	OK(blob_finish(blob, &place->err));
	OK(store_blob_commit(blob, &place->err));
	(void)store_blob_free(blob);
	(void)store_close(store);
}

static void a_reader_that_gives_up_stops_the_writer(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct digest digest = digest_of_text("four");
	struct blob *blob = begin(place, store, &digest, 4);
	const struct husk_error why = {.code = HUSK_E_IMAGE, .message = "not a tar"};

	OK(blob_write(blob, "fo", 2, &place->err));
	assert_false(blob_is_abandoned(blob));
	blob_abandon(blob, &why);
	assert_true(blob_is_abandoned(blob));
	assert_int_equal(blob_write(blob, "ur", 2, &place->err), HUSK_E_IMAGE);
	assert_string_equal(place->err.message, "not a tar");
	assert_int_equal(blob_finish(blob, &place->err), HUSK_E_IMAGE);
	(void)store_blob_free(blob);
	(void)store_close(store);
}

static void only_one_at_a_time_is_at_a_blob(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct digest digest = digest_of_big();
	struct blob *blob = begin(place, store, &digest, BIG);
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		struct store *own = NULL;
		struct blob *it = NULL;

		if (store_open(place->store, STORE_WRITE, &own, NULL) < 0 ||
		    store_blob_begin(own, &digest, BIG, NULL, NULL, &it, NULL) < 0)
			_exit(1);
		_exit(it ? 2 : 0);
	}
	(void)usleep(100000);
	write_part(place, blob, 0, BIG);
	OK(blob_finish(blob, &place->err));
	OK(store_blob_commit(blob, &place->err));
	(void)store_blob_free(blob);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0); /* it waited, and found it there */
	(void)store_close(store);
}

static int stop_at_once(void *user)
{
	++*(int *)user;
	return 1;
}

static void waiting_can_be_stopped(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct digest digest = digest_of_text("four");
	struct blob *blob = begin(place, store, &digest, 4), *other = NULL;
	int asked = 0;

	assert_int_equal(store_blob_begin(store, &digest, 4, stop_at_once, &asked, &other,
					  &place->err),
			 HUSK_E_CANCELLED);
	assert_int_equal(asked, 1);
	assert_null(other);
	(void)store_blob_free(blob);
	(void)store_close(store);
}

/* Past RLIMIT_FSIZE a write would end the process. */
static void a_limit_on_file_sizes_is_an_error(void **state)
{
	struct place *place = *state;
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		const struct rlimit limit = {1 << 20, 1 << 20};
		struct digest digest = digest_of_big();
		struct store *store = NULL;
		struct blob *blob = NULL;
		int r;

		if (store_open(place->store, STORE_WRITE, &store, NULL) < 0 ||
		    store_blob_begin(store, &digest, BIG, NULL, NULL, &blob, NULL) < 0 ||
		    setrlimit(RLIMIT_FSIZE, &limit) < 0)
			_exit(1);
		r = blob_write(blob, big, 2 << 20, &place->err);
		_exit(r == HUSK_E_SYSTEM && place->err.sys_errno == EFBIG ? 0 : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    PLACE_TEST(a_reader_sees_all_that_is_written),
	    PLACE_TEST(a_cut_blob_goes_on_where_it_stopped),
	    PLACE_TEST(a_wrong_digest_drops_the_bytes),
	    PLACE_TEST(sizes_are_kept_to),
	    PLACE_TEST(an_empty_blob_is_one),
	    PLACE_TEST(a_restart_begins_at_zero),
	    PLACE_TEST(a_partial_file_that_is_too_long_is_not_it),
	    PLACE_TEST(a_reader_that_gives_up_stops_the_writer),
	    PLACE_TEST(only_one_at_a_time_is_at_a_blob),
	    PLACE_TEST(waiting_can_be_stopped),
	    PLACE_TEST(a_limit_on_file_sizes_is_an_error),
	};

	return cmocka_run_group_tests(tests, make_big, free_big);
}
