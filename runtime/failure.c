/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words for a start that failed. Init sends a step, an errno and a subject; here they
 * become a sentence, and the remedy for what usually stands behind it. The remedies look at
 * what the host says of itself (its settings), never at what a distribution is called.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "runtime/run.h"

static bool setting_is(const char *path, const char *value)
{
	char text[64];
	ssize_t n = fd_read_text(AT_FDCWD, path, text, sizeof(text));

	return n > 0 && strncmp(text, value, strlen(value)) == 0 &&
	       (text[strlen(value)] == '\n' || text[strlen(value)] == '\0');
}

static const char *apparmor_hint(void)
{
	if (!setting_is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"))
		return NULL;
	return "sysctl kernel.apparmor_restrict_unprivileged_userns=1 restricts user namespaces: "
	       "load an AppArmor profile that allows userns for this program (husk doctor prints "
	       "one)";
}

static const char *namespace_hint(int error)
{
	const char *apparmor = apparmor_hint();

	if (error == ENOSYS)
		return "clone3 is refused: the kernel is older than 5.3, or a sandbox around us "
		       "denies it; run husk outside that sandbox";
	if (setting_is("/proc/sys/user/max_user_namespaces", "0"))
		return "user namespaces are off: sysctl user.max_user_namespaces=10000";
	if (setting_is("/proc/sys/kernel/unprivileged_userns_clone", "0"))
		return "user namespaces are off: sysctl kernel.unprivileged_userns_clone=1";
	if (error == ENOSPC)
		return "a limit on namespaces is reached: raise sysctl user.max_user_namespaces "
		       "(and its neighbours in /proc/sys/user)";
	if (apparmor)
		return apparmor;
	if (error == EPERM)
		return "creating namespaces is refused: a chroot or a container around us "
		       "(its seccomp profile) does not allow it; allow user namespaces there, or "
		       "run husk on the host";
	if (error == EAGAIN)
		return "the user's task limit is reached: raise ulimit -u or end something";
	return NULL;
}

static const char *mount_hint(uint32_t step, int error)
{
	const char *apparmor = apparmor_hint();

	if (error == ENOSYS)
		return "husk needs Linux 5.12 or later for read-only mount trees";
	if (step == STEP_PIVOT && error == EINVAL)
		return "this system runs on its initramfs root, which cannot be left: switch_root "
		       "to a tmpfs or a disk first";
	if (step == STEP_MOUNT_FS && error == EPERM)
		return "a container around us masks parts of its own /proc, so the kernel allows "
		       "no new one: run that container with an unmasked /proc "
		       "(--security-opt systempaths=unconfined)";
	if (step == STEP_OVERLAY)
		return "the kernel refuses overlay mounts in a user namespace on this file system "
		       "(Linux 5.11 or later is needed; the image must not lie on another overlay)";
	if (apparmor && (error == EPERM || error == EACCES))
		return apparmor;
	return NULL;
}

static const char *source_hint(int error)
{
	if (error == EPERM || error == EINVAL || error == EOPNOTSUPP)
		return "root's boxes run as an unprivileged id, which needs an id-mapped mount: put "
		       "the directory on ext4, xfs, btrfs or (from Linux 6.3) tmpfs, or run husk as "
		       "an ordinary user";
	if (error == ENOENT || error == ESTALE)
		return "it was moved or replaced after the session was opened: open a new session";
	return NULL;
}

static const char *hint_for(const struct box_outcome *outcome)
{
	switch (outcome->step) {
	case STEP_CLONE:
	case STEP_ID_MAP:
	case STEP_SET_IDS:
		return namespace_hint(outcome->error);
	case STEP_SOURCE:
		return source_hint(outcome->error);
	case STEP_EXEC_INIT:
		if (outcome->error == EACCES)
			return "memfds may not be executed here: sysctl vm.memfd_noexec=1, or install "
			       "husk so that its libexec file is found";
		return NULL;
	case STEP_OPEN_TREE:
		if (outcome->error == ESTALE || outcome->error == ENOENT)
			return source_hint(outcome->error);
		return mount_hint(outcome->step, outcome->error);
	case STEP_MOUNT_TREE:
		if (outcome->error == ENOENT)
			return "the mount target does not exist in the image and cannot be made "
			       "there: create it, or choose a target outside /usr and /workspace";
		return mount_hint(outcome->step, outcome->error);
	case STEP_WORKDIR:
		return "the working directory must exist in the image or in the workspace";
	default:
		return mount_hint(outcome->step, outcome->error);
	}
}

void failure_words(struct box_outcome *outcome)
{
	char text[128];
	const char *hint = hint_for(outcome);
	const char *subject = outcome->subject;

	(void)snprintf(outcome->reason, sizeof(outcome->reason), "cannot %s%s%s: %s",
		       step_words(outcome->step), subject[0] ? " " : "", subject,
		       strerror_r(outcome->error, text, sizeof(text)));
	(void)snprintf(outcome->hint, sizeof(outcome->hint), "%s", hint ? hint : "");
}
