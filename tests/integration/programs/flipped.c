/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One session: a box swaps directories and files of the workspace for links in a loop,
 * and meanwhile this program writes, reads and lists there, in turns.
 *
 *	flipped enforce|best-effort WORKSPACE FLIPPER SECRET TURNS
 *
 * FLIPPER is Python code. SECRET must never be read; names that begin with "outside" must
 * never be listed. Prints `written N refused N read N shut N listed N names N`.
 */
#include <husk.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is a directory, or a link to the outside, at any moment: at the end, on the way,
 * and both. */
static const char *const places[] = {"m", "deep/a/m", "m/sub"};
enum { PLACES = 3 };

static husk_session *session;
static husk_result *result;
static husk_cancel *cancel;
static atomic_int running;
static const char *flipper, *secret;
static long written, refused, read_whole, shut, listed, names;

static void die(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(1);
}

static void *flip(void *unused)
{
	struct husk_error err = {0};
	HUSK_CALL(call);

	call.cancel = cancel;
	call.skip_files = 1;
	running = 1;
	if (husk_session_run_code(session, "python", flipper, strlen(flipper), &call,
				  &result, &err) < 0)
		die(err.message);
	running = 0;
	return unused;
}

static void do_write(const char *place)
{
	struct husk_error err = {0};
	char path[64];
	int r;

	(void)snprintf(path, sizeof(path), "%s/new/file", place);
	r = husk_session_write(session, path, "x", 1, &err);
	if (r < 0 && r != HUSK_E_PATH)
		die(err.message);
	written += r == 0;
	refused += r < 0;
}

static void do_read(const char *place)
{
	struct husk_error err = {0};
	void *data = NULL;
	size_t size = 0;
	char path[64];
	int r;

	(void)snprintf(path, sizeof(path), "%s/secret", place);
	r = husk_session_read(session, path, 4096, &data, &size, &err);
	if (r < 0 && r != HUSK_E_PATH)
		die(err.message);
	if (r == 0 && strstr(data, secret))
		die("the secret was read");
	free(data);
	read_whole += r == 0;
	shut += r < 0;
}

static void do_list(const char *place)
{
	struct husk_error err = {0};
	husk_listing *listing = NULL;
	int r = husk_session_list(session, place, &listing, &err);

	if (r < 0 && r != HUSK_E_PATH)
		die(err.message);
	if (r < 0)
		return;
	listed++;
	for (size_t i = 0; i < husk_listing_count(listing); i++, names++)
		if (strstr(husk_listing_path(listing, i), "outside"))
			die("the outside was listed");
	husk_listing_free(listing);
}

int main(int argc, char **argv)
{
	struct husk_error err = {0};
	HUSK_OPTIONS(options);
	pthread_t thread;
	long turns;

	if (argc != 6)
		return 2;
	options.limits = strcmp(argv[1], "enforce") == 0 ? HUSK_LIMITS_ENFORCE
							 : HUSK_LIMITS_BEST_EFFORT;
	options.workspace = argv[2];
	options.timeout_ms = 600000;
	flipper = argv[3];
	secret = argv[4];
	turns = strtol(argv[5], NULL, 10);
	if (husk_session_open(&options, &session, &err) < 0 ||
	    husk_cancel_new(&cancel, &err) < 0)
		die(err.message);
	if (pthread_create(&thread, NULL, flip, NULL) != 0)
		die("no thread");
	/* The box says that it has begun by a file. */
	for (;;) {
		void *data = NULL;
		size_t size;

		if (husk_session_read(session, "begun", 0, &data, &size, NULL) == 0) {
			free(data);
			break;
		}
	}
	for (long i = 0; i < turns; i++) {
		const char *place = places[i / 3 % PLACES];

		if (i % 3 == 0)
			do_write(place);
		else if (i % 3 == 1)
			do_read(place);
		else
			do_list(i % 2 ? place : NULL);
	}
	if (!running)
		die("the box ended early");
	husk_cancel_fire(cancel);
	(void)pthread_join(thread, NULL);
	printf(
	    "written %ld refused %ld read %ld shut %ld listed %ld names %ld fault %s\n",
	    written, refused, read_whole, shut, listed, names,
	    husk_result_fault_name(result));
	husk_result_free(result);
	husk_session_close(session);
	husk_cancel_free(cancel);
	return 0;
}
