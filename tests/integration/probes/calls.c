/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes raw system calls and says what came of each.
 *
 *	calls [here] native|i386|x32 NUMBER[:ARG...]...
 *
 * Each call is made in a child, so that one which is killed does not end the rest; with
 * `here` in the program itself. Lines: `NUMBER returned VALUE ERRNO` or `NUMBER killed
 *SIG`. An argument is a number in C's notation, or "bad" for an address where nothing is.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define X32_MARK 0x40000000L

enum { ARGS = 6, SECONDS = 5 };

struct call {
	long number;
	long args[ARGS];
};

struct answer {
	long value;
};

static void read_call(const char *text, struct call *ret)
{
	char *end;

	memset(ret, 0, sizeof(*ret));
	ret->number = strtol(text, &end, 0);
	for (int i = 0; i < ARGS && *end == ':'; i++) {
		if (strncmp(end + 1, "bad", 3) == 0) {
			ret->args[i] = 8;
			end += 4;
		} else {
			ret->args[i] = (long)strtoull(end + 1, &end, 0);
		}
	}
	if (*end != '\0') {
		fprintf(stderr, "calls: %s\n", text);
		exit(2);
	}
}

/* The old gate of 32-bit programs, which 64-bit ones can use as well. */
static long gate_i386(const struct call *call)
{
#if defined(__x86_64__)
	const long *a = call->args;
	long value;

	__asm__ volatile("int $0x80"
			 : "=a"(value)
			 : "a"(call->number), "b"(a[0]), "c"(a[1]), "d"(a[2]), "S"(a[3]),
			   "D"(a[4])
			 : "memory", "r8", "r9", "r10", "r11");
	return (int)value;
#else
	(void)call;
	return -ENOSYS;
#endif
}

static long native(long number, const long *a)
{
	long value = syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);

	return value == -1 ? -errno : value;
}

static long make(const char *abi, const struct call *call)
{
	if (strcmp(abi, "i386") == 0)
		return gate_i386(call);
	if (strcmp(abi, "x32") == 0)
		return native(call->number | X32_MARK, call->args);
	return native(call->number, call->args);
}

static void say(const struct call *call, long value)
{
	int error = value < 0 && value > -4096 ? (int)-value : 0;

	printf("%ld returned %ld %s\n", call->number, value,
	       error ? strerrorname_np(error) ? strerrorname_np(error) : "?" : "-");
	fflush(stdout);
}

static void make_in_child(const char *abi, const struct call *call, struct answer *answer)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		signal(SIGALRM, SIG_DFL);
		alarm(SECONDS);
		answer->value = make(abi, call);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		perror("calls: child");
		exit(2);
	}
	if (WIFSIGNALED(status))
		printf("%ld killed %d\n", call->number, WTERMSIG(status));
	else
		say(call, answer->value);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int here = argc > 1 && strcmp(argv[1], "here") == 0;
	struct answer *answer = mmap(NULL, sizeof(*answer), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct call call;

	if (argc < 3 + here || answer == MAP_FAILED) {
		fprintf(stderr,
			"usage: calls [here] native|i386|x32 NUMBER[:ARG...]...\n");
		return 2;
	}
	for (int i = 2 + here; i < argc; i++) {
		read_call(argv[i], &call);
		if (here)
			say(&call, make(argv[1 + here], &call));
		else
			make_in_child(argv[1], &call, answer);
	}
	return 0;
}
