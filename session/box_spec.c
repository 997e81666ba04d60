/* SPDX-License-Identifier: Apache-2.0 */
/* From options to what every box of the session has in common. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/memory.h"
#include "session/deps.h"
#include "session/mount_check.h"
#include "session/session.h"

#ifdef __x86_64__
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#else
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#endif

#define DEFAULT_MEMORY (UINT64_C(512) << 20)
#define DEFAULT_TMP    (UINT64_C(256) << 20)

enum {
	DEFAULT_PIDS = 256,
	MOUNTS_MAX = 256,
};

static int check_duplicate(const struct box_spec *spec, const char *target,
			   struct husk_error *err)
{
	for (size_t i = 0; i < spec->mount_count; i++) {
		const char *other = spec->mounts[i].target;

		if (other && strcmp(other, target) == 0)
			return error_set(err, HUSK_E_MOUNT_REFUSED, "mounts",
					 "two of them have the target /%.200s", target);
	}
	return 0;
}

static int add_mount(const struct husk_options *options, const struct husk_mount *mount,
		     struct box_spec *spec, struct husk_error *err)
{
	struct box_mount made = {.source = SOURCE_INIT};
	int r;

	if (!mount->source || !mount->target)
		return error_set(err, HUSK_E_INVALID, "mounts",
				 "a source or target is missing");
	if ((mount->flags & ~HUSK_MOUNT_ALLOW_WRITE) || mount->reserved)
		return error_set(err, HUSK_E_INVALID, "mounts", "unknown flags 0x%x",
				 mount->flags);
	made.writable = mount->flags & HUSK_MOUNT_ALLOW_WRITE;
	r = source_check_target(mount->target, &made.target, err);
	if (r == 0)
		r = check_duplicate(spec, made.target, err);
	if (r == 0)
		r = source_pin(mount->source, "mount source", &made.source, err);
	if (r == 0)
		r = mount_check(options, &made.source, err);
	if (r == 0) {
		spec->mounts[spec->mount_count++] = made;
		return 0;
	}
	source_deinit(&made.source);
	free(made.target);
	return r;
}

static int add_mounts(const struct husk_options *options, struct box_spec *spec,
		      struct husk_error *err)
{
	int r = 0;

	spec->mount_count = 0;
	if (options->mount_count == 0)
		return 0;
	if (options->mount_count > MOUNTS_MAX || !options->mounts)
		return error_set(err, HUSK_E_INVALID, "mounts", "there may be at most %d",
				 MOUNTS_MAX);
	spec->mounts = calloc(options->mount_count, sizeof(*spec->mounts));
	if (!spec->mounts)
		return error_oom(err, "mounts");
	for (size_t i = 0; r == 0 && i < options->mount_count; i++)
		r = add_mount(options, &options->mounts[i], spec, err);
	return r;
}

static int copy_program(const struct seccomp_program *from, struct seccomp_program *to,
			struct husk_error *err)
{
	size_t size = from->count * sizeof(from->insns[0]);
	struct sock_filter *copy = malloc(size ? size : 1);

	if (!copy)
		return error_oom(err, "seccomp");
	memcpy(copy, from->insns, size);
	*to =
	    (struct seccomp_program){.insns = copy, .count = from->count, .owned = true};
	return 0;
}

static bool lets_pass(const struct seccomp_program *program, uint32_t nr)
{
	uint32_t answer = seccomp_answer(program, NATIVE_ARCH, nr);

	return answer == SECCOMP_RET_ALLOW || answer == SECCOMP_RET_LOG;
}

/* Under a filter that refuses these, the program could not be executed, and what tried to
 * could not even end. */
static int check_profile(const char *name, const struct seccomp_program *program,
			 struct husk_error *err)
{
	static const struct {
		uint32_t nr;
		const char *name;
	} needed[] = {{SYS_execve, "execve"}, {SYS_exit_group, "exit_group"}};

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		if (lets_pass(program, needed[i].nr))
			continue;
		error_set(
		    err, HUSK_E_INVALID, name,
		    "the profile does not allow %s, so no program could run under it",
		    needed[i].name);
		error_hint(err, "allow execve and exit_group in the profile");
		return HUSK_E_INVALID;
	}
	return 0;
}

static int set_filter(const char *name, struct box_spec *spec, struct husk_error *err)
{
	int r;

	if (!name)
		name = "default";
	if (seccomp_builtin(name, &spec->filter) < 0) {
		r = seccomp_profile_load(name, &spec->filter, err);
		if (r == 0)
			r = check_profile(name, &spec->filter, err);
		if (r < 0)
			return r;
	}
	/* Who gives a profile that lets unshare pass wants namespaces in the box. */
	spec->no_user_spaces = !lets_pass(&spec->filter, SYS_unshare);
	r = copy_program(&spec->filter, &spec->plain, err);
	if (r == 0 && seccomp_without_notify(&spec->plain) < 0)
		r = error_oom(err, "seccomp");
	return r;
}

static uint64_t cap(uint64_t asked, uint64_t fallback)
{
	if (asked == HUSK_UNLIMITED)
		return 0;
	return asked ? asked : fallback;
}

/* A directory that the caller named keeps its owner and is id-mapped for the box. Our own
 * temporary one simply belongs to the id that the box runs as: that needs no file system
 * that can be id-mapped, and no time. */
static int give_workspace(struct husk_session *session, struct husk_error *err)
{
	struct box_spec *spec = &session->spec;

	spec->workspace_idmapped = spec->ids.foreign && !session->workspace.temporary;
	if (!spec->ids.foreign || spec->workspace_idmapped)
		return 0;
	if (fchown(session->workspace.fd, spec->ids.uid, spec->ids.gid) < 0)
		return error_sys(err, errno, session->workspace.path,
				 "cannot give it to the box");
	return 0;
}

/* All that needs no workspace. */
static int make_parts(const struct husk_options *options, bool fetch,
		      struct image_root *root, struct box_spec *spec,
		      struct husk_error *err)
{
	int r;

	spec->host_network = options->allow_network != 0;
	spec->writable_root = options->allow_writable_root != 0;
	spec->tmp_bytes = options->tmp_bytes ? options->tmp_bytes : DEFAULT_TMP;
	spec->caps.memory_bytes = cap(options->memory_bytes, DEFAULT_MEMORY);
	spec->caps.cpu_milli = cap(options->cpu_milli, 0);
	spec->caps.pids = cap(options->pids, DEFAULT_PIDS);
	spec->enforce = options->limits == HUSK_LIMITS_ENFORCE;
	r = ids_choose(&spec->ids, err);
	if (r == 0)
		r = image_root_set(options, fetch, root, spec, err);
	if (r == 0)
		r = add_mounts(options, spec, err);
	if (r == 0)
		r = set_filter(options->seccomp, spec, err);
	return r;
}

/* Made before any box could put something else there, and held from then on. */
static int mount_deps(struct husk_session *session, struct husk_error *err)
{
	CLEANUP_FD int deps = -1;
	int r;

	if (deps_is_covered(&session->spec))
		return error_set(err, HUSK_E_MOUNT_REFUSED, "mounts",
				 "one of them lies at /workspace/.deps, which is to be "
				 "read-only");
	r = deps_open(session->workspace.fd, &deps, err);
	if (r == 0)
		r = deps_mount(session, deps, err);
	session->deps_readonly = r == 0;
	return r;
}

int session_make_spec(const struct husk_options *options, struct husk_session *session,
		      struct husk_error *err)
{
	struct box_spec *spec = &session->spec;
	int r = make_parts(options, true, &session->root, spec, err);

	if (r == 0)
		r = image_root_variables(&session->root, options, &session->settings,
					 err);
	if (r == 0)
		r = source_pin_fd(session->workspace.fd, "workspace", &spec->workspace,
				  err);
	if (r == 0 && !session->workspace.temporary)
		r = mount_check(options, &spec->workspace, err);
	if (r == 0)
		r = give_workspace(session, err);
	if (r == 0 && options->deps_readonly)
		r = mount_deps(session, err);
	return r < 0 ? r : box_spec_prepare(spec, err);
}

int session_check_spec(const struct husk_options *options, struct box_spec *spec,
		       struct husk_error *err)
{
	struct image_root root = IMAGE_ROOT_INIT;
	struct source given = SOURCE_INIT;
	CLEANUP_FREE char *path = NULL;
	int r = make_parts(options, false, &root, spec, err);

	image_root_deinit(&root);
	if (r == 0 && options->workspace)
		r = source_check_new(options->workspace, err);
	if (r < 0 || !options->workspace)
		return r;
	r = workspace_resolve(options->workspace, &path, err);
	if (r == 0 && source_pin(path, "workspace", &given, NULL) == 0)
		r = mount_check(options, &given, err);
	source_deinit(&given);
	return r;
}
