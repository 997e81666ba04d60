/* SPDX-License-Identifier: Apache-2.0 */
/* What the first box would find, for a person. */
#include "cgroup/place.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char *const driver_names[] = {
    [CGROUP_NONE] = "none",
    [CGROUP_V1] = "v1",
    [CGROUP_V2] = "v2",
    [CGROUP_SCOPE] = "scope",
};

static void describe_one(const struct cgroup_place *place,
			 enum cgroup_controller controller,
			 struct cgroup_host_controller *ret)
{
	const struct cgroup_obstacle *missing = &place->missing[controller];
	int group = cgroup_place_group(place, controller);
	struct stat st;

	ret->name = cgroup_controller_name(controller);
	if (group >= 0) {
		ret->enforceable = true;
		ret->owner = fstat(place->groups[group].dir, &st) == 0 ? st.st_uid
								       : CGROUP_NO_OWNER;
		(void)snprintf(ret->path, sizeof(ret->path), "%s",
			       place->groups[group].path);
		return;
	}
	ret->owner = missing->owner;
	(void)snprintf(ret->path, sizeof(ret->path), "%s", missing->path);
	cgroup_obstacle_text(missing, controller, ret->why, sizeof(ret->why));
	cgroup_obstacle_remedy(missing, controller, cgroup_setting_now(place->systemd),
			       ret->remedy, sizeof(ret->remedy));
}

int cgroup_describe(struct cgroup_host *ret)
{
	struct cgroup_place place;
	int r = cgroup_place_find(CGROUP_ALLOW_NOTHING, &place);

	if (r < 0)
		return r;
	*ret = (struct cgroup_host){
	    .driver = place.driver,
	    .driver_name = driver_names[place.driver],
	    .moves_caller = place.must_move,
	};
	describe_one(&place, CGROUP_MEMORY, &ret->memory);
	describe_one(&place, CGROUP_CPU, &ret->cpus);
	describe_one(&place, CGROUP_PIDS, &ret->pids);
	cgroup_place_deinit(&place);
	return 0;
}
