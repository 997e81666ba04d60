/* SPDX-License-Identifier: Apache-2.0 */
/* What is made once for a session and held while it lives. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "runtime/box.h"
#include "runtime/init_image.h"
#include "runtime/layout.h"
#include "runtime/probe.h"
#include "runtime/template.h"

/* A target below a link of the root file system is mounted where the link leads inside
 * that root: /lib/x at /usr/lib/x. On the host's own root only its program directories
 * count. */
static int resolve_target(const struct box_spec *spec, int root, struct box_mount *mount,
			  struct husk_error *err)
{
	static const char *const programs[] = {"bin/",	 "lib/",    "lib32/",
					       "lib64/", "libx32/", "sbin/"};
	bool host = spec->root == BOX_ROOT_HOST, wanted = !host;
	char resolved[4096], *copy;
	int r;

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		if (strncmp(mount->target, programs[i], strlen(programs[i])) == 0)
			wanted = true;
	}
	if (!wanted || strncmp(mount->target, "workspace/", 10) == 0)
		return 0;
	r = path_resolve_in_root(root, mount->target, resolved, sizeof(resolved));
	if (r < 0)
		return error_sys(err, -r, mount->target,
				 "cannot resolve the mount target");
	copy = NULL;
	r = asprintf(&copy, "/%s", resolved);
	if (r < 0)
		return error_oom(err, "mount target");
	free(mount->target);
	mount->target = NULL;
	r = source_check_target(copy, &mount->target, err);
	free(copy);
	return r;
}

static int resolve_targets(struct box_spec *spec, struct husk_error *err)
{
	CLEANUP_FD int root = -1;
	int r = 0;

	if (spec->mount_count == 0 || (spec->root == BOX_ROOT_DIR && spec->image.fd < 0))
		return 0;
	if (spec->root == BOX_ROOT_DIR)
		root = fcntl(spec->image.fd, F_DUPFD_CLOEXEC, 3);
	else
		root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return error_sys(err, errno, "mounts", "cannot open the root");
	for (size_t i = 0; r == 0 && i < spec->mount_count; i++)
		r = resolve_target(spec, root, &spec->mounts[i], err);
	return r;
}

int box_spec_mapping(const struct box_spec *spec, const struct source *source)
{
	for (size_t i = 0; i < spec->mapping_count; i++) {
		if (spec->mappings[i].uid == source->uid &&
		    spec->mappings[i].gid == source->gid)
			return spec->mappings[i].fd;
	}
	return -1;
}

/* One namespace for each owner among the sources. */
static int map_owner(struct box_spec *spec, const struct source *source,
		     struct husk_error *err)
{
	struct box_mapping *mapping = &spec->mappings[spec->mapping_count];
	struct probe_facts facts;
	const char *hint;

	if (box_spec_mapping(spec, source) >= 0)
		return 0;
	mapping->uid = source->uid;
	mapping->gid = source->gid;
	mapping->fd = ids_mount_namespace(&spec->ids, source->uid, source->gid);
	if (mapping->fd < 0) {
		error_sys(err, -mapping->fd, "id-mapped mounts",
			  "cannot make a user namespace for the owner of %.200s",
			  source->path);
		probe_facts_read(&facts);
		hint = probe_remedy(&facts, STEP_CLONE, -mapping->fd);
		error_hint(err, "%s", hint ? hint : "run husk as an ordinary user");
		return HUSK_E_SYSTEM;
	}
	spec->mapping_count++;
	return 0;
}

static int map_owners(struct box_spec *spec, struct husk_error *err)
{
	int r = 0;

	if (!spec->ids.foreign)
		return 0;
	spec->mappings = calloc(spec->mount_count + 2, sizeof(*spec->mappings));
	if (!spec->mappings)
		return error_oom(err, "id-mapped mounts");
	if (spec->root == BOX_ROOT_DIR && spec->image.fd >= 0)
		r = map_owner(spec, &spec->image, err);
	if (r == 0 && spec->workspace_idmapped)
		r = map_owner(spec, &spec->workspace, err);
	for (size_t i = 0; r == 0 && i < spec->mount_count; i++) {
		if (!spec->mounts[i].plain)
			r = map_owner(spec, &spec->mounts[i].source, err);
	}
	return r;
}

static bool is_oom_protected(void)
{
	char text[32];

	return fd_read_text(AT_FDCWD, "/proc/self/oom_score_adj", text, sizeof(text)) >
		   0 &&
	       text[0] == '-';
}

int box_spec_prepare(struct box_spec *spec, struct husk_error *err)
{
	int r;

	spec->init_fd = spec->caller_fd = spec->proc_fd = -1;
	r = resolve_targets(spec, err);
	if (r == 0)
		r = init_image_open(&spec->init_fd, err);
	if (r == 0)
		r = host_views_new(&spec->views, err);
	if (r < 0)
		return r;
	spec->template = template_new();
	if (!spec->template)
		return error_oom(err, "session");
	spec->proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (spec->proc_fd < 0) {
		error_sys(err, errno, "/proc", "cannot open it");
		error_hint(err, "mount a proc file system there");
		return HUSK_E_SYSTEM;
	}
	spec->landlock = landlock_here();
	spec->oom_protected = is_oom_protected();
	spec->caller_pid = getpid();
	spec->caller_fd = (int)syscall(SYS_pidfd_open, spec->caller_pid, 0);
	if (spec->caller_fd < 0) {
		error_sys(err, errno, "pidfd", "cannot watch the calling process");
		error_hint(err, "husk needs Linux 5.12 or later");
		return HUSK_E_SYSTEM;
	}
	return map_owners(spec, err);
}

void box_spec_deinit(struct box_spec *spec)
{
	fd_close(&spec->init_fd);
	fd_close(&spec->caller_fd);
	fd_close(&spec->proc_fd);
	template_free(spec->template);
	spec->template = NULL;
	for (size_t i = 0; i < spec->mapping_count; i++)
		fd_close(&spec->mappings[i].fd);
	free(spec->mappings);
	spec->mappings = NULL;
	spec->mapping_count = 0;
	source_deinit(&spec->image);
	source_deinit(&spec->workspace);
	for (size_t i = 0; i < spec->mount_count; i++) {
		source_deinit(&spec->mounts[i].source);
		free(spec->mounts[i].target);
	}
	free(spec->mounts);
	free(spec->views);
	spec->views = NULL;
	spec->mounts = NULL;
	spec->mount_count = 0;
	seccomp_program_deinit(&spec->filter);
	seccomp_program_deinit(&spec->plain);
}
