/* SPDX-License-Identifier: Apache-2.0 */
/* Blobs of a registry on their way into the store: resumed, begun anew, cut, too long,
 * wrong, and by several threads with tokens that are good for one request. */
#include "tests/unit/oci_peer.h"

#include "oci/registry.h"
#include "oci/registry_blob.h"

enum { SIZE = 300000, HALF = 100000, THREADS = 4, TOKENS = 100 };

static char content[SIZE + 1];
static char path[160]; /* of the blob */

struct scene {
	struct place *place;
	struct peer peer;
	struct store *store;
	struct registry_options options;
	struct registry *client;
	struct descriptor what;
	uint64_t told; /* the last progress */
};

static void scene_open(struct scene *scene, void **state)
{
	struct place *place = *state;
	struct reference reference;
	char text[DIGEST_TEXT];

	*scene = (struct scene){.place = place};
	for (size_t i = 0; i < SIZE; i++)
		content[i] = (char)('a' + i * 7 % 26);
	peer_start(&scene->peer);
	scene->store = place_open(place, STORE_WRITE);
	scene->what.digest = digest_of_text(content);
	scene->what.size = SIZE;
	digest_text(&scene->what.digest, text);
	(void)snprintf(path, sizeof(path), "/v2/a/blobs/%s", text);
	(void)snprintf(text, sizeof(text), "%s/a:1", scene->peer.name);
	OK(reference_parse(text, &reference, &place->err));
	scene->options.certs_dirs = place->dir;
	scene->options.pause_ms = 1;
	OK(registry_new(&reference, &scene->options, &scene->client, &place->err));
}

static void scene_close(struct scene *scene)
{
	assert_null(registry_free(scene->client));
	assert_null(store_close(scene->store));
	peer_stop(&scene->peer);
}

static void on_progress(void *user, uint64_t bytes)
{
	((struct scene *)user)->told = bytes;
}

/* The blob into the store; the code. */
static int pull(struct scene *scene)
{
	struct place *place = scene->place;
	struct blob *blob = NULL;
	int rc;

	place->err = (struct husk_error){0};
	OK(store_blob_begin(scene->store, &scene->what.digest, scene->what.size, NULL,
			    NULL, &blob, &place->err));
	rc = registry_blob(scene->client, &scene->what, blob, on_progress, scene,
			   &place->err);
	assert_int_equal(blob_wait(blob, NULL) == 0, rc == 0);
	if (rc == 0)
		OK(store_blob_commit(blob, &place->err));
	store_blob_free(blob);
	assert_int_equal(store_has_blob(scene->store, &scene->what.digest, NULL),
			 rc == 0);
	return rc;
}

#define WHOLE	    .body = content, .size = SIZE
#define CUT	    .body = content, .size = SIZE, .short_by = SIZE - HALF, .times = 1
#define REST	    .body = content + HALF, .size = SIZE - HALF
#define RANGE(text) "Content-Range: bytes " text "\r\n"
#define MOST	    4
#define ASKED_REST  "Range: bytes=100000-"

static const struct {
	struct peer_answer answers[MOST];
	int rc, asked, ranges;
} transfers[] = {
    {{{path, "200 OK", NULL, WHOLE}}, 0, 1, 0},
    /* cut, and gone on with */
    {{{path, "200 OK", NULL, CUT},
      {path, "206 Part", RANGE("100000-299999/300000"), REST}},
     0,
     2,
     1},
    {{{path, "200 OK", NULL, CUT}, {path, "206 Part", RANGE("100000-299999/*"), REST}},
     0,
     2,
     1},
    /* the server does not know Range, or not this one */
    {{{path, "200 OK", NULL, CUT}, {path, "200 OK", NULL, WHOLE}}, 0, 2, 1},
    {{{path, "200 OK", NULL, CUT},
      {path, "416 No", NULL, .times = 1},
      {path, "200 OK", NULL, WHOLE}},
     0,
     3,
     1},
    /* a part that is another one */
    {{{path, "200 OK", NULL, CUT},
      {path, "206 Part", RANGE("0-299999/300000"), WHOLE, .times = 1},
      {path, "200 OK", NULL, WHOLE}},
     0,
     3,
     1},
    {{{path, "200 OK", NULL, CUT},
      {path, "206 Part", NULL, REST, .times = 1},
      {path, "200 OK", NULL, WHOLE}},
     0,
     3,
     1},
    {{{path, "206 Part", RANGE("0-299999/300000"), WHOLE}}, HUSK_E_REGISTRY, 5, 0},
    /* a Content-Length that promises more than there is: who knows what is missing */
    {{{path, "200 OK", NULL, .body = content, .size = SIZE + 1, .short_by = 1}},
     HUSK_E_REGISTRY,
     5,
     0},
    /* too long, too short, other bytes */
    {{{path, "200 OK", NULL, .body = content, .size = SIZE + 1}}, HUSK_E_TOO_BIG, 1, 0},
    {{{path, "200 OK", NULL, .body = content, .size = 5}}, HUSK_E_REGISTRY, 5, 0},
    {{{path, "200 OK", NULL, .body = content + 1, .size = SIZE}}, HUSK_E_IMAGE, 1, 0},
    {{{path, "404 No"}}, HUSK_E_IMAGE, 1, 0},
    {{{path, "500 No"}}, HUSK_E_REGISTRY, 1, 0},
};

static void test_transfers(void **state)
{
	for (size_t i = 0; i < sizeof(transfers) / sizeof(transfers[0]); i++) {
		struct peer_answer answers[MOST];
		struct scene scene;
		int rc;

		scene_open(&scene, state);
		memcpy(answers, transfers[i].answers, sizeof(answers));
		peer_set(&scene.peer, answers, MOST);
		rc = pull(&scene);
		if (rc != transfers[i].rc ||
		    peer_saw(&scene.peer, "GET ") != transfers[i].asked ||
		    peer_saw(&scene.peer, ASKED_REST) != transfers[i].ranges)
			fail_msg("row %zu: %d, %s; asked %d times, for a part %d", i, rc,
				 scene.place->err.message, peer_saw(&scene.peer, "GET "),
				 peer_saw(&scene.peer, ASKED_REST));
		if (rc == 0)
			assert_int_equal(scene.told, SIZE);
		scene_close(&scene);
		place_clear(scene.place->store);
	}
}

/* What a pull that failed has left is where the next one begins. */
static void test_the_next_pull_goes_on(void **state)
{
	struct peer_answer first[] = {{path, "200 OK", NULL, CUT}, {path, "403 No"}};
	struct peer_answer second[] = {
	    {path, "206 Part", RANGE("100000-299999/300000"), REST}};
	struct scene scene;

	scene_open(&scene, state);
	peer_set(&scene.peer, first, 2);
	assert_int_equal(pull(&scene), HUSK_E_REGISTRY);
	peer_set(&scene.peer, second, 1);
	assert_int_equal(pull(&scene), 0);
	assert_int_equal(peer_saw(&scene.peer, ASKED_REST), 1);
	scene_close(&scene);
}

static void test_content_range(void **state)
{
	static const struct {
		const char *value;
		bool fits;
	} rows[] = {
	    {"bytes 5-9/10", true},   {"Bytes 5-9/*", true},
	    {"bytes 5-6/10", true},   {"bytes 4-9/10", false},
	    {"bytes 6-9/10", false},  {"bytes 5-10/10", false},
	    {"bytes 5-9/11", false},  {"bytes 5-4/10", false},
	    {"bytes */10", false},    {"", false},
	    {"bytes 5-9/10 ", false}, {"bytes 5-9", false},
	    {"items 5-9/10", false},  {"bytes 18446744073709551621-9/10", false},
	    {"bytes -5-9/10", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (content_range_fits(rows[i].value, 5, 10) != rows[i].fits)
			fail_msg("%s", rows[i].value);
	}
}

/* A registry that takes each of its tokens once. */
static char challenge[256], token[32];
static int given;
static bool used[TOKENS];

static const struct peer_answer *take_once(struct peer *peer, const char *request)
{
	static struct peer_answer refusal = {.status = "401 No", .headers = challenge};
	static struct peer_answer gift = {.status = "200 OK", .body = token};
	static const char bearer[] = "Authorization: Bearer t";
	const char *shown = strstr(request, bearer);
	long number = shown ? strtol(shown + sizeof(bearer) - 1, NULL, 10) : -1;

	(void)peer;
	if (strncmp(request, "GET /token?", 11) == 0) {
		(void)snprintf(token, sizeof(token), "{\"token\":\"t%d\"}", given++);
		gift.size = strlen(token);
		return given < TOKENS ? &gift : &refusal;
	}
	if (number < 0 || number >= given || used[number])
		return &refusal;
	used[number] = true;
	return NULL;
}

struct fetching {
	struct scene *scene;
	int rc;
	struct husk_error err;
};

static void *fetch(void *user)
{
	struct fetching *fetching = user;

	for (int i = 0; i < 5 && fetching->rc == 0; i++) {
		struct buffer body = BUFFER_INIT(0);

		fetching->rc =
		    registry_small_blob(fetching->scene->client, &fetching->scene->what,
					&body, &fetching->err);
		buffer_deinit(&body);
	}
	return NULL;
}

static void test_tokens_for_one_request(void **state)
{
	struct peer_answer answers[] = {{path, "200 OK", NULL, WHOLE}};
	struct fetching threads[THREADS];
	pthread_t ids[THREADS];
	struct scene scene;

	scene_open(&scene, state);
	(void)snprintf(challenge, sizeof(challenge),
		       "WWW-Authenticate: Bearer realm=\"http://%s/token\"\r\n",
		       scene.peer.name);
	scene.peer.gate = take_once;
	peer_set(&scene.peer, answers, 1);
	for (int i = 0; i < THREADS; i++) {
		threads[i] = (struct fetching){.scene = &scene};
		assert_int_equal(pthread_create(&ids[i], NULL, fetch, &threads[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(ids[i], NULL), 0);
	for (int i = 0; i < THREADS; i++) {
		if (threads[i].rc != 0)
			fail_msg("%d: %s", threads[i].rc, threads[i].err.message);
	}
	/* One for each, and some more where another thread has used up what was asked
	 * for, which depends on who runs when. */
	assert_in_range(given, THREADS * 5, THREADS * 5 * 3);
	scene_close(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    PLACE_TEST(test_transfers),
	    PLACE_TEST(test_the_next_pull_goes_on),
	    cmocka_unit_test(test_content_range),
	    PLACE_TEST(test_tokens_for_one_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
