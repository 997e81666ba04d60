/* SPDX-License-Identifier: Apache-2.0 */
/* The first program of the test machine: a static PID 1 in a small initramfs.
 *
 * It loads the modules that the host side packed, mounts the root disk and the project
 * disk, and moves onto the root disk for good: pivot_root refuses the initramfs, so no
 * box could start on it. Then, by the word husk.init=WORD on the kernel command line:
 *   plain    it mounts what a booted system has, starts the driver, reaps orphans, and
 *            turns the machine off when the driver ends;
 *   systemd  it puts the driver's units in /run and becomes systemd.
 * There is nobody to report to but the console: every failure is one line there and a
 * power-off, which the host side reports as a machine that ended without its end marker.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/reboot.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define GUEST "/husk/tests/vm/guest"

struct mount_row {
	const char *source, *target, *type, *data;
	unsigned long flags;
};

/* Mounted in the initramfs and moved along to the root disk. */
static const struct mount_row first_mounts[] = {
    {"devtmpfs", "/dev", "devtmpfs", "mode=0755", MS_NOSUID},
    {"proc", "/proc", "proc", NULL, MS_NOSUID | MS_NODEV | MS_NOEXEC},
    {"sysfs", "/sys", "sysfs", NULL, MS_NOSUID | MS_NODEV | MS_NOEXEC},
};

/* What systemd would mount by itself. */
static const struct mount_row plain_mounts[] = {
    {"cgroup2", "/sys/fs/cgroup", "cgroup2", "nsdelegate",
     MS_NOSUID | MS_NODEV | MS_NOEXEC},
    {"devpts", "/dev/pts", "devpts", "gid=5,mode=0620,ptmxmode=0666",
     MS_NOSUID | MS_NOEXEC},
    {"tmpfs", "/dev/shm", "tmpfs", "mode=1777", MS_NOSUID | MS_NODEV},
};

static const char *const systemd_units[] = {"husk-driver.service", "husk-tests.target"};

static void __attribute__((noreturn)) power_off(void)
{
	sync();
	reboot(LINUX_REBOOT_CMD_POWER_OFF);
	for (;;)
		pause();
}

static void __attribute__((noreturn)) fail(const char *what, const char *object)
{
	fprintf(stderr, "vm init: %s %s: %s\n", what, object, strerror(errno));
	power_off();
}

static void mount_rows(const struct mount_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct mount_row *row = &rows[i];

		(void)mkdir(row->target, 0755);
		if (mount(row->source, row->target, row->type, row->flags, row->data) < 0)
			fail("mount", row->target);
	}
}

/* /modules/order names the files in an order that satisfies their dependencies. */
static void load_modules(void)
{
	char name[128], path[160];
	FILE *order = fopen("/modules/order", "re");

	if (!order)
		fail("open", "/modules/order");
	while (fgets(name, sizeof(name), order)) {
		int fd;

		name[strcspn(name, "\n")] = '\0';
		snprintf(path, sizeof(path), "/modules/%s", name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || syscall(SYS_finit_module, fd, "", 0) < 0)
			fail("load", path);
		close(fd);
	}
	fclose(order);
}

/* Disks are probed in the background: look for one until it is there. */
static void mount_disk(const char *device, const char *target, unsigned long flags)
{
	for (int tries = 0; tries < 1000; tries++) {
		if (mount(device, target, "ext4", flags, NULL) == 0)
			return;
		if (errno != ENOENT && errno != ENXIO)
			break;
		usleep(20 * 1000);
	}
	fail("mount", device);
}

/* The initramfs stays below as the hidden first mount, as on any system that booted from
 * one; what makes the new root an ordinary one is that it has a parent mount. */
static void enter_root_disk(void)
{
	char target[64];

	for (size_t i = 0; i < sizeof(first_mounts) / sizeof(first_mounts[0]); i++) {
		snprintf(target, sizeof(target), "/disk%s", first_mounts[i].target);
		if (mount(first_mounts[i].target, target, NULL, MS_MOVE, NULL) < 0)
			fail("move", target);
	}
	if (chdir("/disk") < 0 || mount(".", "/", NULL, MS_MOVE, NULL) < 0 ||
	    chroot(".") < 0 || chdir("/") < 0)
		fail("enter", "the root disk");
}

static bool booted_for(const char *word)
{
	char line[2048], *at;
	int fd = open("/proc/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);

	if (size < 0)
		fail("read", "/proc/cmdline");
	close(fd);
	line[size] = '\0';
	at = strstr(line, "husk.init=");
	return at && strncmp(at + strlen("husk.init="), word, strlen(word)) == 0;
}

/* A second copy of systemd's unit files in the root disk would go stale; links in /run
 * point at the project disk instead. */
static void __attribute__((noreturn)) become_systemd(void)
{
	char from[128], to[128];

	(void)mkdir("/run/systemd", 0755);
	(void)mkdir("/run/systemd/system", 0755);
	for (size_t i = 0; i < sizeof(systemd_units) / sizeof(systemd_units[0]); i++) {
		snprintf(from, sizeof(from), GUEST "/%s", systemd_units[i]);
		snprintf(to, sizeof(to), "/run/systemd/system/%s", systemd_units[i]);
		if (symlink(from, to) < 0)
			fail("link", to);
	}
	execl("/lib/systemd/systemd", "systemd", "--unit=husk-tests.target",
	      (char *)NULL);
	fail("start", "systemd");
}

static void __attribute__((noreturn)) run_driver(void)
{
	pid_t driver = fork(), pid;

	if (driver < 0)
		fail("fork", "the driver");
	if (driver == 0) {
		(void)setsid();
		setenv("PATH",
		       "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
		execl("/usr/bin/python3", "python3", "-B", GUEST "/driver.py",
		      (char *)NULL);
		fail("start", "the driver");
	}
	do {
		pid = wait(NULL);
	} while (pid != driver && (pid > 0 || errno == EINTR));
	power_off();
}

int main(void)
{
	static const struct mount_row run = {"tmpfs", "/run", "tmpfs", "mode=0755",
					     MS_NOSUID | MS_NODEV};

	mount_rows(first_mounts, sizeof(first_mounts) / sizeof(first_mounts[0]));
	load_modules();
	mount_disk("/dev/vda", "/disk", 0);
	mount_disk("/dev/vdb", "/disk/husk", 0);
	enter_root_disk();
	mount_rows(&run, 1);
	if (booted_for("systemd"))
		become_systemd();
	mount_rows(plain_mounts, sizeof(plain_mounts) / sizeof(plain_mounts[0]));
	run_driver();
}
