/* SPDX-License-Identifier: Apache-2.0 */
/* Which failures are tried again, how often, and for how long a registry may keep us. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "oci/bounds.h"
#include "oci/retry.h"

static void test_retry_after(void **state)
{
	/* 784111777 is Sun, 06 Nov 1994 08:49:37 GMT. */
	static const struct {
		const char *value;
		int64_t wanted;
	} rows[] = {
	    {"0", 0},
	    {"1", 1},
	    {"99999", 99999},
	    {"Sun, 06 Nov 1994 08:49:37 GMT", 0},
	    {"Sun, 06 Nov 1994 08:49:47 GMT", 10},
	    {"Sun, 06 Nov 1994 08:49:17 GMT", 0},
	    {"Mon, 07 Nov 1994 08:49:37 GMT", 86400},
	    {"", -1},
	    {"soon", -1},
	    {"-1", -1},
	    {"1.5", -1},
	    {"1 s", -1},
	    {"Sun, 06 Foo 1994 08:49:37 GMT", -1},
	    {"Sun, 06 Nov 1994 08:49:37 CET", -1},
	    {"Sun, 06 Nov 1994 08:49:37 GMT+1", -1},
	    {"Sunday, 06-Nov-94 08:49:37 GMT", -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t found = retry_after(rows[i].value, 784111777);

		if (found != rows[i].wanted)
			fail_msg("%s: %lld", rows[i].value, (long long)found);
	}
	assert_true(retry_after("99999999999999999999999", 0) > OCI_MAX_RETRY_AFTER_S);
}

/* A server that fails so often, and then answers. */
struct server {
	int failures; /* -1: always */
	long status;  /* what it answers then; 0: failure says why it does not */
	enum http_failure failure;
	const char *retry_after;
	uint64_t brings; /* bytes of each try */
	int tries;
	uint64_t bytes;
	int stop_at; /* stopped says so from this try on; 0: never */
};

static int attempt(void *user, struct http_answer *answer, struct husk_error *err)
{
	struct server *server = user;

	server->tries++;
	server->bytes += server->brings;
	http_answer_deinit(answer);
	answer->status = 200;
	if (server->failures >= 0 && server->tries > server->failures)
		return 0;
	answer->status = server->status;
	if (server->retry_after)
		(void)snprintf(answer->retry_after, sizeof(answer->retry_after), "%s",
			       server->retry_after);
	answer->failure = server->failure;
	return server->status ? 0 : error_set(err, HUSK_E_REGISTRY, "test", "failed");
}

static uint64_t progress(void *user)
{
	return ((struct server *)user)->bytes;
}

static int stopped(void *user)
{
	const struct server *server = user;

	return server->stop_at > 0 && server->tries >= server->stop_at;
}

static int run(struct server *server, long *ret_status, struct husk_error *err)
{
	const struct retry retry = {
	    .host = "test",
	    .attempt = attempt,
	    .progress = progress,
	    .user = server,
	    .stopped = stopped,
	    .stopped_user = server,
	    .pause_ms = 1,
	};
	struct http_answer answer;
	int rc;

	http_answer_init(&answer);
	rc = retry_run(&retry, &answer, err);
	*ret_status = answer.status;
	http_answer_deinit(&answer);
	return rc;
}

static void test_what_is_tried_again(void **state)
{
	static const struct {
		struct server server;
		int rc, tries;
		long status;
	} rows[] = {
	    {{.failures = 0}, 0, 1, 200},
	    {{.failures = 2, .status = 503}, 0, 3, 200},
	    {{.failures = 1, .status = 429}, 0, 2, 200},
	    {{.failures = 1, .status = 502}, 0, 2, 200},
	    {{.failures = 1, .status = 504}, 0, 2, 200},
	    {{.failures = -1, .status = 503}, 0, OCI_MAX_TRIES, 503},
	    {{.failures = -1, .status = 500}, 0, 1, 500},
	    {{.failures = -1, .status = 404}, 0, 1, 404},
	    {{.failures = 1, .failure = HTTP_CUT}, 0, 2, 200},
	    {{.failures = 1, .failure = HTTP_AGAIN}, 0, 2, 200},
	    {{.failures = -1, .failure = HTTP_CUT}, HUSK_E_REGISTRY, OCI_MAX_TRIES, 0},
	    {{.failures = -1, .failure = HTTP_STALLED}, HUSK_E_REGISTRY, 2, 0},
	    {{.failures = -1, .failure = HTTP_REFUSED}, HUSK_E_REGISTRY, 1, 0},
	    {{.failures = -1, .failure = HTTP_OTHER}, HUSK_E_REGISTRY, 1, 0},
	    /* with progress it may take longer, but not for ever */
	    {{.failures = 20, .failure = HTTP_CUT, .brings = OCI_MIB}, 0, 21, 200},
	    {{.failures = 20, .failure = HTTP_CUT, .brings = 1},
	     HUSK_E_REGISTRY,
	     OCI_MAX_TRIES,
	     0},
	    {{.failures = -1, .failure = HTTP_CUT, .brings = OCI_MIB},
	     HUSK_E_REGISTRY,
	     64,
	     0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct server server = rows[i].server;
		struct husk_error err = {0};
		long status;
		int rc = run(&server, &status, &err);

		if (rc != rows[i].rc || server.tries != rows[i].tries ||
		    (rc == 0 && status != rows[i].status))
			fail_msg("row %zu: %d after %d tries, status %ld", i, rc,
				 server.tries, status);
	}
}

static void test_how_long_is_waited(void **state)
{
	struct server server = {.failures = -1, .status = 429, .retry_after = "99999"};
	struct husk_error err = {0};
	long status;

	(void)state;
	assert_int_equal(run(&server, &status, &err), HUSK_E_REGISTRY);
	assert_int_equal(server.tries, 1);
	assert_non_null(strstr(err.message, "99999"));
	assert_true(err.hint[0] != '\0');
	server = (struct server){.failures = 1, .status = 503, .retry_after = "garbage"};
	assert_int_equal(run(&server, &status, &err), 0);
	assert_int_equal(server.tries, 2);
}

/* In the middle of a pause of a minute. */
static void test_stopped(void **state)
{
	struct server server = {
	    .failures = -1, .status = 503, .retry_after = "60", .stop_at = 1};
	struct husk_error err = {0};
	long status;

	(void)state;
	assert_int_equal(run(&server, &status, &err), HUSK_E_CANCELLED);
	assert_int_equal(server.tries, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_retry_after),
	    cmocka_unit_test(test_what_is_tried_again),
	    cmocka_unit_test(test_how_long_is_waited),
	    cmocka_unit_test(test_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
