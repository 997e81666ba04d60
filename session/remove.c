/* SPDX-License-Identifier: Apache-2.0 */
/* The walk stands in one directory. All entries that go at once go at once; the names of
 * directories that hold something are put on a stack, at most PENDING_MAX for a level,
 * and gone into one by one. Then the directory is read again, as long as that makes
 * progress: there may have been more of them, or somebody added entries. */
#include "session/remove.h"

#include "base/memory.h"
#include "base/printable.h"
#include "session/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	PENDING_MAX = 4096,
	PASSES_MAX = 100000, /* over one directory */
};

/* A level of the walk: what is left to do in it. */
struct level {
	size_t pending;	  /* where its names begin in remover.names */
	uint64_t removed; /* remover.report->removed when the last pass began */
	uint64_t failed;  /* remover.report->failed when it was entered */
	uint32_t passes;
	bool again; /* the last pass has left something for another one */
};

struct remover {
	struct walk walk;
	struct buffer names;  /* a stack of names, each with a NUL before and after it */
	struct buffer levels; /* of struct level, one for each of the walk's */
	struct remove_report *report;
};

static struct level *top(struct remover *r)
{
	return (struct level *)(void *)(r->levels.data + r->levels.size) - 1;
}

/* Note a failure that stays one when the directory is read again. */
static void failed(struct remover *r, const char *name, int sys_errno)
{
	struct remove_report *report = r->report;

	report->failed++;
	if (report->sys_errno)
		return;
	report->sys_errno = sys_errno;
	(void)printable(report->first, sizeof(report->first), name);
}

static int push_name(struct remover *r, const char *name)
{
	return buffer_add(&r->names, name, strlen(name) + 1);
}

/* Take one entry away, or put it on the stack. Returns 1 if it was pushed. */
static int remove_entry(struct remover *r, const struct walk_entry *entry)
{
	bool is_dir = entry->type == DT_DIR;
	int fd = walk_fd(&r->walk), result;

	if (!is_dir) {
		if (unlinkat(fd, entry->name, 0) == 0)
			r->report->removed++;
		else if (errno == EISDIR)
			is_dir = true;
		else if (errno != ENOENT)
			failed(r, entry->name, errno);
	}
	if (!is_dir)
		return 0;
	if (unlinkat(fd, entry->name, AT_REMOVEDIR) == 0) {
		r->report->removed++;
		return 0;
	}
	if (errno == ENOENT)
		return 0;
	if (errno != ENOTEMPTY && errno != EEXIST && errno != EACCES) {
		failed(r, entry->name, errno);
		return 0;
	}
	result = push_name(r, entry->name);
	return result < 0 ? result : 1;
}

/* Read the directory where the walk stands once, removing what goes. */
static int pass(struct remover *r)
{
	struct level *level = top(r);
	struct walk_entry entry;
	int result, pushed = 0;

	level->again = false;
	level->removed = r->report->removed;
	level->passes++;
	walk_rewind(&r->walk);
	while ((result = walk_next(&r->walk, &entry)) > 0) {
		if (pushed == PENDING_MAX) {
			level->again = true;
			return 0;
		}
		result = remove_entry(r, &entry);
		if (result < 0)
			return result;
		pushed += result;
	}
	if (result < 0 && walk_error_is_local(result)) {
		failed(r, r->walk.names.data + r->walk.levels[r->walk.depth].name,
		       -result);
		return 0;
	}
	return result;
}

static int push_level(struct remover *r)
{
	struct level level = {.pending = r->names.size, .failed = r->report->failed};
	int result = buffer_add(&r->levels, &level, sizeof(level));

	return result < 0 ? result : pass(r);
}

/* The name on top of the stack of this level, or NULL. */
static const char *top_name(struct remover *r)
{
	size_t at = r->names.size;

	if (at == top(r)->pending)
		return NULL;
	for (at--; at > 0 && r->names.data[at - 1] != '\0';)
		at--;
	return r->names.data + at;
}

/* Go into the directory whose name is on top of the stack. */
static int descend(struct remover *r, const char *name)
{
	struct stat st;
	int result = walk_enter(&r->walk, name, &st);

	if (result == 0)
		return push_level(r);
	if (!walk_error_is_local(result))
		return result;
	if (result == -ENOTDIR || result == -ELOOP) /* something else by now */
		top(r)->again = true;
	else if (result != -ENOENT)
		failed(r, name, result == -EXDEV ? EBUSY : -result);
	r->names.size = (size_t)(name - r->names.data);
	return 0;
}

/* Go up from a directory that is done, and remove it. */
static int ascend(struct remover *r)
{
	const bool is_clean = r->report->failed == top(r)->failed;
	int lost = walk_leave(&r->walk);
	const char *name;

	if (lost < 0)
		return lost;
	for (int i = 0; i <= lost; i++) {
		r->names.size = top(r)->pending;
		r->levels.size -= sizeof(struct level);
	}
	name = top_name(r);
	if (!name)
		return 0;
	if (lost > 0)
		top(r)->again = true; /* moved away: look what is there now */
	else if (unlinkat(walk_fd(&r->walk), name, AT_REMOVEDIR) == 0)
		r->report->removed++;
	else if (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR)
		/* Once more, unless what is left in it is known to stay. */
		top(r)->again |= is_clean;
	else if (errno != ENOENT)
		failed(r, name, errno);
	r->names.size = (size_t)(name - r->names.data);
	return 0;
}

/* Whether the directory, with nothing pending, is worth another pass. */
static bool wants_pass(struct remover *r)
{
	struct level *level = top(r);

	return level->again && level->passes < PASSES_MAX &&
	       r->report->removed > level->removed;
}

static int remove_all(struct remover *r)
{
	int result = push_level(r);

	while (result == 0) {
		const char *name = top_name(r);

		if (name)
			result = descend(r, name);
		else if (wants_pass(r))
			result = pass(r);
		else if (r->walk.depth > 0)
			result = ascend(r);
		else
			break;
	}
	return result;
}

/* What was not counted as a failure may be there all the same, because somebody adds
 * entries faster than they go. */
static void check_empty(struct remover *r)
{
	struct walk_entry entry;

	walk_rewind(&r->walk);
	if (r->report->failed == 0 && walk_next(&r->walk, &entry) > 0)
		failed(r, entry.name, ENOTEMPTY);
}

int remove_tree(int root, struct remove_report *report)
{
	struct remover r = {
	    .walk = WALK_INIT,
	    .names = BUFFER_INIT(SIZE_MAX / 2),
	    .levels = BUFFER_INIT(SIZE_MAX / 2),
	    .report = report,
	};
	int result;

	*report = (struct remove_report){.removed = 0};
	result = walk_init(&r.walk, root, true);
	if (result == 0)
		result = buffer_add(&r.names, "", 1);
	if (result == 0)
		result = remove_all(&r);
	if (result == 0)
		check_empty(&r);
	walk_deinit(&r.walk);
	buffer_deinit(&r.names);
	buffer_deinit(&r.levels);
	if (result < 0 && !report->sys_errno) {
		report->failed++;
		report->sys_errno = -result;
	}
	return report->sys_errno ? -report->sys_errno : 0;
}
