/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding the process's place, once, and sharing it.
 *
 * The lock is held while a place is being found, since everybody who asks needs the
 * answer; otherwise for a few instructions. After fork the child makes the lock anew: the
 * thread that may have held it does not exist there. The place itself remains right in
 * the child, which starts in its parent's groups, with its own copies of the descriptors.
 * (What a fork in the midst of a search leaves in the child is at most an unused
 * descriptor.)
 */
#include "cgroup/place.h"
#include "cgroup/scope.h"
#include "cgroup/sweep.h"
#include "cgroup/v2_spot.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How long the answer "nothing usable" is believed: a failure should not be slow to
 * repeat, and an administrator who has applied the remedy should not have to restart
 * anything. */
enum { NOTHING_LASTS_S = 1 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static struct cgroup_place *current;

void cgroup_place_blocked(struct cgroup_place *place,
			  const struct cgroup_obstacle *obstacle)
{
	for (int i = 0; i < CGROUP_CAPS; i++)
		place->missing[i] = *obstacle;
}

unsigned cgroup_place_controllers(const struct cgroup_place *place)
{
	unsigned all = 0;

	for (size_t i = 0; i < place->count; i++)
		all |= place->groups[i].controllers;
	return all;
}

int cgroup_place_group(const struct cgroup_place *place,
		       enum cgroup_controller controller)
{
	for (size_t i = 0; i < place->count; i++)
		if (place->groups[i].controllers & CGROUP_BIT(controller))
			return (int)i;
	return -1;
}

/* Is v2 the place to look for caps at all? On many hosts it is mounted with nothing in
 * it. */
static bool unified_matters(const struct cgroup_hierarchy *hierarchy)
{
	CLEANUP_FD int root = cgroup_open_group(hierarchy, "");
	CLEANUP_FD int own = cgroup_open_group(hierarchy, hierarchy->own);

	return (root >= 0 && cgroup_spot_controllers(root, "cgroup.controllers")) ||
	       (own >= 0 && cgroup_spot_controllers(own, "cgroup.controllers"));
}

/* Would a scope help against what stands in the way? */
static bool scope_helps(const struct cgroup_view *view, const struct cgroup_place *place)
{
	enum cgroup_why why = place->missing[CGROUP_MEMORY].why;

	return view->systemd && (why == CGROUP_NOT_DELEGATED || why == CGROUP_NOT_OURS ||
				 why == CGROUP_BUSY);
}

/* What a scope would be given, without asking for one. */
static void foresee_scope(const struct cgroup_view *view, struct cgroup_place *place)
{
	const struct cgroup_hierarchy *hierarchy = cgroup_view_unified(view);
	struct cgroup_group *group = &place->groups[0];
	char parent[128];
	unsigned offered;
	CLEANUP_FD int root = cgroup_open_group(hierarchy, ""), dir = -1;

	cgroup_scope_parent(parent, sizeof(parent));
	dir = cgroup_open_group(hierarchy, parent);
	if (dir < 0 || root < 0)
		return;
	cgroup_show_path(hierarchy, parent, NULL, group->path, sizeof(group->path));
	offered = cgroup_spot_controllers(root, "cgroup.controllers");
	group->controllers = cgroup_spot_controllers(dir, "cgroup.controllers");
	for (int i = 0; i < CGROUP_CAPS; i++)
		cgroup_obstacle_at(&place->missing[i],
				   group->controllers & CGROUP_BIT(i) ? CGROUP_CLEAR
				   : offered & CGROUP_BIT(i) ? CGROUP_NOT_PASSED_DOWN
							     : CGROUP_NO_CONTROLLER,
				   0, dir, NULL, group->path);
	group->dir = fd_take(&dir);
	place->count = 1;
	place->driver = CGROUP_SCOPE;
}

static int find_scope(const struct cgroup_view *view, enum cgroup_allow allow,
		      struct cgroup_place *place)
{
	CLEANUP_CGROUP_VIEW struct cgroup_view inside = {0};
	struct cgroup_obstacle why;
	int r;

	if (allow == CGROUP_ALLOW_ENABLE) {
		place->must_move = true;
		return 0;
	}
	if (allow == CGROUP_ALLOW_NOTHING ? !cgroup_scope_reachable(view, &why)
					  : !cgroup_scope_enter(view, &why)) {
		cgroup_place_blocked(place, &why);
		return 0;
	}
	if (allow == CGROUP_ALLOW_NOTHING) {
		place->must_move = true;
		foresee_scope(view, place);
		return 0;
	}
	r = cgroup_view_read(&inside);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	if (!cgroup_view_unified(&inside))
		return 0;
	r = cgroup_v2_find(&inside, allow, place);
	if (place->count)
		place->driver = CGROUP_SCOPE;
	return r;
}

/* v2 where it has controllers, directly or through systemd; else v1. The obstacles that
 * are reported are those of the first of the two that is there. */
static int find_in(const struct cgroup_view *view, enum cgroup_allow allow,
		   struct cgroup_place *place)
{
	const struct cgroup_hierarchy *unified = cgroup_view_unified(view);
	struct cgroup_place first;
	int r = 0;

	if (!unified && view->unified_mounted && !(view->mounted & CGROUP_CAP_BITS)) {
		struct cgroup_obstacle why;

		cgroup_obstacle_at(&why, CGROUP_OUTSIDE, 0, -1, NULL, "");
		cgroup_place_blocked(place, &why);
		return 0;
	}
	/* A controller that v1 has is not in v2. */
	if (!unified || (view->mounted & CGROUP_CAP_BITS) == CGROUP_CAP_BITS ||
	    !unified_matters(unified))
		return cgroup_v1_find(view, place);
	r = cgroup_v2_find(view, allow, place);
	if (r == 0 && !place->count && !place->must_move && scope_helps(view, place))
		r = find_scope(view, allow, place);
	if (r < 0 || place->count || place->must_move)
		return r;
	first = *place;
	r = cgroup_v1_find(view, place);
	if (r == 0 && !place->count)
		*place = first;
	return r;
}

int cgroup_place_find(enum cgroup_allow allow, struct cgroup_place *ret)
{
	CLEANUP_CGROUP_VIEW struct cgroup_view view = {0};
	int r;

	*ret = (struct cgroup_place){.leaf.fd = -1};
	for (int i = 0; i < CGROUP_GROUPS; i++)
		ret->groups[i].dir = -1;
	r = cgroup_view_read(&view);
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		struct cgroup_obstacle why;

		cgroup_obstacle_at(&why, CGROUP_REFUSED, -r, -1, NULL,
				   "/proc/self/cgroup");
		cgroup_place_blocked(ret, &why);
		return 0;
	}
	ret->systemd = view.systemd;
	r = find_in(&view, allow, ret);
	if (r < 0)
		cgroup_place_deinit(ret);
	return r;
}

void cgroup_place_deinit(struct cgroup_place *place)
{
	cgroup_v2_leave(place);
	for (size_t i = 0; i < place->count; i++)
		fd_close(&place->groups[i].dir);
	fd_close(&place->leaf.fd);
	place->count = 0;
}

static void put_locked(struct cgroup_place *place)
{
	if (--place->refs == 0) {
		cgroup_place_deinit(place);
		free(place);
	}
}

static void drop_current(void)
{
	struct cgroup_place *place = current;

	current = NULL;
	if (place)
		put_locked(place);
}

/* Is the answer that we have still worth something to somebody who may do this much? */
static bool still_good(const struct cgroup_place *place, enum cgroup_allow allow)
{
	struct timespec now;
	bool whole = place->count > 0;

	/* What could not be looked at for want of descriptors may be there. */
	for (int i = 0; i < CGROUP_CAPS; i++)
		whole = whole && place->missing[i].why != CGROUP_SHORTAGE;
	if (whole)
		return true;
	if (place->must_move && allow == CGROUP_ALLOW_MOVE)
		return false;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec - place->found_at.tv_sec <= NOTHING_LASTS_S;
}

static struct cgroup_place *find_shared(enum cgroup_allow allow)
{
	struct cgroup_place *place = calloc(1, sizeof(*place));

	if (!place)
		return NULL;
	if (cgroup_place_find(allow, place) < 0) {
		free(place);
		return NULL;
	}
	clock_gettime(CLOCK_MONOTONIC, &place->found_at);
	place->refs = 1;
	place->sweep_due = true;
	return place;
}

static void lock_anew(void)
{
	lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

static void watch_forks(void)
{
	(void)pthread_atfork(NULL, NULL, lock_anew);
}

struct cgroup_place *cgroup_place_get(enum cgroup_allow allow)
{
	struct cgroup_place *place;

	pthread_once(&fork_once, watch_forks);
	pthread_mutex_lock(&lock);
	if (current && !still_good(current, allow))
		drop_current();
	if (!current)
		current = find_shared(allow);
	place = current;
	if (place)
		place->refs++;
	pthread_mutex_unlock(&lock);
	return place;
}

/* What v1 has mounted anywhere is not in v2, so that where it has all that caps are for,
 * no place on v2 is taken. */
static bool v1_has_all(void)
{
	CLEANUP_CGROUP_OWN struct cgroup_own own = {0};
	char text[4096];

	if (fd_read_text(-1, "/proc/self/cgroup", text, sizeof(text)) < 0 ||
	    cgroup_own_parse(text, &own) < 0)
		return false;
	for (int i = 0; i < CGROUP_CAPS; i++)
		if (!own.v1[i])
			return false;
	return true;
}

bool cgroup_joins_late(void)
{
	bool known, is_v1;

	pthread_once(&fork_once, watch_forks);
	pthread_mutex_lock(&lock);
	known = current && current->count;
	is_v1 = known && current->driver == CGROUP_V1;
	pthread_mutex_unlock(&lock);
	return known ? is_v1 : v1_has_all();
}

void cgroup_sweep_due(void)
{
	struct cgroup_place *place = NULL;

	pthread_mutex_lock(&lock);
	if (current && current->sweep_due) {
		place = current;
		place->sweep_due = false;
		place->refs++;
	}
	pthread_mutex_unlock(&lock);
	if (place)
		cgroup_sweep_place(place);
	cgroup_place_put(place);
}

void cgroup_place_put(struct cgroup_place *place)
{
	if (!place)
		return;
	pthread_mutex_lock(&lock);
	put_locked(place);
	pthread_mutex_unlock(&lock);
}

void cgroup_place_lost(struct cgroup_place *place)
{
	pthread_mutex_lock(&lock);
	if (current == place)
		drop_current();
	pthread_mutex_unlock(&lock);
}

/* When the library is unloaded, or the process ends. Boxes that live hold their own
 * reference. A thread that is in the midst of a search may be the one that ends the
 * process, in a signal handler: never wait for it. */
__attribute__((destructor)) static void forget(void)
{
	if (pthread_mutex_trylock(&lock) != 0)
		return;
	drop_current();
	pthread_mutex_unlock(&lock);
}
