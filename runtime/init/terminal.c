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
#include <sys/socket.h>

/* One descriptor as ancillary data, cmsg(3). */
struct rights {
	size_t length;
	int level, type;
	int fd;
	int padding;
};

static long send_master(const struct init *init, int master)
{
	struct wire_report report;
	struct rights rights;
	struct iovec part = {&report, sizeof(report)};
	struct msghdr message;

	memset(&report, 0, sizeof(report));
	report.message = WIRE_TERMINAL;
	memset(&rights, 0, sizeof(rights));
	rights.length = offsetof(struct rights, fd) + sizeof(rights.fd);
	rights.level = SOL_SOCKET;
	rights.type = SCM_RIGHTS;
	rights.fd = master;
	memset(&message, 0, sizeof(message));
	message.msg_iov = &part;
	message.msg_iovlen = 1;
	message.msg_control = &rights;
	message.msg_controllen = sizeof(rights);
	return raw3(SYS_sendmsg, init->plan->channel_fd, &message, MSG_NOSIGNAL);
}

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
	(void)STEP(init, STEP_TERMINAL, NULL, send_master(init, master));
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
