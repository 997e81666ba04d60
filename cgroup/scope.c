/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where systemd manages the tree and has delegated no part of it to us, it is asked, once
 * per process, for a transient scope with Delegate=yes. The scope's first and only member
 * is the calling process itself, which v2.c then moves into a leaf of it; boxes are its
 * siblings there.
 *
 * Why the calling process, and not a small one that only keeps the scope alive:
 * - An ordinary user's process in a login session cannot otherwise be the parent of a
 *   process in the scope. The kernel lets a process be put into a group only by who may
 *   write to the common ancestor of its old group and the new one, which for a session
 * and the user manager's groups belongs to root.
 * - The scope then lives exactly as long as the process and what it has forked: no keeper
 *   to be supervised, nothing to be left behind by a SIGKILL at any instant, and no child
 *   that the program does not know of.
 * It is what `systemd-run --scope` does as well. What it must not do is to set the
 * process free of what its unit was bound to: the scope goes into the same slice, and
 * stops with the service that the process came from. Caps set on that very service no
 * longer bind it; a service that wants them kept says Delegate=yes, and is then not moved
 * out.
 *
 * libsystemd is loaded only here, when it is needed: it and what it depends on cost more
 * than a box does. Its environment-reading conveniences (sd_bus_open_user) are not used;
 * the sockets of the managers have fixed names.
 */
#include "cgroup/scope.h"

#include "base/fd.h"
#include "cgroup/name.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define MANAGER	      "org.freedesktop.systemd1"
#define MANAGER_PATH  "/org/freedesktop/systemd1"
#define MANAGER_IFACE "org.freedesktop.systemd1.Manager"

enum { CALL_TIMEOUT_US = 10000000, ENTER_TRIES = 5000, ENTER_PAUSE_NS = 1000000 };

/* The part of sd-bus(3) that we use; its ABI is stable. */
struct sd_bus;
struct sd_bus_message;
struct bus_error {
	const char *name;
	const char *message;
	int need_free;
};

struct sd {
	int (*new)(struct sd_bus **);
	int (*set_address)(struct sd_bus *, const char *);
	int (*set_bus_client)(struct sd_bus *, int);
	int (*set_timeout)(struct sd_bus *, uint64_t);
	int (*start)(struct sd_bus *);
	struct sd_bus *(*close_unref)(struct sd_bus *);
	int (*new_call)(struct sd_bus *, struct sd_bus_message **, const char *,
			const char *, const char *, const char *);
	int (*append)(struct sd_bus_message *, const char *, ...);
	int (*open)(struct sd_bus_message *, char, const char *);
	int (*close)(struct sd_bus_message *);
	int (*call)(struct sd_bus *, struct sd_bus_message *, uint64_t,
		    struct bus_error *, struct sd_bus_message **);
	struct sd_bus_message *(*unref)(struct sd_bus_message *);
	void (*error_free)(struct bus_error *);
};

static const struct {
	const char *name;
	size_t offset;
} symbols[] = {
    {"sd_bus_new", offsetof(struct sd, new)},
    {"sd_bus_set_address", offsetof(struct sd, set_address)},
    {"sd_bus_set_bus_client", offsetof(struct sd, set_bus_client)},
    {"sd_bus_set_method_call_timeout", offsetof(struct sd, set_timeout)},
    {"sd_bus_start", offsetof(struct sd, start)},
    {"sd_bus_flush_close_unref", offsetof(struct sd, close_unref)},
    {"sd_bus_message_new_method_call", offsetof(struct sd, new_call)},
    {"sd_bus_message_append", offsetof(struct sd, append)},
    {"sd_bus_message_open_container", offsetof(struct sd, open)},
    {"sd_bus_message_close_container", offsetof(struct sd, close)},
    {"sd_bus_call", offsetof(struct sd, call)},
    {"sd_bus_message_unref", offsetof(struct sd, unref)},
    {"sd_bus_error_free", offsetof(struct sd, error_free)},
};

static bool load(struct sd *ret, struct cgroup_obstacle *why)
{
	void *library = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);

	if (!library) {
		why->why = CGROUP_NO_LIBRARY;
		(void)snprintf(why->said, sizeof(why->said), "%s", dlerror());
		return false;
	}
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *symbol = dlsym(library, symbols[i].name);

		if (!symbol) {
			why->why = CGROUP_NO_LIBRARY;
			(void)snprintf(why->said, sizeof(why->said), "it has no %s",
				       symbols[i].name);
			return false;
		}
		memcpy((char *)ret + symbols[i].offset, &symbol, sizeof(symbol));
	}
	/* It stays loaded: it does not support being unloaded. */
	return true;
}

/* The manager's own socket, which needs no message bus; and the bus. */
struct door {
	char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	bool bus;
};

static size_t doors(struct door ret[2])
{
	unsigned uid = (unsigned)geteuid();

	ret[0].bus = false;
	ret[1].bus = true;
	if (uid == 0) {
		(void)snprintf(ret[0].path, sizeof(ret[0].path), "/run/systemd/private");
		(void)snprintf(ret[1].path, sizeof(ret[1].path),
			       "/run/dbus/system_bus_socket");
	} else {
		(void)snprintf(ret[0].path, sizeof(ret[0].path),
			       "/run/user/%u/systemd/private", uid);
		(void)snprintf(ret[1].path, sizeof(ret[1].path), "/run/user/%u/bus", uid);
	}
	return 2;
}

static int knock(const struct door *door)
{
	CLEANUP_FD int fd =
	    socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	if (fd < 0)
		return -errno;
	memcpy(address.sun_path, door->path, sizeof(address.sun_path));
	return connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
}

/* Start filling in an obstacle that is about our own group. */
static void begin(const struct cgroup_view *view, enum cgroup_why reason,
		  struct cgroup_obstacle *why)
{
	const struct cgroup_hierarchy *hierarchy = cgroup_view_unified(view);
	char shown[sizeof(why->path)];

	cgroup_show_path(hierarchy, hierarchy->own, NULL, shown, sizeof(shown));
	cgroup_obstacle_at(why, reason, 0, -1, NULL, shown);
}

static bool find_door(struct door *ret, struct cgroup_obstacle *why)
{
	struct door all[2];
	size_t count = doors(all);
	char text[128];
	int r = -ENOENT;

	for (size_t i = 0; i < count; i++) {
		r = knock(&all[i]);
		if (r == 0) {
			*ret = all[i];
			return true;
		}
	}
	why->why = CGROUP_NO_MANAGER;
	(void)snprintf(why->said, sizeof(why->said), "%s: %s", all[count - 1].path,
		       strerror_r(-r, text, sizeof(text)));
	return false;
}

bool cgroup_scope_reachable(const struct cgroup_view *view, struct cgroup_obstacle *why)
{
	struct door door;
	struct sd sd;

	begin(view, CGROUP_CLEAR, why);
	return find_door(&door, why) && load(&sd, why);
}

void cgroup_scope_parent(char *ret, size_t size)
{
	unsigned uid = (unsigned)geteuid();

	ret[0] = '\0';
	if (uid)
		(void)snprintf(ret, size, "user.slice/user-%u.slice/user@%u.service", uid,
			       uid);
}

static bool ends_in(const char *text, size_t size, const char *end)
{
	return size > strlen(end) &&
	       memcmp(text + size - strlen(end), end, strlen(end)) == 0;
}

/* Groups of slices come first in a manager's part of the tree, then that of the unit. */
void cgroup_scope_unit(const char *own, unsigned uid, struct cgroup_unit *ret)
{
	const char *at = own;
	char manager[64];

	*ret = (struct cgroup_unit){0};
	if (uid) {
		(void)snprintf(manager, sizeof(manager), "/user@%u.service/", uid);
		at = strstr(own, manager);
		if (!at)
			return;
		at += strlen(manager);
	}
	while (*at) {
		size_t size = strcspn(at, "/");

		if (size >= sizeof(ret->unit))
			return;
		if (!ends_in(at, size, ".slice")) {
			/* A user's manager is no service that stops for us. */
			if (ends_in(at, size, ".service") && strncmp(at, "user@", 5) != 0)
				(void)snprintf(ret->unit, sizeof(ret->unit), "%.*s",
					       (int)size, at);
			return;
		}
		(void)snprintf(ret->slice, sizeof(ret->slice), "%.*s", (int)size, at);
		at += size + (at[size] == '/' ? 1 : 0);
	}
}

static int fill_in(const struct sd *sd, struct sd_bus_message *call, const char *name,
		   const struct cgroup_unit *unit)
{
	int r = sd->append(call, "ss", name, "fail");

	if (r >= 0)
		r = sd->open(call, 'a', "(sv)");
	if (r >= 0)
		r = sd->append(call, "(sv)(sv)(sv)(sv)", "Description", "s", "husk boxes",
			       "CollectMode", "s", "inactive-or-failed", "Delegate", "b",
			       1, "PIDs", "au", 1, (uint32_t)getpid());
	if (r >= 0 && unit->slice[0])
		r = sd->append(call, "(sv)", "Slice", "s", unit->slice);
	if (r >= 0 && unit->unit[0])
		r = sd->append(call, "(sv)", "PartOf", "as", 1, unit->unit);
	if (r >= 0)
		r = sd->close(call);
	if (r >= 0)
		r = sd->append(call, "a(sa(sv))", 0);
	return r;
}

static int ask(const struct sd *sd, struct sd_bus *bus, const char *name,
	       const struct cgroup_unit *unit, struct bus_error *error)
{
	struct sd_bus_message *call = NULL, *reply = NULL;
	int r = sd->new_call(bus, &call, MANAGER, MANAGER_PATH, MANAGER_IFACE,
			     "StartTransientUnit");

	if (r >= 0)
		r = fill_in(sd, call, name, unit);
	if (r >= 0)
		r = sd->call(bus, call, CALL_TIMEOUT_US, error, &reply);
	(void)sd->unref(call);
	(void)sd->unref(reply);
	return r;
}

static int connect_and_ask(const struct sd *sd, const struct door *door, const char *name,
			   const struct cgroup_unit *unit, struct bus_error *error)
{
	struct sd_bus *bus = NULL;
	char address[sizeof(door->path) + 16];
	int r;

	(void)snprintf(address, sizeof(address), "unix:path=%s", door->path);
	r = sd->new (&bus);
	if (r >= 0)
		r = sd->set_address(bus, address);
	if (r >= 0)
		r = sd->set_bus_client(bus, door->bus);
	if (r >= 0)
		r = sd->set_timeout(bus, CALL_TIMEOUT_US);
	if (r >= 0)
		r = sd->start(bus);
	if (r >= 0)
		r = ask(sd, bus, name, unit, error);
	(void)sd->close_unref(bus);
	return r;
}

/* The answer comes when the job is queued. That it is done is seen in the kernel. */
static bool wait_to_be_in(const char *name)
{
	char text[8192], wanted[80];

	(void)snprintf(wanted, sizeof(wanted), "/%s", name);
	for (int i = 0; i < ENTER_TRIES; i++) {
		if (fd_read_text(-1, "/proc/self/cgroup", text, sizeof(text)) > 0 &&
		    strstr(text, wanted))
			return true;
		nanosleep(&(struct timespec){.tv_nsec = ENTER_PAUSE_NS}, NULL);
	}
	return false;
}

bool cgroup_scope_enter(const struct cgroup_view *view, struct cgroup_obstacle *why)
{
	struct bus_error error = {0};
	struct cgroup_unit unit;
	struct door door;
	struct sd sd;
	char base[CGROUP_NAME_SIZE], name[64], text[128];
	int r;

	begin(view, CGROUP_CLEAR, why);
	if (!find_door(&door, why) || !load(&sd, why))
		return false;
	r = cgroup_name_random(CGROUP_BOX_PREFIX, base);
	if (r == 0) {
		(void)snprintf(name, sizeof(name), "%s" CGROUP_SCOPE_SUFFIX, base);
		cgroup_scope_unit(cgroup_view_unified(view)->own, (unsigned)geteuid(),
				  &unit);
		r = connect_and_ask(&sd, &door, name, &unit, &error);
	}
	if (r >= 0 && wait_to_be_in(name))
		return true;
	why->why = CGROUP_MANAGER_REFUSED;
	if (r >= 0)
		(void)snprintf(why->said, sizeof(why->said), "%s was not started in time",
			       name);
	else if (error.message)
		(void)snprintf(why->said, sizeof(why->said), "%s", error.message);
	else
		(void)snprintf(why->said, sizeof(why->said), "%s",
			       strerror_r(-r, text, sizeof(text)));
	sd.error_free(&error);
	return false;
}
