/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A terminal of the box's own: made in the box's devpts, so that nothing the box does to
 * it reaches a terminal of the host. The master side goes to the caller over the channel;
 * the workload has the other side as its standard streams and controlling terminal.
 */
#include "runtime/init/init.h"

#include <asm/ioctls.h>
#include <asm/termios.h>
#include <fcntl.h>

static long set_up(int master, const struct wire_header *plan)
{
	struct winsize size;
	int unlocked = 0;
	long r = raw3(SYS_ioctl, master, TIOCSPTLCK, &unlocked);

	memset(&size, 0, sizeof(size));
	size.ws_row = (unsigned short)plan->rows;
	size.ws_col = (unsigned short)plan->columns;
	return r < 0 ? r : raw3(SYS_ioctl, master, TIOCSWINSZ, &size);
}

/* We keep one descriptor of the workload's side: a program that closes all of its own and
 * opens /dev/tty later must find the terminal still there. */
void terminal_open(struct init *init)
{
	struct wire_header *plan = init->plan;
	int master, side;

	if (!plan->terminal)
		return;
	master = (int)STEP(init, STEP_TERMINAL, "/dev/pts/ptmx",
			   raw4(SYS_openat, AT_FDCWD, "/dev/pts/ptmx",
				O_RDWR | O_NOCTTY | O_CLOEXEC, 0));
	(void)STEP(init, STEP_TERMINAL, NULL, set_up(master, plan));
	side = (int)STEP(
	    init, STEP_TERMINAL, NULL,
	    raw3(SYS_ioctl, master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
	(void)STEP(init, STEP_TERMINAL, NULL,
		   report_send_fds(init, WIRE_TERMINAL, &master, 1));
	(void)raw1(SYS_close, master);
	plan->stdin_fd = (int)STEP(init, STEP_TERMINAL, NULL,
				   raw3(SYS_fcntl, side, F_DUPFD_CLOEXEC, 3));
	plan->stdout_fd = (int)STEP(init, STEP_TERMINAL, NULL,
				    raw3(SYS_fcntl, side, F_DUPFD_CLOEXEC, 3));
	plan->stderr_fd = (int)STEP(init, STEP_TERMINAL, NULL,
				    raw3(SYS_fcntl, side, F_DUPFD_CLOEXEC, 3));
	if (side <= 2) {
		(void)STEP(init, STEP_TERMINAL, NULL,
			   raw3(SYS_fcntl, side, F_DUPFD_CLOEXEC, 3));
		(void)raw1(SYS_close, side);
	}
}
