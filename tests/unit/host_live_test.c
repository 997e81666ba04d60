/* SPDX-License-Identifier: Apache-2.0 */
/* This host, looked over by whoever runs the tests, by an ordinary user, inside a user
 * namespace, and with one system call after another taken away. */
#include "tests/unit/probe_fork.h"
#include "tests/unit/skipping.h"

#include <husk/host.h>

#include <dirent.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/file.h>
#include <sys/stat.h>

static const char *finding;
static const char *remedy;

static int state_of(const husk_host *host, const char *name)
{
	for (size_t i = 0; i < husk_host_count(host); i++) {
		if (strcmp(husk_host_name(host, i), name) != 0)
			continue;
		finding = husk_host_finding(host, i);
		remedy = husk_host_remedy(host, i);
		return husk_host_state(host, i);
	}
	finding = remedy = "";
	return -1;
}

static void show(const husk_host *host)
{
	for (size_t i = 0; i < husk_host_count(host); i++) {
		if (husk_host_state(host, i) == HUSK_PROBE_MISSING)
			(void)fprintf(stderr, "%s: %s\n", husk_host_name(host, i),
				      husk_host_finding(host, i));
	}
}

/* Names in the temporary directory that are husk's. */
/* Is it a workspace that nobody holds? Others of this machine have theirs there too. */
static bool is_left(int dir, const char *name)
{
	int fd = strncmp(name, "husk-ws-", 8) == 0
		     ? openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
		     : -1;
	bool left = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) == 0;

	if (fd >= 0)
		(void)close(fd);
	return left;
}

static int count_left(void)
{
	DIR *dir = opendir("/tmp");
	struct dirent *entry;
	int count = 0;

	while (dir && (entry = readdir(dir)))
		count += is_left(dirfd(dir), entry->d_name);
	if (dir)
		(void)closedir(dir);
	return count;
}

static int lines_of(const char *path)
{
	FILE *file = fopen(path, "re");
	int lines = 0, c;

	if (!file)
		return -1;
	while ((c = getc(file)) != EOF)
		lines += c == '\n';
	(void)fclose(file);
	return lines;
}

static int lines_with(const char *path, const char *text)
{
	FILE *file = fopen(path, "re");
	char line[1024];
	int lines = 0;

	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file))
		lines += strstr(line, text) != NULL;
	(void)fclose(file);
	return lines;
}

/* What is found once for the whole process, such as its control group, is kept by it. */
static int warm_up(void)
{
	struct husk_error err = {0};
	husk_host *host = NULL;

	CHECK(husk_host_probe(&host, &err) == 0);
	husk_host_free(host);
	return 0;
}

static int usable(void *unused)
{
	struct husk_error err = {0};
	husk_host *host = NULL;
	int warm = warm_up(), fds = count_fds(),
	    mounts = lines_of("/proc/self/mountinfo"), cgroups;
	mode_t mask = umask(027);

	(void)unused;
	CHECK(warm == 0);
	cgroups = lines_of("/proc/self/cgroup");
	CHECK(husk_host_probe(&host, &err) == 0);
	if (!husk_host_usable(host))
		show(host);
	CHECK(husk_host_usable(host) == 1);
	CHECK(state_of(host, "box") == HUSK_PROBE_OK);
	CHECK(state_of(host, "user-namespace") == HUSK_PROBE_OK);
	CHECK(state_of(host, "seccomp") == HUSK_PROBE_OK);
	CHECK(state_of(host, "kernel") == HUSK_PROBE_OK);
	CHECK(husk_host_free(host) == NULL);
	CHECK(!has_child());
	CHECK(count_fds() == fds);
	CHECK(lines_of("/proc/self/mountinfo") == mounts);
	CHECK(lines_of("/proc/self/cgroup") == cgroups);
	CHECK(umask(mask) == 027);
	return 0;
}

/* Without user namespaces there is nothing to be shown here; in a chroot, say. */
static void needs_namespaces(void)
{
	long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		_exit(0);
	if (pid < 0)
		skip_because("no new process in a user namespace here");
	assert_int_equal(waitpid((pid_t)pid, NULL, 0), pid);
}

static void usable_as_we_are(void **state)
{
	(void)state;
	needs_namespaces();
	fork_done(fork_and(NULL, NULL, usable, NULL));
}

static void usable_as_an_ordinary_user(void **state)
{
	(void)state;
	needs_namespaces();
	fork_done(fork_and(become_ordinary, NULL, usable, NULL));
}

static void usable_in_a_user_namespace(void **state)
{
	(void)state;
	needs_namespaces();
	fork_done(fork_and(become_root_of_one, NULL, usable, NULL));
	fork_done(fork_and(become_ordinary_root_of_one, NULL, usable, NULL));
}

static void nothing_is_left_in_the_temporary_directory(void **state)
{
	int before = count_left();

	(void)state;
	needs_namespaces();
	for (int i = 0; i < 3; i++)
		fork_done(fork_and(NULL, NULL, usable, NULL));
	assert_true(count_left() <= before); /* others may have cleaned up */
}

/* What is taken away, and what is said then. */
struct loss {
	struct lack lack;
	const char *row;
	int state;
	int usable;
	const char *finding;
};

static int says_so(void *data)
{
	const struct loss *loss = data;
	struct husk_error err = {0};
	husk_host *host = NULL;
	int warm = warm_up(), fds = count_fds(), state;

	CHECK(warm == 0);
	CHECK(husk_host_probe(&host, &err) == 0);
	state = state_of(host, loss->row);
	if (state != loss->state || husk_host_usable(host) != loss->usable ||
	    !strstr(finding, loss->finding)) {
		(void)fprintf(stderr, "%s: state %d, usable %d: %s\n", loss->row, state,
			      husk_host_usable(host), finding);
		return FAILED;
	}
	/* The filter shows, and it is the remedy to run outside it. */
	if (loss->state == HUSK_PROBE_MISSING && remedy[0] == '\0' &&
	    !strstr(finding, "not tried")) {
		(void)fprintf(stderr, "%s: no remedy: %s\n", loss->row, finding);
		return FAILED;
	}
	husk_host_free(host);
	CHECK(!has_child());
	CHECK(count_fds() == fds);
	return 0;
}

#define ERRNO(number) (SECCOMP_RET_ERRNO | (number))

static const struct loss losses[] = {
    {{SYS_clone3, ERRNO(ENOSYS), 0, 0, 0},
     "clone3",
     HUSK_PROBE_MISSING,
     0,
     "not implemented"},
    {{SYS_clone3, ERRNO(ENOSYS), 0, 0, 0}, "procfs", HUSK_PROBE_MISSING, 0, "not tried"},
    {{SYS_mount_setattr, ERRNO(ENOSYS), 0, 0, 0},
     "mount-trees",
     HUSK_PROBE_MISSING,
     0,
     "cannot restrict the mount tree of /: Function not implemented"},
    {{SYS_open_tree, ERRNO(EPERM), 0, 0, 0},
     "mount-trees",
     HUSK_PROBE_MISSING,
     0,
     "cannot clone the mount tree of /: Operation not permitted"},
    {{SYS_fsopen, ERRNO(EPERM), 0, 0, 0},
     "mount-trees",
     HUSK_PROBE_MISSING,
     0,
     "new root"},
    {{SYS_pivot_root, SECCOMP_RET_KILL_PROCESS, 0, 0, 0},
     "pivot-root",
     HUSK_PROBE_MISSING,
     0,
     "a seccomp filter around us ends the program"},
    {{SYS_pidfd_open, ERRNO(ENOSYS), 0, 0, 0}, "pidfd", HUSK_PROBE_MISSING, 0, "called"},
    {{SYS_close_range, ERRNO(ENOSYS), 0, 0, 0},
     "close-range",
     HUSK_PROBE_MISSING,
     0,
     "called"},
    {{SYS_openat2, ERRNO(ENOSYS), 0, 0, 0}, "openat2", HUSK_PROBE_MISSING, 0, "called"},
    {{SYS_execveat, ERRNO(EACCES), 0, 0, 0},
     "init-program",
     HUSK_PROBE_MISSING,
     0,
     "Permission denied"},
    {{SYS_seccomp, ERRNO(EINVAL), 1, SECCOMP_FILTER_FLAG_NEW_LISTENER,
      SECCOMP_FILTER_FLAG_NEW_LISTENER},
     "seccomp-notify",
     HUSK_PROBE_WEAKER,
     1,
     "is not named"},
    {{SYS_mount, ERRNO(EPERM), 0, 0, 0},
     "mount-namespace",
     HUSK_PROBE_MISSING,
     0,
     "not perm"},
    {{SYS_sethostname, ERRNO(EPERM), 0, 0, 0},
     "uts-namespace",
     HUSK_PROBE_MISSING,
     0,
     "host"},
    {{SYS_ioctl, ERRNO(ENOSPC), 1, TIOCGPTPEER, TIOCGPTPEER},
     "terminal",
     HUSK_PROBE_WEAKER,
     1,
     "cannot make the terminal"},
    {{SYS_landlock_create_ruleset, ERRNO(ENOSYS), 0, 0, 0},
     "landlock",
     HUSK_PROBE_OK,
     1,
     "not here"},
};

static void what_is_taken_away_is_named(void **state)
{
	(void)state;
	needs_namespaces();
	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
		struct loss loss = losses[i];

		fork_done(fork_and(lose_call, &loss.lack, says_so, &loss));
	}
}

static int skips(void *unused)
{
	HUSK_HOST_OPTIONS(options);
	struct husk_error err = {0};
	husk_host *host = NULL;

	(void)unused;
	options.skip_images = 1;
	CHECK(husk_host_probe_with(&options, &host, &err) == 0);
	CHECK(state_of(host, "box") >= 0);
	CHECK(state_of(host, "store") == -1);
	CHECK(state_of(host, "libcurl") == -1);
	husk_host_free(host);
	CHECK(lines_with("/proc/self/maps", "libcurl") == 0);
	CHECK(husk_host_probe(&host, &err) == 0);
	CHECK(state_of(host, "store") >= 0);
	CHECK(state_of(host, "libcurl") >= 0);
	CHECK((state_of(host, "libcurl") == HUSK_PROBE_OK) ==
	      (lines_with("/proc/self/maps", "libcurl") > 0));
	husk_host_free(host);
	return 0;
}

static void images_can_be_skipped(void **state)
{
	(void)state;
	fork_done(fork_and(NULL, NULL, skips, NULL));
}

/* The store that is named is looked at, and stays as it is. */
static void a_store_is_looked_at(void **state)
{
	char dir[] = "/tmp/husk-host-XXXXXX", path[64], file[128];
	HUSK_HOST_OPTIONS(options);
	struct husk_error err = {0};
	husk_host *host = NULL;
	struct stat st;
	FILE *other;

	(void)state;
	assert_non_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/a/store", dir);
	options.store = path;
	assert_int_equal(husk_host_probe_with(&options, &host, &err), 0);
	(void)state_of(host, "store");
	assert_non_null(strstr(finding, path));
	assert_non_null(strstr(finding, "not there yet"));
	assert_null(husk_host_free(host));
	(void)snprintf(file, sizeof(file), "%s/a", dir);
	assert_int_equal(stat(file, &st), -1);
	/* Somebody's files are no store, and no place for one. */
	(void)snprintf(file, sizeof(file), "%s/notes", dir);
	other = fopen(file, "we");
	assert_non_null(other);
	assert_int_equal(fclose(other), 0);
	options.store = dir;
	assert_int_equal(husk_host_probe_with(&options, &host, &err), 0);
	assert_int_equal(state_of(host, "store"), HUSK_PROBE_WEAKER);
	assert_non_null(strstr(finding, "notes"));
	assert_true(remedy[0] != '\0');
	assert_null(husk_host_free(host));
	assert_int_equal(unlink(file), 0);
	assert_int_equal(rmdir(dir), 0);
}

static void options_are_checked(void **state)
{
	HUSK_HOST_OPTIONS(options);
	struct husk_error err = {0};
	husk_host *host = NULL;

	(void)state;
	options.store = "relative";
	assert_int_equal(husk_host_probe_with(&options, &host, &err), HUSK_E_INVALID);
	options.store = NULL;
	options.reserved = 1;
	assert_int_equal(husk_host_probe_with(&options, &host, &err), HUSK_E_INVALID);
	options.reserved = 0;
	options.size = 0;
	assert_int_equal(husk_host_probe_with(&options, &host, &err), HUSK_E_INVALID);
	assert_null(host);
}

static void a_null_pointer_is_an_error(void **state)
{
	struct husk_error err = {0};

	(void)state;
	assert_int_equal(husk_host_probe(NULL, &err), HUSK_E_INVALID);
	assert_true(err.where[0] != '\0');
}

int main(void)
{
	const struct CMUnitTest host_live[] = {
	    cmocka_unit_test(usable_as_we_are),
	    cmocka_unit_test(usable_as_an_ordinary_user),
	    cmocka_unit_test(usable_in_a_user_namespace),
	    cmocka_unit_test(nothing_is_left_in_the_temporary_directory),
	    cmocka_unit_test(what_is_taken_away_is_named),
	    cmocka_unit_test(images_can_be_skipped),
	    cmocka_unit_test(a_store_is_looked_at),
	    cmocka_unit_test(options_are_checked),
	    cmocka_unit_test(a_null_pointer_is_an_error),
	};

	return cmocka_run_group_tests(host_live, NULL, NULL);
}
