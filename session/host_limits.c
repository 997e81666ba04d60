/* SPDX-License-Identifier: Apache-2.0 */
/* Rows about limits: what control groups enforce here, and whether systemd can help. */
#include "session/host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"

static const struct cgroup_host_controller *controller(const struct host_view *view,
						       int which)
{
	const struct cgroup_host_controller *const all[] = {
	    &view->limits.memory, &view->limits.cpus, &view->limits.pids};

	return all[which];
}

void host_judge_limit(const struct host_view *view, int which, struct host_row *row)
{
	const struct cgroup_host_controller *one = controller(view, which);

	if (!view->has_limits) {
		host_find(row, HUSK_PROBE_WEAKER,
			  "what control groups can do here cannot be found out");
		return;
	}
	if (one->enforceable) {
		host_find(
		    row, HUSK_PROBE_OK, "enforced by the kernel (cgroup %s)%s%s%s",
		    view->limits.driver_name, one->path[0] ? ", in " : "", one->path,
		    view->limits.moves_caller
			? "; the first box moves the calling process into a group of its "
			  "own below it"
			: "");
		return;
	}
	host_find(row, HUSK_PROBE_WEAKER,
		  "not enforced: %s; %s need --limits best-effort",
		  one->why[0] ? one->why : "there is no usable control group",
		  which == HOST_LIMIT_CPUS ? "runs with --cpus" : "runs");
	host_advise(row, one->remedy);
}

/* The driver in one line; the rows after it say what is enforced where, and the remedy.
 */
void host_judge_cgroup(const struct host_view *view, int which, struct host_row *row)
{
	static const struct {
		const char *name;
		enum host_limit limit;
	} all[] = {{"memory", HOST_LIMIT_MEMORY},
		   {"CPU", HOST_LIMIT_CPUS},
		   {"tasks", HOST_LIMIT_PIDS}};
	char held[64] = "";
	size_t used = 0, count = 0;

	(void)which;
	for (size_t i = 0; view->has_limits && i < sizeof(all) / sizeof(all[0]); i++) {
		const struct cgroup_host_controller *one =
		    controller(view, (int)all[i].limit);

		if (!one->enforceable) {
			host_advise(row, one->remedy);
			continue;
		}
		used += (size_t)snprintf(held + used, sizeof(held) - used, "%s%s",
					 count++ > 0 ? ", " : "", all[i].name);
	}
	host_find(row, count == 3 ? HUSK_PROBE_OK : HUSK_PROBE_WEAKER,
		  "driver %s: it can enforce %s",
		  view->has_limits ? view->limits.driver_name : "none",
		  count == 0   ? "nothing"
		  : count == 3 ? "caps on memory, CPU and tasks"
			       : held);
}

/* The socket is only connected to: nothing is asked. Never waits. */
static bool takes_connections(const char *path)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	CLEANUP_FD int fd =
	    socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return false;
	(void)snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
	return connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0 ||
	       errno == EAGAIN;
}

void host_gather_systemd(unsigned uid, struct host_systemd *ret)
{
	char path[64];

	/* As sd_booted(3) tells it. */
	ret->running =
	    faccessat(AT_FDCWD, "/run/systemd/system", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	if (uid == 0)
		(void)snprintf(path, sizeof(path), "/run/dbus/system_bus_socket");
	else
		(void)snprintf(path, sizeof(path), "/run/user/%u/bus", uid);
	ret->manager = takes_connections(path);
}

void host_judge_systemd(const struct host_view *view, int which, struct host_row *row)
{
	const struct host_systemd *systemd = &view->systemd;
	bool needed = !view->has_limits || !view->limits.memory.enforceable ||
		      !view->limits.cpus.enforceable || !view->limits.pids.enforceable;
	bool root = view->facts.uid == 0;

	(void)which;
	if (!systemd->running) {
		host_find(row, HUSK_PROBE_OK, "not running here");
	} else if (systemd->manager) {
		host_find(row, HUSK_PROBE_OK, "%s takes requests",
			  root ? "the system's manager" : "this user's manager");
	} else if (!needed) {
		host_find(row, HUSK_PROBE_OK,
			  "%s is not reachable; limits do not need it",
			  root ? "the system's manager" : "this user's manager");
	} else {
		host_find(row, HUSK_PROBE_WEAKER,
			  "%s is not reachable, so it cannot give boxes a control group",
			  root ? "the system's manager" : "this user's manager");
		host_advise(
		    row, root
			     ? "install and start dbus: systemctl start dbus.socket"
			     : "loginctl enable-linger USER as root, then log in as that "
			       "user (ssh or machinectl shell, not su)");
	}
}
