/* SPDX-License-Identifier: Apache-2.0 */
/* Run the image that a file holds: import it, and run its own command in a box. Needs: a
 * box.
 *
 *	image FILE NAME		FILE: a root file system's tar, an OCI archive...
 *	image			says how to use it
 */
#include <husk.h>

#include <stdio.h>

static int progress(void *user, const struct husk_progress *event)
{
	(void)user;
	if (event->kind == HUSK_PROGRESS_LAYER_DONE)
		fprintf(stderr, "%s\n", event->digest);
	return 0;
}

static int run(const char *path, const char *name, struct husk_error *err)
{
	HUSK_IMAGE_OPTIONS(images);
	HUSK_OPTIONS(options);
	husk_session *session = NULL;
	husk_result *result = NULL;
	int code = -1;

	images.on_progress = progress;
	if (husk_image_import(path, name, &images, NULL, err) < 0)
		return -1;
	options.image = name;
	options.images = &images;
	options.pull = HUSK_PULL_NEVER; /* it is there */
	options.limits = HUSK_LIMITS_BEST_EFFORT;
	if (husk_session_open(&options, &session, err) == 0 &&
	    husk_session_run(session, NULL, NULL, &result, err) == 0) {
		printf("%s", husk_result_stdout(result, NULL));
		code = husk_result_exit_code(result);
	}
	husk_result_free(result);
	husk_session_close(session);
	return code;
}

int main(int argc, char **argv)
{
	struct husk_error err = {0};
	int code;

	if (argc != 3) {
		printf("usage: image FILE NAME\n");
		return 0;
	}
	code = run(argv[1], argv[2], &err);
	if (code < 0)
		fprintf(stderr, "%s: %s\n%s\n", err.where, err.message, err.hint);
	return code < 0 ? 1 : code;
}
