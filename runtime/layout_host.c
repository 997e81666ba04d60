/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The `host` root: the host's own programs and libraries, read-only, and an /etc that is
 * made up. Of the host's /etc only what programs need to start is seen, row by row.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mix.h"
#include "runtime/layout.h"

/* Sorted. Where systems keep programs and libraries besides /usr: links into /usr on
 * merged systems, directories elsewhere. */
static const char *const program_dirs[] = {"bin",   "lib",    "lib32",
					   "lib64", "libx32", "sbin"};

/* Sorted by path. A row may stand for all names of /etc that begin like it: "etc/NAME*".
 */
static const struct {
	const char *path;
	const char *reason;
} etc_views[] = {
    {"etc/alternatives", "/usr/bin holds links into it"},
    {"etc/ca-certificates/extracted", "certificates where the system keeps them there"},
    {"etc/fonts", "fontconfig's rules, which plotting needs"},
    {"etc/java-*", "Java does not start without"},
    {"etc/ld.so.cache", "libraries in directories of their own"},
    {"etc/matplotlibrc", "Debian's matplotlib does not start without"},
    {"etc/pki/ca-trust/extracted", "certificates where the system keeps them there"},
    {"etc/pki/tls/certs", "certificates where the system keeps them there"},
    {"etc/protocols", "names of protocols"},
    {"etc/python3*", "Python's site settings"},
    {"etc/services", "names of ports"},
    {"etc/ssl/certs", "certificates"},
    {"etc/ssl/openssl.cnf", "openssl(1) does not start without"},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const uint64_t read_only =
    MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;

/* What is not there, or not for this user, is not shown. Any other failure would make a
 * box that lacks something for no reason that anybody could see. */
static void look_failed(struct host_views *views, int error)
{
	if (error != ENOENT && error != ENOTDIR && error != EACCES && error != EINVAL &&
	    views->error == 0)
		views->error = error;
}

static void add_view(struct host_views *views, const char *path)
{
	struct host_view *view;
	struct stat st;
	char host[VIEW_PATH + 1];

	if (views->view_count == VIEWS_MAX || strlen(path) >= VIEW_PATH)
		return;
	(void)snprintf(host, sizeof(host), "/%s", path);
	if (lstat(host, &st) < 0) {
		look_failed(views, errno);
		return;
	}
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
		return;
	view = &views->views[views->view_count++];
	(void)snprintf(view->path, sizeof(view->path), "%s", path);
	view->directory = S_ISDIR(st.st_mode);
}

static bool is_pattern(const char *path)
{
	return path[strlen(path) - 1] == '*';
}

/* Whether name, of /etc, is one of those that a row stands for. */
static bool matches_row(const char *name)
{
	for (size_t i = 0; i < COUNT(etc_views); i++) {
		const char *begin = etc_views[i].path + strlen("etc/");

		if (is_pattern(begin) && strncmp(name, begin, strlen(begin) - 1) == 0)
			return true;
	}
	return false;
}

static int by_path(const void *a, const void *b)
{
	const struct host_view *first = a, *second = b;

	return strcmp(first->path, second->path);
}

/* All rows that are patterns, in one pass over /etc: reading it takes longer than looking
 * at everything else. */
static void add_matching(struct host_views *views)
{
	DIR *etc = opendir("/etc");
	size_t before = views->view_count;
	const struct dirent *entry = NULL;
	char path[VIEW_PATH];

	if (!etc)
		look_failed(views, errno);
	while (etc && (errno = 0, entry = readdir(etc))) {
		if (!matches_row(entry->d_name))
			continue;
		if (snprintf(path, sizeof(path), "etc/%s", entry->d_name) <
		    (int)sizeof(path))
			add_view(views, path);
	}
	if (etc && errno != 0)
		look_failed(views, errno);
	if (etc)
		(void)closedir(etc);
	/* A directory has no order of its own. */
	qsort(views->views + before, views->view_count - before, sizeof(views->views[0]),
	      by_path);
}

/* The links of a merged /usr, as they are here; only those that stay inside. */
static void add_link(struct host_views *views, const char *name)
{
	struct host_link *link = &views->links[views->link_count];
	char host[16];
	ssize_t n;

	(void)snprintf(host, sizeof(host), "/%s", name);
	n = readlink(host, link->target, sizeof(link->target) - 1);
	if (n < 0)
		look_failed(views, errno);
	if (n <= 0)
		return;
	link->target[n] = '\0';
	if (strncmp(link->target, "usr/", 4) != 0 &&
	    strncmp(link->target, "/usr/", 5) != 0)
		return;
	link->name = name;
	views->link_count++;
}

int host_views_new(struct host_views **ret, struct husk_error *err)
{
	struct host_views *views = calloc(1, sizeof(*views));
	int error;

	if (!views)
		return error_oom(err, "session");
	add_view(views, "usr");
	for (size_t i = 0; i < COUNT(program_dirs); i++) {
		add_view(views, program_dirs[i]);
		add_link(views, program_dirs[i]);
	}
	for (size_t i = 0; i < COUNT(etc_views); i++) {
		if (!is_pattern(etc_views[i].path))
			add_view(views, etc_views[i].path);
	}
	add_matching(views);
	layout_find_rows(views);
	error = views->error;
	if (error != 0) {
		free(views);
		return error == ENOMEM
			   ? error_oom(err, "session")
			   : error_sys(err, error, "host",
				       "cannot look at its programs and libraries");
	}
	*ret = views;
	return 0;
}

/* Replacing a file changes the directory that it is in: most lie in the same one. */
uint64_t host_views_stamp(const struct host_views *views)
{
	char path[VIEW_PATH + 1], last[VIEW_PATH + 1] = "";
	uint64_t hash = 0;

	for (size_t i = 0; i < views->view_count; i++) {
		struct stat st;

		if (views->views[i].directory)
			continue;
		(void)snprintf(path, sizeof(path), "/%s", views->views[i].path);
		*strrchr(path, '/') = '\0';
		if (strcmp(path, last) == 0 || stat(path, &st) < 0)
			continue;
		(void)memcpy(last, path, sizeof(last));
		mix(&hash, st.st_ino);
		mix(&hash, (uint64_t)st.st_ctim.tv_sec);
		mix(&hash, (uint64_t)st.st_ctim.tv_nsec);
	}
	return hash;
}

/* A writable /usr: an overlay whose upper layer owns the directories that people install
 * into, since those of the host belong to an id that the box does not have. */
static void overlay_usr(struct plan *plan)
{
	static const char *const owned[] = {
	    "upper",	   "upper/bin",	      "upper/include",	 "upper/lib",
	    "upper/local", "upper/local/bin", "upper/local/lib", "upper/local/share",
	    "upper/sbin",  "upper/share",
	};

	for (size_t i = 0; i < COUNT(owned); i++)
		plan_dir(plan, owned[i], 0755);
	plan_dir(plan, "work", 0755);
	plan_dir(plan, "image", 0755);
	plan_bind(plan, "/usr", "image", read_only, STEP_MOUNT_TREE);
	plan_overlay(plan, "root/usr",
		     "lowerdir=image,upperdir=upper,workdir=work,userxattr");
}

/* Everything that lies on the carrier itself is made before the new root is entered: from
 * then on it is a mount of its own. */
void layout_host_root(struct layout *layout)
{
	struct plan *plan = layout->plan;

	plan_bind(plan, "root", "root", 0, STEP_NEW_ROOT);
	if (layout->spec->writable_root) {
		plan_dir(plan, "root/usr", 0755);
		overlay_usr(plan);
	}
	plan_enter(plan, "root");
	plan_dir(plan, "dev", 0755);
	plan_dir(plan, "proc", 0555);
	plan_dir(plan, "tmp", 01777);
	plan_dir(plan, "workspace", 0755);
	layout_sys_dirs(plan, "");
}

static void own_directories(struct plan *plan)
{
	/* Sorted. */
	static const char *const dirs[] = {"etc", "home", "root",
					   "run", "var",  "var/lib"};

	for (size_t i = 0; i < COUNT(dirs); i++)
		plan_dir(plan, dirs[i], 0755);
}

/* After everything else: nothing that is made may pass through a link, which would still
 * lead to the host. Where a mount target took a link's place, the link is not needed. */
static void own_links(struct plan *plan, const struct host_views *views)
{
	for (size_t i = 0; i < views->link_count; i++)
		plan_symlink(plan, views->links[i].name, views->links[i].target);
	plan_symlink(plan, "var/run", "../run");
	plan_symlink(plan, "var/tmp", "../tmp");
	plan_symlink(plan, "etc/mtab", "../proc/self/mounts");
	plan_symlink(plan, "etc/os-release", "../usr/lib/os-release");
}

static void user_targets(struct layout *layout)
{
	const struct box_spec *spec = layout->spec;

	for (size_t i = 0; i < spec->mount_count; i++) {
		const char *target = spec->mounts[i].target;

		/* Below the workspace or the host's programs a mount point must be there
		 * already; everything else lies on the carrier and is ours to make. */
		if (strncmp(target, "workspace/", 10) == 0 ||
		    strncmp(target, "usr/", 4) == 0)
			continue;
		plan_dirs(layout->plan, target, spec->mounts[i].source.directory);
		if (!spec->mounts[i].source.directory)
			plan_node(layout->plan, target, 0644);
	}
}

/* Where everything becomes read-only at once afterwards, nothing more is to be said here.
 */
static void view_mounts(struct layout *layout)
{
	const struct host_views *views = layout->spec->views;
	bool writable = layout->spec->writable_root;
	char host[VIEW_PATH + 1];

	for (size_t i = 0; i < views->view_count; i++) {
		if (i == 0 && writable)
			continue;
		(void)snprintf(host, sizeof(host), "/%s", views->views[i].path);
		plan_bind(layout->plan, host, views->views[i].path,
			  writable ? read_only : 0, STEP_MOUNT_TREE);
	}
}

void layout_host_fill(struct layout *layout)
{
	const struct host_views *views = layout->spec->views;
	struct plan *plan = layout->plan;

	own_directories(plan);
	for (size_t i = 0; i < views->view_count; i++) {
		const struct host_view *view = &views->views[i];

		if (i == 0 && layout->spec->writable_root)
			continue; /* /usr is the overlay's */
		plan_dirs(plan, view->path, view->directory);
		if (!view->directory)
			plan_node(plan, view->path, 0644);
	}
	layout_etc(layout, "", true);
	user_targets(layout);
	own_links(plan, views);
	view_mounts(layout);
}
