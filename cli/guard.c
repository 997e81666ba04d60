/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/guard.h"

#include "cli/say.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct cli_guard_view own, *shared;

struct cli_guard_view *cli_guard_view(void)
{
	if (!shared) {
		shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (shared == MAP_FAILED)
			shared = &own;
	}
	memset(shared, 0, sizeof(*shared));
	return shared;
}

static bool is_same(const struct termios *a, const struct termios *b)
{
	return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag &&
	       a->c_cflag == b->c_cflag && a->c_lflag == b->c_lflag &&
	       memcmp(a->c_cc, b->c_cc, sizeof(a->c_cc)) == 0;
}

/* A shell that reads lines has already taken the terminal for itself when it sees its
 * child die: only what is still as husk has made it is put back. */
static void give_back(const struct cli_guard_view *view)
{
	char text[CLI_SCREEN_RESET];
	size_t size = cli_screen_reset(&view->screen, text);
	struct termios now;

	if (size > 0 && isatty(STDOUT_FILENO))
		(void)cli_write_all(STDOUT_FILENO, text, size);
	if (view->raw && tcgetattr(STDIN_FILENO, &now) == 0 &&
	    is_same(&now, &view->after))
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &view->before);
}

/* It holds nothing of husk's but the terminal: a descriptor more would be a lock that
 * outlives husk, or a pipe that does not end. */
static _Noreturn void watch(int fd, const struct cli_guard_view *view)
{
	sigset_t all;
	char leave;
	ssize_t n;

	sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, NULL);
	(void)setsid();
	(void)prctl(PR_SET_NAME, "husk-terminal");
	if (dup2(fd, STDERR_FILENO) < 0 || chdir("/") < 0)
		_exit(1);
	if (!isatty(STDOUT_FILENO))
		(void)close(STDOUT_FILENO);
	if (!isatty(STDIN_FILENO))
		(void)close(STDIN_FILENO);
	(void)syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0);
	do {
		n = read(STDERR_FILENO, &leave, 1);
	} while (n < 0 && errno == EINTR);
	if (n == 0)
		give_back(view);
	_exit(0);
}

void cli_guard_start(struct cli_guard *guard, const struct cli_guard_view *view)
{
	int ends[2];

	*guard = (struct cli_guard){.pid = -1, .fd = -1};
	if (view == &own || pipe2(ends, O_CLOEXEC) < 0)
		return;
	guard->pid = fork();
	if (guard->pid == 0) {
		(void)close(ends[1]);
		watch(ends[0], view);
	}
	(void)close(ends[0]);
	if (guard->pid < 0)
		(void)close(ends[1]);
	else
		guard->fd = ends[1];
}

void cli_guard_stop(struct cli_guard *guard)
{
	pid_t r;

	if (guard->fd < 0)
		return;
	(void)!write(guard->fd, "", 1);
	(void)close(guard->fd);
	do {
		r = waitpid(guard->pid, NULL, 0);
	} while (r < 0 && errno == EINTR);
	*guard = (struct cli_guard){.pid = -1, .fd = -1};
}
