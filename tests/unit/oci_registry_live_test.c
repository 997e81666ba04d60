/* SPDX-License-Identifier: Apache-2.0 */
/* The registry client against peers on loopback: who gets which credentials, what is
 * believed, and what is tried again. */
#include "tests/unit/oci_peer.h"

#include "oci/registry.h"

/* A registry, somebody else, and a client of the first. */
struct scene {
	struct place *place;
	struct peer registry, other;
	struct reference reference;
	struct registry_options options;
	struct registry *client;
	char auth_file[128];
	const char *auth_files[2];
	struct husk_error err;
};

static const char manifest[] = "{\"schemaVersion\":2}";
#define TAG "/v2/team/app/manifests/1"

/* with: a user "u" with the password "SECRET" is known at the registry. */
static void scene_open(struct scene *scene, void **state, bool with)
{
	char text[512];
	FILE *file;

	*scene = (struct scene){.place = *state};
	peer_start(&scene->registry);
	peer_start(&scene->other);
	(void)snprintf(text, sizeof(text), "%s/team/app:1", scene->registry.name);
	assert_int_equal(reference_parse(text, &scene->reference, NULL), 0);
	(void)snprintf(scene->auth_file, sizeof(scene->auth_file), "%s/auth.json",
		       scene->place->dir);
	file = fopen(scene->auth_file, "we");
	assert_non_null(file);
	assert_true(fprintf(file, "{\"auths\":{\"%s\":{\"auth\":\"dTpTRUNSRVQ=\"}}}",
			    with ? scene->registry.name : "x") > 0);
	assert_int_equal(fclose(file), 0);
	scene->auth_files[0] = scene->auth_file;
	scene->options.auth_files = scene->auth_files;
	scene->options.certs_dirs = scene->place->dir;
	scene->options.pause_ms = 1;
	assert_int_equal(
	    registry_new(&scene->reference, &scene->options, &scene->client, NULL), 0);
}

static void scene_close(struct scene *scene)
{
	assert_null(registry_free(scene->client));
	peer_stop(&scene->registry);
	peer_stop(&scene->other);
}

/* The tag's manifest; the code. A secret is never in what is said. */
static int get(struct scene *scene)
{
	struct buffer body = BUFFER_INIT(0);
	struct digest digest, wanted;
	char type[128];
	int rc;

	scene->err = (struct husk_error){0};
	rc = registry_manifest(scene->client, NULL, &body, &digest, type, &scene->err);
	assert_null(strstr(scene->err.message, "SECRET"));
	assert_null(strstr(scene->err.hint, "SECRET"));
	if (rc == 0) {
		wanted = digest_of_text(manifest);
		assert_string_equal(body.data, manifest);
		assert_true(digest_equal(&digest, &wanted));
	}
	buffer_deinit(&body);
	return rc;
}

#define SET(peer, answers) peer_set(peer, answers, sizeof(answers) / sizeof((answers)[0]))
#define MANIFEST	   .body = manifest, .size = sizeof(manifest) - 1

static void test_plain_http_on_loopback(void **state)
{
	struct peer_answer answers[] = {{TAG, "200 OK", NULL, MANIFEST}};
	struct scene scene;

	scene_open(&scene, state, true);
	SET(&scene.registry, answers);
	assert_int_equal(get(&scene), 0);
	assert_int_equal(get(&scene), 0);
	/* TLS is tried first, once, and nobody is told who we are unasked */
	assert_int_equal(scene.registry.greetings, 1);
	assert_int_equal(peer_saw(&scene.registry, "GET "), 2);
	assert_int_equal(peer_saw(&scene.registry, "HEAD "), 0);
	assert_int_equal(peer_saw(&scene.registry, "Authorization"), 0);
	assert_int_equal(peer_saw(&scene.registry, "Accept-Encoding: identity"), 2);
	scene_close(&scene);
}

static void test_basic(void **state)
{
	struct peer_answer answers[] = {
	    {TAG, "401 No", "WWW-Authenticate: Basic realm=\"x\"\r\n", .times = 1},
	    {TAG, "200 OK", NULL, MANIFEST},
	};
	struct peer_answer refusal[] = {{TAG, "401 No",
					 "WWW-Authenticate: Basic realm=\"x\"\r\n",
					 .body = "SECRET", .size = 6}};
	struct scene scene;

	scene_open(&scene, state, true);
	SET(&scene.registry, answers);
	assert_int_equal(get(&scene), 0);
	assert_int_equal(peer_saw(&scene.registry, "Authorization: Basic dTpTRUNSRVQ="),
			 1);
	SET(&scene.registry, refusal);
	assert_int_equal(get(&scene), HUSK_E_REGISTRY);
	assert_int_equal(peer_saw(&scene.registry, "GET "), 1);
	scene_close(&scene);
	scene_open(&scene, state, false);
	SET(&scene.registry, refusal);
	assert_int_equal(get(&scene), HUSK_E_REGISTRY);
	assert_int_equal(peer_saw(&scene.registry, "GET "), 1);
	assert_true(scene.err.hint[0] != '\0');
	scene_close(&scene);
}

static void test_token(void **state)
{
	static const char token[] = "{\"access_token\":\"tok\",\"expires_in\":0}";
	char challenge[256];
	struct peer_answer answers[] = {
	    {TAG, "401 No", challenge, .times = 1},
	    {TAG, "200 OK", NULL, MANIFEST},
	};
	struct peer_answer tokens[] = {
	    {"/token?service=reg%20x&scope=repository%3Ateam%2Fapp%3Apull", "200 OK",
	     NULL, .body = token, .size = sizeof(token) - 1}};
	struct scene scene;

	scene_open(&scene, state, true);
	(void)snprintf(challenge, sizeof(challenge),
		       "WWW-Authenticate: Negotiate, Bearer realm=\"http://%s/token\","
		       "service=\"reg x\"\r\n",
		       scene.other.name);
	SET(&scene.registry, answers);
	SET(&scene.other, tokens);
	assert_int_equal(get(&scene), 0);
	assert_int_equal(get(&scene), 0);
	assert_int_equal(peer_saw(&scene.registry, "Authorization: Bearer tok"), 2);
	assert_int_equal(peer_saw(&scene.other, "GET "), 1);
	/* loopback to loopback */
	assert_int_equal(peer_saw(&scene.other, "Authorization: Basic dTpTRUNSRVQ="), 1);
	scene_close(&scene);
}

/* It asks for a new token each time, and never lets anybody in. */
static void test_endless_challenges(void **state)
{
	char challenge[256];
	struct peer_answer answers[] = {
	    {"/token?scope=repository%3Ateam%2Fapp%3Apull", "200 OK", NULL,
	     .body = "{\"token\":\"t\"}", .size = 13},
	    {NULL, "401 No", challenge},
	};
	struct scene scene;

	scene_open(&scene, state, false);
	(void)snprintf(challenge, sizeof(challenge),
		       "WWW-Authenticate: Bearer realm=\"http://%s/token\"\r\n",
		       scene.registry.name);
	SET(&scene.registry, answers);
	assert_int_equal(get(&scene), HUSK_E_REGISTRY);
	assert_int_equal(peer_saw(&scene.registry, "GET /v2/"), 3);
	assert_int_equal(peer_saw(&scene.registry, "GET /token"), 2);
	scene_close(&scene);
}

/* Another port of the same machine is another origin. */
static void test_redirect_elsewhere(void **state)
{
	char location[256];
	struct peer_answer answers[] = {
	    {TAG, "401 No", "WWW-Authenticate: Basic realm=\"x\"\r\n", .times = 1},
	    {TAG, "307 There", location},
	};
	struct peer_answer there[] = {
	    {"/a%2Fb?X-Sig=SECRET%2B+x", "200 OK", NULL, MANIFEST, .times = 1},
	    {NULL, "401 No", "WWW-Authenticate: Basic realm=\"x\"\r\n"},
	};
	struct scene scene;

	scene_open(&scene, state, true);
	(void)snprintf(location, sizeof(location),
		       "Location: http://%s/a%%2Fb?X-Sig=SECRET%%2B+x\r\n",
		       scene.other.name);
	SET(&scene.registry, answers);
	SET(&scene.other, there);
	assert_int_equal(get(&scene), 0);
	assert_int_equal(peer_saw(&scene.registry, "Authorization"), 1);
	assert_int_equal(peer_saw(&scene.other, "GET "), 1);
	/* there, too, where they are asked for */
	assert_int_equal(get(&scene), HUSK_E_REGISTRY);
	assert_int_equal(peer_saw(&scene.other, "GET "), 2);
	assert_int_equal(peer_saw(&scene.other, "Authorization"), 0);
	scene_close(&scene);
}

static void test_what_is_no_manifest(void **state)
{
	static const struct {
		const char *status, *headers, *body;
		int rc;
		const char *says;
	} rows[] = {
	    {"200 OK", "Content-Type: text/html\r\n", "<html>\x1b[2JLog in\nhere</html>",
	     HUSK_E_REGISTRY, "not a registry"},
	    {"200 OK", NULL, "", HUSK_E_REGISTRY, "empty"},
	    {"204 No", NULL, "", HUSK_E_REGISTRY, "empty"},
	    {"200 OK", "Content-Encoding: gzip\r\n", "\x1f\x8b\x08", HUSK_E_REGISTRY,
	     "gzip"},
	    {"404 No", "Content-Type: text/html\r\n", "<html>", HUSK_E_REGISTRY,
	     "not a registry"},
	    {"404 No", NULL, "{\"errors\":[{\"code\":\"MANIFEST_UNKNOWN\"}]}",
	     HUSK_E_IMAGE, "no tag 1"},
	    {"404 No", NULL, "{\"errors\":[{\"code\":\"NAME_UNKNOWN\"}]}", HUSK_E_IMAGE,
	     "no repository team/app"},
	    {"403 No", NULL, "{\"errors\":[{\"message\":\"SECRET\"}]}", HUSK_E_REGISTRY,
	     "denied"},
	    {"418 Tea", NULL, "SECRET", HUSK_E_REGISTRY, "418"},
	    {"301 There", NULL, "", HUSK_E_REGISTRY, "301"},
	    {"302 There", "Location: file:///etc/passwd\r\n", "", HUSK_E_REGISTRY,
	     "http"},
	    {"302 There", "Location: " TAG "\r\n", "", HUSK_E_REGISTRY, "10 times"},
	    {"401 No", NULL, "", HUSK_E_REGISTRY, "401"},
	    {"429 Slow", "Retry-After: 99999\r\n", "", HUSK_E_REGISTRY, "99999"},
	    {"429 Slow", NULL, "", HUSK_E_REGISTRY, "too many"},
	};
	struct scene scene;

	scene_open(&scene, state, false);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct peer_answer answers[] = {{NULL, rows[i].status, rows[i].headers,
						 rows[i].body, strlen(rows[i].body)}};
		int rc;

		SET(&scene.registry, answers);
		rc = get(&scene);
		if (rc != rows[i].rc || !strstr(scene.err.message, rows[i].says))
			fail_msg("row %zu: %d, %s", i, rc, scene.err.message);
		for (const char *at = scene.err.message; *at; at++)
			assert_true((unsigned char)*at >= ' ');
	}
	scene_close(&scene);
}

static void test_digest_decides(void **state)
{
	const struct digest good = digest_of_text(manifest);
	const struct digest bad = digest_of_text("something else");
	/* a header that lies is nothing to go by */
	struct peer_answer answers[] = {
	    {NULL, "200 OK", "Docker-Content-Digest: sha256:0000\r\n", MANIFEST}};
	struct buffer body = BUFFER_INIT(0);
	struct digest found;
	struct scene scene;
	char type[128];

	scene_open(&scene, state, false);
	SET(&scene.registry, answers);
	assert_int_equal(
	    registry_manifest(scene.client, &good, &body, &found, type, NULL), 0);
	assert_true(digest_equal(&good, &found));
	assert_string_equal(type, "");
	assert_int_equal(
	    registry_manifest(scene.client, &bad, &body, &found, type, &scene.err),
	    HUSK_E_IMAGE);
	buffer_deinit(&body);
	scene_close(&scene);
}

static void test_tried_again(void **state)
{
	struct peer_answer answers[] = {
	    {TAG, "503 Later", "Retry-After: 0\r\n", .times = 1},
	    {TAG, "200 OK", NULL, MANIFEST, .short_by = 3, .times = 1},
	    {TAG, "429 Later", "Retry-After: whenever\r\n", .times = 1},
	    {TAG, "200 OK", NULL, MANIFEST},
	};
	struct scene scene;

	scene_open(&scene, state, false);
	SET(&scene.registry, answers);
	assert_int_equal(get(&scene), 0);
	assert_int_equal(peer_saw(&scene.registry, "GET "), 4);
	scene_close(&scene);
}

static int stop(void *user)
{
	(void)user;
	return 1;
}

static void test_cancelled(void **state)
{
	struct peer_answer answers[] = {{TAG, "200 OK", NULL, MANIFEST}};
	struct scene scene;

	scene_open(&scene, state, false);
	registry_free(scene.client);
	scene.options.stopped = stop;
	assert_int_equal(
	    registry_new(&scene.reference, &scene.options, &scene.client, NULL), 0);
	SET(&scene.registry, answers);
	assert_int_equal(get(&scene), HUSK_E_CANCELLED);
	scene_close(&scene);
}

static void test_mirror(void **state)
{
	struct peer_answer answers[] = {{TAG, "200 OK", NULL, MANIFEST}};
	struct peer_answer broken[] = {
	    {NULL, "401 No", "WWW-Authenticate: Basic realm=\"x\"\r\n"}};
	const char *mirrors[] = {NULL, "127.0.0.1:1", NULL};
	struct scene scene;

	scene_open(&scene, state, true);
	mirrors[0] = scene.other.name;
	registry_free(scene.client);
	scene.options.mirrors = mirrors;
	assert_int_equal(
	    registry_new(&scene.reference, &scene.options, &scene.client, NULL), 0);
	SET(&scene.other, answers);
	SET(&scene.registry, answers);
	assert_int_equal(get(&scene), 0);
	assert_int_equal(peer_saw(&scene.other, "GET "), 1);
	assert_int_equal(peer_saw(&scene.registry, "GET "), 0);
	/* it gets nobody else's credentials, and is not asked again */
	SET(&scene.other, broken);
	assert_int_equal(get(&scene), 0);
	assert_int_equal(get(&scene), 0);
	assert_int_equal(peer_saw(&scene.other, "GET "), 1);
	assert_int_equal(peer_saw(&scene.other, "Authorization"), 0);
	assert_int_equal(peer_saw(&scene.registry, "GET "), 2);
	scene_close(&scene);
}

static void test_refused_settings(void **state)
{
	static const char *const mirrors[] = {"u:SECRET@reg.example",
					      "http://reg.example", "reg.example:x", "",
					      "reg.example/?x"};
	struct registry_options options = {.certs_dirs = ""};
	struct reference reference;

	(void)state;
	assert_int_equal(reference_parse("reg.example/a", &reference, NULL), 0);
	for (size_t i = 0; i < sizeof(mirrors) / sizeof(mirrors[0]); i++) {
		const char *list[] = {mirrors[i], NULL};
		struct registry *client = NULL;
		struct husk_error err = {0};

		options.mirrors = list;
		if (registry_new(&reference, &options, &client, &err) != HUSK_E_INVALID)
			fail_msg("%s is accepted", mirrors[i]);
		assert_null(client);
		assert_null(strstr(err.message, "SECRET"));
		assert_null(strstr(err.where, "SECRET"));
	}
	assert_null(registry_free(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    PLACE_TEST(test_plain_http_on_loopback),
	    PLACE_TEST(test_basic),
	    PLACE_TEST(test_token),
	    PLACE_TEST(test_endless_challenges),
	    PLACE_TEST(test_redirect_elsewhere),
	    PLACE_TEST(test_what_is_no_manifest),
	    PLACE_TEST(test_digest_decides),
	    PLACE_TEST(test_tried_again),
	    PLACE_TEST(test_cancelled),
	    PLACE_TEST(test_mirror),
	    PLACE_TEST(test_refused_settings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
