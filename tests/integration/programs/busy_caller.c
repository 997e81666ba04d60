/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A caller with plenty of its own: leaves descriptors open across exec, puts secrets
 *where a careless sandbox would copy them from, then runs the program it is given in a
 *box and prints what the box printed.
 *
 *	busy_caller enforce|best-effort COUNT PROG [ARG...]
 */
#include <husk.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static void raise_limit(void)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* Files, directories, pipes and sockets, none of them close-on-exec: what a library finds
 * in other people's programs. */
static void open_plenty(long count)
{
	int pair[2];

	for (long i = 0; i + 4 <= count; i += 4) {
		if (open("/", O_RDONLY | O_DIRECTORY) < 0 ||
		    open("/etc/passwd", O_RDONLY) < 0 ||
		    socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0) {
			perror("open");
			exit(2);
		}
	}
}

int main(int argc, char **argv)
{
	HUSK_OPTIONS(options);
	husk_session *session = NULL;
	husk_result *result = NULL;
	struct husk_error err = {0};
	size_t size;
	const char *text;
	int code;

	if (argc < 4)
		return 2;
	raise_limit();
	open_plenty(strtol(argv[2], NULL, 10));
	if (strcmp(argv[1], "best-effort") == 0)
		options.limits = HUSK_LIMITS_BEST_EFFORT;
	if (husk_session_open(&options, &session, &err) < 0 ||
	    husk_session_run(session, (const char *const *)argv + 3, NULL, &result,
			     &err) < 0) {
		fprintf(stderr, "%s: %s\n", err.where, err.message);
		return 2;
	}
	text = husk_result_stdout(result, &size);
	fwrite(text, 1, size, stdout);
	text = husk_result_stderr(result, &size);
	fwrite(text, 1, size, stderr);
	if (husk_result_fault(result))
		fprintf(stderr, "%s\n", husk_result_fault_message(result));
	code = husk_result_exit_code(result);
	husk_result_free(result);
	husk_session_close(session);
	return code;
}
