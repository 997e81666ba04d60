/* SPDX-License-Identifier: Apache-2.0 */
/* Rows about images: the libraries that they need, and the store. A box on the host's own
 * programs needs none of it: what is missing is never more than weaker. */
#include "session/host.h"

#include <linux/magic.h>
#include <stdio.h>
#include <string.h>

#include "base/printable.h"

enum { MIB = 1 << 20, SHOWN_PATH = 200 };

/* Below these, an image of ordinary size may not fit. */
static const uint64_t few_bytes = 1024ULL * MIB;
static const uint64_t few_files = 50000;

#ifndef EXFAT_SUPER_MAGIC
#define EXFAT_SUPER_MAGIC 0x2011bab0
#endif

/* Filled by each library's number. with: what it is for; without: what is lost. */
static const struct {
	const char *with, *without;
} libraries[HEALTH_LIBRARIES] = {
    [HEALTH_CURL] = {"registries: husk pull", "husk pull cannot fetch"},
    [HEALTH_SSL] = {"names in certificates of registries",
		    "registries with TLS cannot be reached"},
    [HEALTH_ARCHIVE] = {"layers of images", "images can be neither pulled nor imported"},
    [HEALTH_ZLIB] = {"gzip layers, where libisal is missing",
		     "without libisal too, gzip layers cannot be unpacked"},
    [HEALTH_ISAL] = {"gzip layers, fast", "zlib unpacks gzip layers, slower"},
    [HEALTH_ZSTD] = {"zstd layers", "images with zstd layers cannot be unpacked"},
    [HEALTH_CRYPTO] = {"digests, fast, and those of SHA-512",
		       "SHA-256 is computed without it, slower; SHA-512 cannot be"},
};

void host_gather_libraries(struct host_library ret[HEALTH_LIBRARIES])
{
	for (int i = 0; i < HEALTH_LIBRARIES; i++) {
		struct host_library *one = &ret[i];
		struct husk_error err = {0};

		*one = (struct host_library){0};
		one->found = health_library((enum health_library)i, &err) == 0;
		if (one->found)
			continue;
		(void)snprintf(one->why, sizeof(one->why), "%s %s", err.where,
			       err.message);
		(void)snprintf(one->remedy, sizeof(one->remedy), "%s", err.hint);
	}
}

void host_judge_library(const struct host_view *view, int which, struct host_row *row)
{
	const struct host_library *one = &view->libraries[which];

	if (one->found) {
		host_find(row, HUSK_PROBE_OK, "found; for %s", libraries[which].with);
		return;
	}
	host_find(row, HUSK_PROBE_WEAKER, "%s: %s", one->why, libraries[which].without);
	host_advise(row, one->remedy);
}

/* -- the store -- */

int host_gather_store(const char *path, const struct probe_answers *answers,
		      struct host_store *ret, struct husk_error *err)
{
	uint64_t type;

	*ret = (struct host_store){0};
	health_store(path, &ret->at);
	if (!ret->at.has_fs)
		return 0;
	return probe_idmap(answers, ret->at.base, &ret->idmap, &type, err);
}

static bool has_no_links(uint64_t fs_type)
{
	return fs_type == MSDOS_SUPER_MAGIC || fs_type == EXFAT_SUPER_MAGIC;
}

/* What is wrong with its place, the worst first; NULL where nothing is. */
static const char *place_problem(const struct host_store *store, const char **ret_remedy)
{
	const struct health_store *at = &store->at;

	*ret_remedy = "name a store on another file system: HUSK_STORE=DIR";
	if (has_no_links(at->fs_type))
		return "its file system has no links, so no image can be unpacked there";
	if (at->noexec)
		return "it is mounted noexec, so no program of an image can be executed";
	if (store->idmap.state == PROBE_FAILS) {
		*ret_remedy = "name a store on ext4, xfs, btrfs (Linux 5.15) or tmpfs "
			      "(Linux 6.3): HUSK_STORE=DIR; or run husk as an ordinary "
			      "user";
		return "no id-mapped mount can be made of it, and root's boxes need one "
		       "to run its images";
	}
	if (at->read_only)
		return "it is mounted read-only, so no image can be added";
	if (!at->writable) {
		*ret_remedy = "name a store that this user may write to: HUSK_STORE=DIR";
		return at->there ? "this user may not add images to it"
				 : "this user cannot make it";
	}
	*ret_remedy = "make room (husk image prune), or name a store on another file "
		      "system: HUSK_STORE=DIR";
	if (at->free_bytes < few_bytes)
		return "an image of ordinary size may not fit";
	if (at->free_files < few_files)
		return "its file system is short of inodes";
	return NULL;
}

void host_judge_store(const struct host_view *view, int which, struct host_row *row)
{
	const struct host_store *store = &view->store;
	const struct health_store *at = &store->at;
	const char *problem, *remedy;
	char path[SHOWN_PATH], fs[96];

	(void)which;
	(void)printable(path, sizeof(path), at->path);
	if (at->problem.code != 0) {
		host_find(row, HUSK_PROBE_WEAKER, "%s: %s", at->problem.where,
			  at->problem.message);
		host_advise(row, at->problem.hint[0]
				     ? at->problem.hint
				     : "name another store: HUSK_STORE=DIR");
		return;
	}
	(void)snprintf(fs, sizeof(fs), "%s, %llu MiB free", host_file_system(at->fs_type),
		       (unsigned long long)(at->free_bytes / MIB));
	problem = at->has_fs ? place_problem(store, &remedy) : NULL;
	host_find(row, problem ? HUSK_PROBE_WEAKER : HUSK_PROBE_OK,
		  "%s (%s, %s of user %u)%s%s", path, fs,
		  at->there ? "there," : "not there yet, to be made in a directory",
		  (unsigned)at->owner, problem ? ": " : "", problem ? problem : "");
	if (problem)
		host_advise(row, remedy);
}
