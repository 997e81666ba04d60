/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/terminal.h"

#include "cli/guard.h"
#include "cli/say.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* What a terminal may take to answer: that of a distant one comes over a network. */
enum { ANSWER_MS = 500 };

/* Signal handlers see this. */
static struct {
	int fd;			     /* the terminal whose size counts, or -1 */
	int sizes[2];		     /* a pipe: new sizes for the library */
	struct cli_guard_view *view; /* what is to be put back */
	struct cli_guard guard;
} terminal = {.fd = -1, .sizes = {-1, -1}, .guard = {.pid = -1, .fd = -1}};

static bool get_size(struct husk_size *ret)
{
	struct winsize size;

	if (terminal.fd < 0 || ioctl(terminal.fd, TIOCGWINSZ, &size) < 0)
		return false;
	*ret = (struct husk_size){.rows = size.ws_row, .columns = size.ws_col};
	return size.ws_row > 0 && size.ws_col > 0;
}

static void on_resize(int number)
{
	struct husk_size size;
	int saved = errno;

	(void)number;
	if (get_size(&size))
		(void)!write(terminal.sizes[1], &size, sizeof(size));
	errno = saved;
}

/* Stopped from outside: the shell that then speaks gets its terminal as it was. */
static void on_stop(int number)
{
	int saved = errno;

	if (terminal.view->raw)
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &terminal.view->before);
	(void)kill(getpid(), SIGSTOP);
	if (terminal.view->raw)
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &terminal.view->after);
	on_resize(number);
	errno = saved;
}

/* What ends husk without a word: the terminal is given back all the same. */
static void on_death(int number)
{
	if (terminal.view->raw)
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &terminal.view->before);
	(void)raise(number); /* SA_RESETHAND, SA_NODEFER: now as usual */
}

static const int deaths[] = {SIGQUIT, SIGABRT, SIGALRM, SIGUSR1,   SIGUSR2, SIGXCPU,
			     SIGXFSZ, SIGPROF, SIGIO,	SIGVTALRM, SIGSEGV, SIGBUS};

static void watch_deaths(bool watch)
{
	struct sigaction action = {.sa_handler = on_death,
				   .sa_flags = (int)SA_RESETHAND | SA_NODEFER};
	struct sigaction old;

	for (size_t i = 0; i < sizeof(deaths) / sizeof(deaths[0]); i++) {
		if (sigaction(deaths[i], NULL, &old) < 0)
			continue;
		if (watch && old.sa_handler == SIG_DFL)
			(void)sigaction(deaths[i], &action, NULL);
		else if (!watch && old.sa_handler == on_death)
			(void)signal(deaths[i], SIG_DFL);
	}
}

static void handle(int number, void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};

	sigemptyset(&action.sa_mask);
	(void)sigaction(number, &action, NULL);
}

static int find_terminal(void)
{
	static const int fds[] = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (isatty(fds[i]))
			return fds[i];
	}
	return -1;
}

/* As cfmakeraw(3). */
static void go_raw(void)
{
	if (!isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &terminal.view->before) < 0)
		return;
	terminal.view->after = terminal.view->before;
	cfmakeraw(&terminal.view->after);
	/* After what was printed so far; what was typed ahead is for the box. */
	terminal.view->raw =
	    tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal.view->after) == 0;
}

void cli_terminal_take(struct husk_call *call, bool typing)
{
	struct husk_size size;

	call->terminal = 1;
	terminal.view = cli_guard_view();
	terminal.fd = find_terminal();
	if (get_size(&size)) {
		call->terminal_rows = size.rows;
		call->terminal_columns = size.columns;
	}
	if (terminal.fd >= 0 && pipe2(terminal.sizes, O_CLOEXEC | O_NONBLOCK) == 0) {
		call->resize_fd = terminal.sizes[0];
		handle(SIGWINCH, on_resize);
	}
	watch_deaths(true);
	if (typing)
		go_raw();
	if (terminal.view->raw || isatty(STDOUT_FILENO))
		cli_guard_start(&terminal.guard, terminal.view);
	handle(SIGTSTP, on_stop);
	on_resize(0); /* what changed meanwhile */
}

/* Does what is read end with the answer to "\033[5n", a terminal's "I am well"? */
static bool is_answered(const char *data, ssize_t size, size_t *at)
{
	static const char answer[] = "\033[0n";

	for (ssize_t i = 0; i < size && *at < sizeof(answer) - 1; i++) {
		if (data[i] == answer[*at])
			++*at;
		else
			*at = data[i] == answer[0];
	}
	return *at == sizeof(answer) - 1;
}

/* What the box has asked the terminal is answered by typing, and what comes after the box
 * has ended would be typed into the shell. A terminal answers in the order in which it is
 * asked: with the answer to one more question all the others are there, and can be
 * dropped. */
static void await_answers(void)
{
	static const char question[] = "\033[5n";
	struct pollfd look = {.fd = STDIN_FILENO, .events = POLLIN};
	size_t at = 0;
	char data[256];
	ssize_t n = 0;

	if (!terminal.view->raw || !terminal.view->screen.asked ||
	    !isatty(STDOUT_FILENO) || tcgetpgrp(STDIN_FILENO) != getpgrp() ||
	    cli_write_all(STDOUT_FILENO, question, sizeof(question) - 1) < 0)
		return;
	while (!is_answered(data, n, &at) && poll(&look, 1, ANSWER_MS) > 0) {
		n = read(STDIN_FILENO, data, sizeof(data));
		if (n <= 0)
			return;
	}
}

void cli_terminal_release(void)
{
	char text[CLI_SCREEN_RESET];
	size_t size = cli_screen_reset(&terminal.view->screen, text);

	(void)signal(SIGWINCH, SIG_DFL);
	(void)signal(SIGTSTP, SIG_DFL);
	if (size > 0 && isatty(STDOUT_FILENO))
		(void)cli_write_all(STDOUT_FILENO, text, size);
	await_answers();
	/* Keys that nobody has read, and answers of the terminal to the box, are not for
	 * the shell that comes next: TCSAFLUSH drops them. */
	if (terminal.view->raw)
		(void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &terminal.view->before);
	terminal.view->raw = 0;
	cli_guard_stop(&terminal.guard);
	watch_deaths(false);
	terminal.fd = -1;
	for (int i = 0; i < 2; i++) {
		if (terminal.sizes[i] >= 0)
			(void)close(terminal.sizes[i]);
		terminal.sizes[i] = -1;
	}
}

void cli_terminal_saw(const char *data, size_t size)
{
	cli_screen_see(&terminal.view->screen, data, size);
}

void cli_terminal_say(const char *line)
{
	const char *end = terminal.view->raw ? "\r\n" : "\n";

	(void)cli_write_all(STDERR_FILENO, end, strlen(end));
	(void)cli_write_all(STDERR_FILENO, line, strlen(line));
	(void)cli_write_all(STDERR_FILENO, end, strlen(end));
}
