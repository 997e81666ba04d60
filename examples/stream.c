/* SPDX-License-Identifier: Apache-2.0 */
/* Standard input in, standard output as it comes, and another thread that stops the box.
 * Needs: a box. */
#include <husk.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int print_chunk(void *user, int stream, const void *data, size_t size)
{
	(void)user;
	fwrite(data, 1, size, stream == HUSK_STDERR ? stderr : stdout);
	return 0;
}

static void *stop_later(void *cancel)
{
	usleep(500 * 1000);
	husk_cancel_fire(cancel);
	return NULL;
}

int main(void)
{
	const char *const argv[] = {"sh", "-c", "sed 's/^/box: /'; sleep 60", NULL};
	const char input[] = "one\ntwo\n";
	HUSK_OPTIONS(options);
	HUSK_CALL(call);
	struct husk_error err = {0};
	husk_session *session = NULL;
	husk_result *result = NULL;
	pthread_t thread;
	int fault = 0;

	options.limits = HUSK_LIMITS_BEST_EFFORT;
	if (husk_cancel_new(&call.cancel, &err) < 0 ||
	    husk_session_open(&options, &session, &err) < 0) {
		fprintf(stderr, "%s: %s\n", err.where, err.message);
		return 1;
	}
	call.stdin_kind = HUSK_STDIN_DATA;
	call.stdin_data = input;
	call.stdin_size = strlen(input);
	call.on_output = print_chunk;
	pthread_create(&thread, NULL, stop_later, call.cancel);
	if (husk_session_run(session, argv, &call, &result, &err) < 0) {
		fprintf(stderr, "%s: %s\n", err.where, err.message);
	} else {
		fault = husk_result_fault(result);
		printf("ended: %s\n", husk_result_fault_name(result));
	}
	pthread_join(thread, NULL);
	husk_result_free(result);
	husk_session_close(session);
	husk_cancel_free(call.cancel);
	return fault == HUSK_FAULT_CANCELLED ? 0 : 1;
}
