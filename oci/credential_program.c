/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/credential_program.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/printable.h"
#include "oci/bounds.h"
#include "oci/program_child.h"
#include "oci/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	POLL_MS = 100,
	MAX_NAME = 200,
	MAX_PROGRAM = 4096,
	LINES = 6, /* of the environment */
	LINE = 4200,
};

/* One run. */
struct run {
	const struct helper *helper;
	char name[MAX_NAME + 32];  /* docker-credential-NAME */
	char program[MAX_PROGRAM]; /* where it is */
	char lines[LINES][LINE];
	char *envp[LINES + 1];
	struct buffer output;
	pid_t pid;
	int pidfd;
};

static bool good_name(const char *name)
{
	return name[0] != '\0' && strlen(name) <= MAX_NAME &&
	       name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				 "0123456789._-")] == '\0';
}

static bool can_be_run(const char *program)
{
	struct stat st;

	return fstatat(AT_FDCWD, program, &st, 0) == 0 && S_ISREG(st.st_mode) &&
	       faccessat(AT_FDCWD, program, X_OK, AT_EACCESS) == 0;
}

/* Find the program; false: nowhere. */
static bool find(struct run *run)
{
	const char *at = run->helper->path;

	while (*at) {
		int size = (int)strcspn(at, ":");

		/* A relative directory would be another one wherever the caller is. */
		if (at[0] == '/' &&
		    (size_t)snprintf(run->program, sizeof(run->program), "%.*s/%s", size,
				     at, run->name) < sizeof(run->program) &&
		    can_be_run(run->program))
			return true;
		at += size + (at[size] == ':' ? 1 : 0);
	}
	return false;
}

static void add_line(struct run *run, const char *name, const char *value,
		     const char *more)
{
	size_t n = 0;

	while (run->envp[n])
		n++;
	if (n < LINES &&
	    (size_t)snprintf(run->lines[n], LINE, "%s=%s%s", name, value, more) < LINE)
		run->envp[n] = run->lines[n];
}

/* What helpers look for: programs, the home with their settings, the keyring's bus. */
static void make_environment(struct run *run)
{
	char text[4096], bus[64];
	struct passwd entry, *found = NULL;
	struct stat st;

	add_line(run, "PATH", run->helper->path, ":/usr/local/bin:/usr/bin:/bin");
	if (getpwuid_r(geteuid(), &entry, text, sizeof(text), &found) == 0 && found) {
		add_line(run, "HOME", found->pw_dir, "");
		add_line(run, "USER", found->pw_name, "");
	}
	(void)snprintf(bus, sizeof(bus), "/run/user/%u", (unsigned)geteuid());
	if (fstatat(AT_FDCWD, bus, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISDIR(st.st_mode) && st.st_uid == geteuid()) {
		add_line(run, "XDG_RUNTIME_DIR", bus, "");
		add_line(run, "DBUS_SESSION_BUS_ADDRESS=unix:path", bus, "/bus");
	}
}

/* The descriptors of the child must not be those that they become. */
static int lift(int fd)
{
	int lifted;

	if (fd < 0 || fd > 2)
		return fd;
	lifted = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	(void)close(fd);
	return lifted;
}

/* Standard input as a file: no pipe that could fill up or break. */
static int make_input(const char *server)
{
	int fd = lift(memfd_create("server", MFD_CLOEXEC));

	if (fd >= 0 && (fd_write_all(fd, server, strlen(server)) < 0 ||
			fd_write_all(fd, "\n", 1) < 0 || lseek(fd, 0, SEEK_SET) < 0)) {
		(void)close(fd);
		return -1;
	}
	return fd;
}

static int start(struct run *run, int *ret_out, struct husk_error *err)
{
	char get[] = "get";
	char *argv[] = {run->name, get, NULL};
	CLEANUP_FD int in = make_input(run->helper->server);
	CLEANUP_FD int null = lift(openat(AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC));
	CLEANUP_FD int ours = -1, theirs = -1;
	struct program_child child;
	int ends[2] = {-1, -1}, rc;

	if (in >= 0 && null >= 0 && pipe2(ends, O_CLOEXEC) == 0) {
		ours = ends[0];
		theirs = lift(ends[1]);
	}
	if (ours < 0 || theirs < 0 || fcntl(ours, F_SETFL, O_NONBLOCK) < 0)
		return error_sys(err, errno, run->name,
				 "the credential helper cannot be started");
	child = (struct program_child){
	    .program = run->program,
	    .argv = argv,
	    .envp = run->envp,
	    .in = in,
	    .out = theirs,
	    .err = null,
	};
	rc = program_child_start(&child, &run->pid, &run->pidfd);
	if (rc < 0) {
		rc = error_set(err, HUSK_E_REGISTRY, run->name,
			       "the credential helper cannot be started: %s",
			       strerrordesc_np(-rc));
		return rc;
	}
	*ret_out = fd_take(&ours);
	return 0;
}

/* What is there now. 1: the end. */
static int drain(struct run *run, int out, struct husk_error *err)
{
	char piece[4096];
	ssize_t n;

	while ((n = read(out, piece, sizeof(piece))) > 0) {
		int rc = buffer_add(&run->output, piece, (size_t)n);

		explicit_bzero(piece, (size_t)n);
		if (rc == -ENOMEM)
			return error_oom(err, run->name);
		if (rc < 0)
			return error_set(err, HUSK_E_REGISTRY, run->name,
					 "the credential helper prints more than %d KiB",
					 (int)(OCI_MAX_HELPER_OUTPUT / OCI_KIB));
	}
	return n == 0 || (errno != EAGAIN && errno != EINTR) ? 1 : 0;
}

/* Read until it has ended. Others may hold its output open: those are not waited for. */
static int attend(struct run *run, int out, struct husk_error *err)
{
	const struct helper *helper = run->helper;
	const unsigned timeout_s =
	    helper->timeout_s ? helper->timeout_s : OCI_HELPER_TIMEOUT_S;
	const int64_t deadline = clock_ms() + (int64_t)timeout_s * 1000;
	struct pollfd wait[] = {{run->pidfd, POLLIN, 0}, {out, POLLIN, 0}};

	for (;;) {
		int rc;

		(void)poll(wait, 2, POLL_MS);
		rc = drain(run, out, err);
		if (rc < 0)
			return rc;
		if (rc > 0)
			wait[1].fd = -1;
		if (wait[0].revents)
			return 0;
		if (helper->stopped && helper->stopped(helper->user) != 0)
			return error_set(err, HUSK_E_CANCELLED, run->name,
					 "the credential helper was cancelled");
		if (clock_ms() > deadline)
			return error_set(err, HUSK_E_REGISTRY, run->name,
					 "the credential helper has not ended after %u s",
					 timeout_s);
	}
}

static int run_helper(struct run *run, struct credentials *ret, struct husk_error *err)
{
	CLEANUP_FD int out = -1;
	int rc = start(run, &out, err), status;

	if (rc < 0)
		return rc;
	rc = attend(run, out, err);
	status = program_child_end(run->pid, run->pidfd);
	fd_close(&run->pidfd);
	if (rc < 0)
		return rc;
	return helper_parse(run->name, run->output.data ? run->output.data : "",
			    run->output.size, status, ret, err);
}

int helper_get(const struct helper *helper, struct credentials *ret,
	       struct husk_error *err)
{
	struct run *run;
	char name[64];
	int rc;

	if (!good_name(helper->name))
		return error_set(err, HUSK_E_INVALID, "credential helper",
				 "\"%s\" is no name of a helper",
				 printable(name, sizeof(name), helper->name));
	run = calloc(1, sizeof(*run));
	if (!run)
		return error_oom(err, "credential helper");
	run->helper = helper;
	run->pidfd = -1;
	run->output = BUFFER_INIT(OCI_MAX_HELPER_OUTPUT);
	(void)snprintf(run->name, sizeof(run->name), "docker-credential-%s",
		       helper->name);
	rc = 1;
	if (find(run)) {
		make_environment(run);
		rc = run_helper(run, ret, err);
	}
	secret_buffer_deinit(&run->output);
	free(run);
	return rc;
}
