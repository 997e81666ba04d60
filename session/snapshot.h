/* SPDX-License-Identifier: Apache-2.0 */
/* What is in a directory tree at one time: its directories and regular files, with what
 * the kernel says about them. About 60 bytes a file with its name.
 *
 * Links, pipes, sockets, devices and the directory .deps at the top (nothing else of that
 * name) are not in it. Mounts are not crossed. What vanishes while it is being read is
 * left out. */
#ifndef SESSION_SNAPSHOT_H
#define SESSION_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/* The bound on directories and files together, and on the bytes of their names. */
#define SNAPSHOT_ENTRIES_MAX 2000000u
#define SNAPSHOT_NAMES_MAX   (UINT32_C(512) << 20)
#define SNAPSHOT_NONE	     UINT32_MAX

/* What takes longer is cut: a box can leave much to read, on a disk that may be slow, and
 * the call that waits for it is past its deadline. */
#define SNAPSHOT_SECONDS_MAX 30

enum snapshot_dir_state {
	SNAPSHOT_READ = 0,
	SNAPSHOT_GONE = 1, /* vanished before it could be read */
	/* May hold files that are not known: its mode shuts us out, it is a mount, or it
	 * was moved away while it was being read. */
	SNAPSHOT_HIDDEN = 2,
};

/* Both kinds of entry begin with the name, so that one function sorts them. */
struct snapshot_dir {
	uint32_t name;	 /* where in names */
	uint32_t parent; /* the root's is SNAPSHOT_NONE; always less than the own index */
	uint32_t first_dir; /* its directories stand together, sorted by name */
	uint32_t dir_count;
	uint32_t first_file; /* and so do its files */
	uint32_t file_count;
	uint32_t twin;	/* the directory of this path in the older snapshot, or NONE */
	uint32_t state; /* enum snapshot_dir_state */
	uint64_t ino;
	int64_t ctime;
};

struct snapshot_file {
	uint32_t name;
	uint64_t ino;
	uint64_t size;
	int64_t
	    mtime; /* nanoseconds, wrapped where the year is beyond 2262: only compared */
	int64_t ctime;
};

struct snapshot {
	uint32_t refs;
	uint32_t dir_count;
	uint32_t file_count;
	uint32_t max;	/* of both together */
	uint32_t added; /* how many names, all in all */
	int64_t until;	/* when it is cut, by clock_ns */
	bool cut;	/* a bound was reached: there is more */
	int root_errno; /* why the root could not be read (it is HIDDEN then), or 0 */
	int64_t newest; /* the latest ctime of a file */
	int64_t begun;	/* CLOCK_MONOTONIC when it was begun; orders snapshots */
	int64_t clock_offset; /* session/stamp.h */
	struct buffer dirs;   /* of struct snapshot_dir; [0] is the root */
	struct buffer files;  /* of struct snapshot_file */
	struct buffer names;
};

static inline struct snapshot_dir *snapshot_dirs(const struct snapshot *snapshot)
{
	return (struct snapshot_dir *)(void *)snapshot->dirs.data;
}

static inline struct snapshot_file *snapshot_files(const struct snapshot *snapshot)
{
	return (struct snapshot_file *)(void *)snapshot->files.data;
}

static inline const char *snapshot_name(const struct snapshot *snapshot, uint32_t name)
{
	return snapshot->names.data + name;
}

struct snapshot_how {
	/* An earlier snapshot of the same tree, or NULL: fills in the twins. */
	const struct snapshot *old;
	/* A directory whose ctime is as in old has the same names, and is not read again.
	 * Only right where every change gives a ctime of its own (session/stamp.h). */
	bool trust_ctime;
	/* With trust_ctime: also take over what is known of the files in it. So the names
	 * become current, and the rest is as old as old. */
	bool names_only;
	/* Leave out the directory .deps at the top. */
	bool skip_deps;
	/* Use no other thread (session/snapshot_team.h). */
	bool alone;
	/* Directories and files together, at most; 0: SNAPSHOT_ENTRIES_MAX. */
	uint32_t max;
	/* When to stop, by clock_ns; 0: after SNAPSHOT_SECONDS_MAX. */
	int64_t until;
};

/* Take a snapshot of the tree at root, a directory held open in any way. *ret has one
 * reference. Returns 0 or -errno: -ENOMEM, -EMFILE, -ENFILE. */
int snapshot_take(int root, const struct snapshot_how *how, struct snapshot **ret);

/* An empty one, with room for as much as old (or NULL) holds. NULL where there is no
 * memory. */
struct snapshot *snapshot_new(const struct snapshot *old);

/* Add a directory, not read yet, or a file of which all is known but where its name goes.
 * 0, -ENOMEM, or -EFBIG where a bound is reached, which marks it as cut. */
int snapshot_add_dir(struct snapshot *snapshot, uint32_t parent, const char *name,
		     uint32_t twin);
int snapshot_add_file(struct snapshot *snapshot, const char *name,
		      struct snapshot_file *file);
int snapshot_full(struct snapshot *snapshot);

/* Are there directories that may hold files which are not known? */
bool snapshot_hides(const struct snapshot *snapshot);

/* Drop a reference taken by the caller; not thread-safe by itself. Accepts NULL, returns
 * NULL. */
struct snapshot *snapshot_unref(struct snapshot *snapshot);

/* Append the path of dir (and a slash) to path; nothing for the root. 0 or -EFBIG,
 * -ENOMEM. */
int snapshot_add_path(const struct snapshot *snapshot, uint32_t dir, struct buffer *path);

#endif
