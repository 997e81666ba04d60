/* SPDX-License-Identifier: Apache-2.0 */
/* What the host says of itself. Everything here is a hint for words; that something works
 * is for the children to find out. */
#include "runtime/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/fd.h"
#include "base/memory.h"

enum { TEXT = 4096, MOUNTS_MAX = 4 << 20 };

static const char *const space_settings[SPACE_COUNT] = {
    [SPACE_USER] = "/proc/sys/user/max_user_namespaces",
    [SPACE_PID] = "/proc/sys/user/max_pid_namespaces",
    [SPACE_MOUNT] = "/proc/sys/user/max_mnt_namespaces",
    [SPACE_NETWORK] = "/proc/sys/user/max_net_namespaces",
    [SPACE_IPC] = "/proc/sys/user/max_ipc_namespaces",
    [SPACE_UTS] = "/proc/sys/user/max_uts_namespaces",
    [SPACE_CGROUP] = "/proc/sys/user/max_cgroup_namespaces",
};

/* Sorted by how much each says. A file that is there names what is around us; text, where
 * not NULL, must be in it. */
static const struct {
	const char *path, *text, *name;
} marks[] = {
    {"/run/secrets/kubernetes.io", NULL, "Kubernetes"},
    {"/run/.containerenv", NULL, "Podman"},
    {"/.dockerenv", NULL, "Docker"},
    {"/proc/self/cgroup", "kubepods", "Kubernetes"},
    {"/proc/self/cgroup", "libpod", "Podman"},
    {"/proc/self/cgroup", "docker", "Docker"},
    {"/proc/self/cgroup", "/lxc", "LXC"},
    {"/run/systemd/container", "docker", "Docker"},
    {"/run/systemd/container", "lxc", "LXC"},
    {"/run/systemd/container", "podman", "Podman"},
    {"/run/systemd/container", "systemd-nspawn", "systemd-nspawn"},
    {"/run/systemd/container", "wsl", "WSL"},
    {"/run/systemd/container", NULL, "of an unknown kind"},
};

static long read_number(const char *path)
{
	char text[64], *end;
	long number;

	if (fd_read_text(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return FACT_ABSENT;
	number = strtol(text, &end, 10);
	return end == text || number < 0 ? FACT_ABSENT : number;
}

void probe_facts_release(const char *release, struct probe_facts *ret)
{
	(void)snprintf(ret->release, sizeof(ret->release), "%s", release);
	ret->major = ret->minor = 0;
	if (sscanf(release, "%u.%u", &ret->major, &ret->minor) != 2)
		ret->major = ret->minor = 0;
}

bool probe_facts_since(const struct probe_facts *facts, unsigned major, unsigned minor)
{
	return facts->major > major || (facts->major == major && facts->minor >= minor);
}

static bool begins(const char *text, const char *end, const char *with)
{
	size_t size = strlen(with);

	return (size_t)(end - text) >= size && memcmp(text, with, size) == 0;
}

/* proc(5): number, parent, device, root, mount point, ... " - " type. Read where it
 * stands: a caller's stack may be a small one. */
static void read_mount(const char *line, const char *end, struct probe_facts *ret)
{
	static const char *const covers[] = {"devtmpfs ", "overlay ", "proc ", "tmpfs "};
	const char *type = memmem(line, (size_t)(end - line), " - ", 3), *point = line;

	for (int field = 0; field < 4 && point; field++) {
		point = memchr(point, ' ', (size_t)(end - point));
		point += point != NULL;
	}
	if (!type || !point)
		return;
	type += 3;
	if (begins(point, end, "/ ")) {
		ret->chrooted = false;
		ret->initramfs = begins(type, end, "rootfs ");
	}
	if (!begins(point, end, "/proc/"))
		return;
	/* Others, such as binfmt_misc, lie on directories made for them and hide nothing.
	 */
	for (size_t i = 0; i < sizeof(covers) / sizeof(covers[0]); i++) {
		if (begins(type, end, covers[i]))
			ret->proc_masked = true;
	}
}

void probe_facts_mounts(const char *mountinfo, struct probe_facts *ret)
{
	ret->chrooted = *mountinfo != '\0';
	ret->initramfs = ret->proc_masked = false;
	while (*mountinfo) {
		size_t size = strcspn(mountinfo, "\n");

		read_mount(mountinfo, mountinfo + size, ret);
		mountinfo += size;
		mountinfo += *mountinfo == '\n';
	}
}

/* proc(5): "CapEff:" in hexadecimal, "Seccomp:" in decimal. */
void probe_facts_status(const char *status, struct probe_facts *ret)
{
	const char *filter = strstr(status, "\nSeccomp:");
	const char *caps = strstr(status, "\nCapEff:");
	unsigned long long effective = caps ? strtoull(caps + 8, NULL, 16) : 0;

	ret->own_seccomp = filter ? (uint32_t)strtoul(filter + 9, NULL, 10) : 0;
	ret->sys_admin = effective >> CAP_SYS_ADMIN & 1;
}

static void read_mounts(struct probe_facts *ret)
{
	struct buffer text = BUFFER_INIT(MOUNTS_MAX);
	CLEANUP_FD int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	char *at;

	for (;;) {
		ssize_t n;

		at = fd < 0 ? NULL : buffer_reserve(&text, TEXT);
		n = at ? fd_read_full(fd, at, TEXT) : 0;
		if (n <= 0)
			break;
		text.size += (size_t)n;
		text.data[text.size] = '\0';
	}
	if (text.data)
		probe_facts_mounts(text.data, ret);
	buffer_deinit(&text);
}

/* On the heap, like the mounts; NULL where it cannot be read. */
static char *text_of(const char *path)
{
	char *text = malloc(TEXT);

	if (text && fd_read_text(AT_FDCWD, path, text, TEXT) <= 0) {
		free(text);
		text = NULL;
	}
	return text;
}

static bool has_mark(const char *path, const char *text)
{
	CLEANUP_FREE char *content = NULL;

	if (!text)
		return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	content = text_of(path);
	return content && strstr(content, text);
}

static void read_container(struct probe_facts *ret)
{
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		if (!has_mark(marks[i].path, marks[i].text))
			continue;
		(void)snprintf(ret->container, sizeof(ret->container), "%s",
			       marks[i].name);
		return;
	}
}

static void read_label(struct probe_facts *ret)
{
	static const char *const paths[] = {"/proc/self/attr/apparmor/current",
					    "/proc/self/attr/current"};
	bool on =
	    faccessat(AT_FDCWD, "/sys/module/apparmor/parameters/enabled", F_OK, 0) == 0;
	char text[sizeof(ret->apparmor_label)];

	for (size_t i = 0; on && i < sizeof(paths) / sizeof(paths[0]); i++) {
		if (fd_read_text(AT_FDCWD, paths[i], text, sizeof(text)) <= 0)
			continue;
		text[strcspn(text, "\n")] = '\0';
		(void)snprintf(ret->apparmor_label, sizeof(ret->apparmor_label), "%s",
			       text);
		return;
	}
}

static void read_context(struct probe_facts *ret)
{
	char text[sizeof(ret->selinux_context)];

	if (ret->selinux_enforcing == FACT_ABSENT ||
	    fd_read_text(AT_FDCWD, "/proc/self/attr/current", text, sizeof(text)) <= 0)
		return;
	text[strcspn(text, "\n")] = '\0';
	(void)snprintf(ret->selinux_context, sizeof(ret->selinux_context), "%s", text);
}

static void read_self(struct probe_facts *ret)
{
	CLEANUP_FREE char *map = text_of("/proc/self/uid_map");
	CLEANUP_FREE char *status = text_of("/proc/self/status");
	struct statfs fs;
	struct ids ids;

	ret->uid = geteuid();
	ret->ordinary = true;
	if (map)
		ret->ordinary = ids_pick(map, ret->uid, 0, &ids) == 0 && !ids.foreign;
	if (status)
		probe_facts_status(status, ret);
	ret->proc_missing = statfs("/proc", &fs) < 0 || fs.f_type != PROC_SUPER_MAGIC;
}

void probe_facts_read(struct probe_facts *ret)
{
	struct utsname name;

	*ret = (struct probe_facts){0};
	if (uname(&name) == 0) {
		probe_facts_release(name.release, ret);
		(void)snprintf(ret->machine, sizeof(ret->machine), "%s", name.machine);
	}
	for (int i = 0; i < SPACE_COUNT; i++)
		ret->max_spaces[i] = read_number(space_settings[i]);
	ret->unprivileged_userns_clone =
	    read_number("/proc/sys/kernel/unprivileged_userns_clone");
	ret->apparmor_restrict_userns =
	    read_number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns");
	ret->memfd_noexec = read_number("/proc/sys/vm/memfd_noexec");
	ret->ptrace_scope = read_number("/proc/sys/kernel/yama/ptrace_scope");
	ret->selinux_enforcing = read_number("/sys/fs/selinux/enforce");
	read_label(ret);
	read_context(ret);
	read_self(ret);
	read_mounts(ret);
	read_container(ret);
	/* A box names its host so (runtime/launch.c) and puts every program under a
	 * filter. */
	ret->in_husk = ret->own_seccomp == 2 && strcmp(name.nodename, "husk") == 0;
}
