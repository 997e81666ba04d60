/* SPDX-License-Identifier: Apache-2.0 */
/* A program for a box: prints what holds for it, in a form that is the same in each box
 * of the same settings, and makes the file "ran" in the working directory. Two boxes that
 * print the same are shut in the same way. */
#include <dirent.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* Lines of a file that begin with one of the words; all without words. */
static void print_lines(const char *path, const char *const *words)
{
	char line[8192];
	FILE *file = fopen(path, "re");

	printf("= %s\n", path);
	while (file && fgets(line, sizeof(line), file)) {
		int wanted = words == NULL;

		for (int i = 0; words && words[i]; i++)
			wanted |= strncmp(line, words[i], strlen(words[i])) == 0;
		if (wanted)
			fputs(line, stdout);
	}
	if (file)
		fclose(file);
}

/* Without the numbers that each mount has to itself. */
static void print_mounts(void)
{
	char line[8192];
	FILE *file = fopen("/proc/self/mountinfo", "re");

	puts("= mounts");
	while (file && fgets(line, sizeof(line), file)) {
		char *rest = line;

		for (int i = 0; i < 3 && rest; i++)
			rest = strchr(rest + 1, ' ');
		if (rest)
			fputs(rest, stdout);
	}
	if (file)
		fclose(file);
}

static void print_names(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int count = 0;

	while (dir && (entry = readdir(dir)))
		count++;
	if (dir)
		closedir(dir);
	printf("= %s: %d entries\n", path, count);
}

static void print_namespaces(void)
{
	static const char *const names[] = {"cgroup", "ipc",  "mnt", "net",
					    "pid",    "user", "uts"};
	char path[64], target[64];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "/proc/self/ns/%s", names[i]);
		ssize_t size = readlink(path, target, sizeof(target) - 1);

		target[size < 0 ? 0 : size] = '\0';
		printf("namespace %s\n", target);
	}
}

static void print_loopback(void)
{
	struct ifreq lo = {.ifr_name = "lo"};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int r = ioctl(fd, SIOCGIFFLAGS, &lo);

	printf("loopback %d %#x\n", r, r == 0 ? lo.ifr_flags : 0);
	close(fd);
}

int main(void)
{
	static const char *const status[] = {
	    "PPid:",   "Uid:",	   "Gid:",   "Groups:", "Cap", "NoNewPrivs:",
	    "Seccomp", "Threads:", "SigBlk", "SigIgn",	NULL};
	char text[4096];
	int fd = open("ran", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, "yes\n", 4) != 4)
		return 9;
	close(fd);
	print_lines("/proc/self/status", status);
	print_lines("/proc/self/limits", NULL);
	print_lines("/proc/self/oom_score_adj", NULL);
	print_lines("/proc/self/cgroup", NULL);
	print_mounts();
	print_names("/");
	print_names("/dev");
	print_names("/proc/self/fd");
	print_names("/proc/sys/net/ipv4/conf");
	print_namespaces();
	print_loopback();
	gethostname(text, sizeof(text));
	printf("host name %s\n", text);
	printf("directory %s\n", getcwd(text, sizeof(text)));
	printf("session %d, group %d\n", getsid(0), getpgid(0));
	printf("umask %o\n", umask(0));
	return 0;
}
