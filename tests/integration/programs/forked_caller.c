/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A caller that forks while it has a session open.
 *
 *	forked_caller enforce|best-effort [--in-child] PROG [ARG...]
 *
 * Prints the child's pid, then runs PROG in a box: in the parent, while the child sleeps
 *on with every descriptor of it; or, with --in-child, in the child, while the parent
 *waits.
 */
#include <husk.h>

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static husk_session *session;

static int run(const char *const *argv)
{
	husk_result *result = NULL;
	struct husk_error err = {0};
	int code;

	if (husk_session_run(session, argv, NULL, &result, &err) < 0) {
		fprintf(stderr, "%s: %s\n", err.where, err.message);
		return 2;
	}
	fputs(husk_result_stdout(result, NULL), stdout);
	if (husk_result_fault(result))
		fprintf(stderr, "%s\n", husk_result_fault_message(result));
	code = husk_result_exit_code(result);
	husk_result_free(result);
	fflush(stdout);
	return code;
}

int main(int argc, char **argv)
{
	HUSK_OPTIONS(options);
	struct husk_error err = {0};
	int in_child = argc > 2 && strcmp(argv[2], "--in-child") == 0, status = 0;
	const char *const *words = (const char *const *)argv + 2 + in_child;
	pid_t pid;

	if (argc < 3 + in_child)
		return 2;
	if (strcmp(argv[1], "best-effort") == 0)
		options.limits = HUSK_LIMITS_BEST_EFFORT;
	if (husk_session_open(&options, &session, &err) < 0) {
		fprintf(stderr, "%s: %s\n", err.where, err.message);
		return 2;
	}
	/* Once before, so that everything which is made once is made. */
	if (run((const char *const[]){"true", NULL}) != 0)
		return 2;
	pid = fork();
	if (pid == 0 && !in_child) {
		sleep(60);
		_exit(0);
	}
	if (pid == 0)
		_exit(run(words));
	printf("%d\n", (int)pid);
	fflush(stdout);
	if (!in_child)
		return run(words);
	if (waitpid(pid, &status, 0) != pid)
		return 2;
	husk_session_close(session);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
