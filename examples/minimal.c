/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest program: run one command in a box and print what it wrote. Needs: a box.
 */
#include <husk.h>

#include <stdio.h>

int main(void)
{
	const char *const argv[] = {"python3", "-c", "print(6*7)", NULL};
	HUSK_OPTIONS(options);
	husk_session *session = NULL;
	husk_result *result = NULL;
	struct husk_error err = {0};
	int code = 1;

	options.limits = HUSK_LIMITS_BEST_EFFORT;
	if (husk_session_open(&options, &session, &err) < 0 ||
	    husk_session_run(session, argv, NULL, &result, &err) < 0) {
		fprintf(stderr, "%s: %s\n", err.where, err.message);
	} else {
		printf("%s", husk_result_stdout(result, NULL));
		code = husk_result_exit_code(result);
	}
	husk_result_free(result);
	husk_session_close(session);
	return code;
}
